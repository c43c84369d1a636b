// SPDX-License-Identifier: Apache-2.0
// The VC allocator: iSLIP with one iteration. Every free output VC grants one of the input VCs that want it, every
// input VC accepts one of its grants; both go round, and the pointers move on behind an accepted grant only. With
// oldest_first an output VC grants the oldest packet, and the pointer decides between those of one cycle.

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

void FlitNetwork::allocate_vcs(unsigned router) {
    Router& state = routers_[router];
    const std::uint32_t base = router * stride_;
    const std::uint64_t asking = state.vc_alloc;
    std::uint64_t requested = 0;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned vc = take_first(mask);
        const std::uint64_t wanted =
            (state.copying >> vc & 1) != 0 ? wanted_by_branches(router, vc) : wanted_[base + vc];
        for (std::uint64_t outputs = wanted & state.free_vcs; outputs != 0;) {
            const unsigned output = take_first(outputs);
            requests_[output] |= bit(vc);
            requested |= bit(output);
        }
    }
    std::uint64_t granted = 0;
    while (requested != 0) {
        const unsigned output = take_first(requested);
        const std::uint64_t requests = requests_[output];
        const unsigned pointer = grant_pointer_[base + output];
        const unsigned vc = config_.oldest_first
                                ? min_from(requests, pointer, [&](unsigned v) { return sent_[base + v]; })
                                : first_from(requests, pointer);
        requests_[output] = 0;
        grants_[vc] |= bit(output);
        granted |= bit(vc);
    }
    const bool at_once = config_.vc_alloc_cycles == 1;
    if (!at_once) {
        for (std::uint64_t mask = asking; mask != 0;) {
            const unsigned vc = take_first(mask);
            due_[base + vc] = cycle_ + config_.vc_alloc_cycles - 1;
            if ((state.copying >> vc & 1) == 0) out_[base + vc] = kNone;
        }
        state.vc_alloc &= ~asking;
        state.vc_wait |= asking;
    }
    while (granted != 0) {
        const unsigned vc = take_first(granted);
        const std::uint64_t grants = grants_[vc];
        grants_[vc] = 0;
        if ((state.copying >> vc & 1) != 0) {
            take_branches(router, vc, grants);
            continue;
        }
        const unsigned output = first_from(grants, accept_pointer_[base + vc]);
        grant_pointer_[base + output] = behind(vc, stride_);
        accept_pointer_[base + vc] = behind(output, stride_);
        if (at_once)
            take_output_vc(router, vc, output);
        else
            out_[base + vc] = static_cast<std::uint8_t>(output);
    }
}

void FlitNetwork::answer_vcs(unsigned router) {
    Router& state = routers_[router];
    const std::uint32_t base = router * stride_;
    for (std::uint64_t mask = state.vc_wait; mask != 0;) {
        const unsigned vc = take_first(mask);
        if (due_[base + vc] > cycle_) continue;
        state.vc_wait &= ~bit(vc);
        state.vc_alloc |= bit(vc);  // again from the next cycle, if there is nothing for it
        if ((state.copying >> vc & 1) != 0) {
            answer_branches(router, vc);
            continue;
        }
        const unsigned output = out_[base + vc];
        if (output != kNone && (state.free_vcs >> output & 1) != 0) take_output_vc(router, vc, output);
    }
}

void FlitNetwork::take_output_vc(unsigned router, unsigned vc, unsigned output) {
    Router& state = routers_[router];
    state.free_vcs &= ~bit(output);
    state.vc_alloc &= ~bit(vc);
    state.switch_alloc |= bit(vc);
    out_[router * stride_ + vc] = static_cast<std::uint8_t>(output);
    holder_[router * stride_ + output] = static_cast<std::uint8_t>(vc);
}

}  // namespace switchyard::hw::flit
