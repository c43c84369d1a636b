// SPDX-License-Identifier: Apache-2.0
// The way of a flit out of a router's buffer and on to a link. Inline, since every flit goes it in every router.
#pragma once

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

inline void FlitNetwork::head_at_front(Router& router, unsigned vc, std::uint64_t first_cycle) {
    router.answers[vc].due = first_cycle + (config_.routing_cycles > 0 ? config_.routing_cycles - 1 : 0);
    router.routing |= bit(vc);
}

inline void FlitNetwork::traverse(Router& router, unsigned vc) {
    InputVc& input = router.inputs[vc];
    const std::uint32_t flit = front_flit(router, vc);
    input.room = 1;  // only the head needs more
    send_flit(router, input.out, flit, packet_of(flit));
    drop_front(router, vc);
    if (is_tail(flit))
        next_packet(router, vc);
    else if (input.held == 0)
        router.switch_alloc &= ~bit(vc);
}

inline void FlitNetwork::send_flit(Router& router, unsigned output, std::uint32_t flit, std::uint32_t original) {
    --router.outputs[output].credits;
    if (router.rtl) expect_flit(router, output, flit, original);
    on_link(router, output, flit, cycle_ + config_.switch_cycles + 1);
    if (!is_tail(flit)) return;
    router.free_vcs |= bit(output);
    router.no_vc = 0;
    router.outputs[output].holder = kNone;
}

/// `flit` is at the output's pins in cycle `sent`.
inline void FlitNetwork::on_link(Router& router, unsigned output, std::uint32_t flit, std::uint64_t sent) {
    const std::uint32_t target = router.outputs[output].target;
    flits_.push(sent + router.ports[port_of_[output]].link_cycles, {target, flit});
    last_movement_ = cycle_;
    if ((target & kEndpoint) == 0) ++stats_.hop_flits;
    Load& load = router.loads[port_of_[output]];
    ++load.flits;
    if (!is_tail(flit)) return;
    ++load.packets;
    load.padding += pool_[packet_of(flit)].padding;
}

inline void FlitNetwork::drop_front(Router& router, unsigned vc) {
    InputVc& input = router.inputs[vc];
    ++input.gone;
    --input.held;
    if (router.rtl) expect_credit(router, vc);
    return_credit(router, vc, cycle_ + 1);
}

/// The credit is at the input's pins in cycle `sent`.
inline void FlitNetwork::return_credit(const Router& router, unsigned vc, std::uint64_t sent) {
    const unsigned link_cycles = router.ports[port_of_[vc]].link_cycles;
    credit_events_.push(sent + link_cycles + config_.credit_cycles, router.inputs[vc].source);
}

inline void FlitNetwork::next_packet(Router& router, unsigned vc) {
    router.switch_alloc &= ~bit(vc);
    if (router.inputs[vc].held > 0) head_at_front(router, vc, cycle_ + 1);
}

inline void FlitNetwork::give_credit(std::uint32_t output_vc) {
    OutputVc& output = outputs_[output_vc];
    ++output.credits;
    if (!output.awaited) return;
    output.awaited = false;
    wake(routers_[output_vc / kMaxVcs], output.holder);
}

inline void FlitNetwork::wake(Router& router, unsigned vc) {
    router.asleep &= ~bit(vc);
    activate(router);
}

}  // namespace switchyard::hw::flit
