// SPDX-License-Identifier: Apache-2.0
// The VC allocator: iSLIP with one iteration. Every free output VC grants one of the input VCs that want it, every
// input VC accepts one of its grants; both go round, and the pointers move on behind an accepted grant only. With
// oldest_first an output VC grants the oldest packet, and the pointer decides between those of one cycle.

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

void FlitNetwork::allocate_vcs(Router& router) {
    const bool at_once = config_.vc_alloc_cycles == 1;
    std::uint64_t asking = router.vc_alloc & ~router.no_vc, requested = 0, contested = 0;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned vc = take_first(mask);
        const bool copying = (router.copying >> vc & 1) != 0;
        grants_[vc] = (copying ? wanted_by_branches(router, vc) : router.heads[vc].wanted) & router.free_vcs;
        contested |= requested & grants_[vc];
        requested |= grants_[vc];
        if (at_once) {
            if (grants_[vc] == 0) router.no_vc |= bit(vc);
            continue;
        }
        router.heads[vc].due = cycle_ + config_.vc_alloc_cycles - 1;
        if (!copying) router.inputs[vc].out = kNone;
    }
    leave_to_one(grants_, asking, contested, [&](unsigned output, std::uint64_t rivals) {
        const unsigned pointer = router.heads[output].grant_pointer;
        if (!config_.oldest_first) return first_from(rivals, pointer);
        return min_behind(rivals, (pointer + 63) % 64, [&](unsigned vc) { return router.inputs[vc].sent; });
    });
    if (!at_once) {
        router.vc_alloc &= ~asking;
        router.vc_wait |= asking;
    }
    while (asking != 0) {
        const unsigned vc = take_first(asking);
        const std::uint64_t grants = grants_[vc];
        if (grants == 0) continue;
        if ((router.copying >> vc & 1) != 0) {
            take_branches(router, vc, grants);
            continue;
        }
        const unsigned output = first_from(grants, router.heads[vc].accept_pointer);
        router.heads[output].grant_pointer = behind(vc, router_vcs_);
        router.heads[vc].accept_pointer = behind(output, router_vcs_);
        if (at_once)
            take_output_vc(router, vc, output);
        else
            router.inputs[vc].out = static_cast<std::uint8_t>(output);
    }
}

void FlitNetwork::answer_vcs(Router& router) {
    for (std::uint64_t mask = router.vc_wait; mask != 0;) {
        const unsigned vc = take_first(mask);
        const InputVc& input = router.inputs[vc];
        if (router.heads[vc].due > cycle_) continue;
        router.vc_wait &= ~bit(vc);
        router.vc_alloc |= bit(vc);  // again from the next cycle, if there is nothing for it
        if ((router.copying >> vc & 1) != 0) {
            answer_branches(router, vc);
            continue;
        }
        if (input.out != kNone && (router.free_vcs >> input.out & 1) != 0) take_output_vc(router, vc, input.out);
    }
}

void FlitNetwork::take_output_vc(Router& router, unsigned vc, unsigned output) {
    router.free_vcs &= ~bit(output);
    router.vc_alloc &= ~bit(vc);
    router.switch_alloc |= bit(vc);
    router.inputs[vc].out = static_cast<std::uint8_t>(output);
    router.inputs[vc].out_port = port_of_[output];
    router.outputs[output].holder = static_cast<std::uint8_t>(vc);
}

}  // namespace switchyard::hw::flit
