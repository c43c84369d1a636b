// SPDX-License-Identifier: Apache-2.0
// The way of a flit out of a router's buffer and on to a link. Inline, since every flit goes it in every router.
#pragma once

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

inline void FlitNetwork::head_at_front(Router& router, unsigned vc, std::uint64_t first_cycle) {
    router.heads[vc].due = first_cycle + (config_.routing_cycles > 0 ? config_.routing_cycles - 1 : 0);
    router.routing |= bit(vc);
}

/// The front flit of a VC that does not copy.
inline void FlitNetwork::traverse(Router& router, unsigned vc) {
    InputVc& input = router.inputs[vc];
    const unsigned output = input.out;
    const bool tail = --input.left == 0;
    const std::uint32_t flit = tail ? input.flit | kTail : input.flit;
    input.flit &= ~kHead;
    input.room = 1;  // only the head needs more
    send_flit(router, output, flit);
    free_slot(input);
    if (tail || input.held == 0) router.switch_alloc &= ~bit(vc);
    if (seldom(tail || router.rtl != nullptr)) after_flit(router, vc, flit);
}

/// By a link of `router`, which shows it at its pins switch_cycles + 1 from now. end_cycle() counts what has moved.
inline void FlitNetwork::send_flit(Router& router, unsigned output_vc, std::uint32_t flit) {
    OutputVc& output = router.outputs[output_vc];
    --output.credits;
    ++output.flits;
    ((output.target & kEndpoint) != 0 ? ejections_out_ : flits_out_)->push({output.target, flit});
}

/// The front flit leaves the buffer: the credit is at the input's pins in the next cycle.
inline void FlitNetwork::free_slot(InputVc& input) {
    --input.held;
    ((input.source & kEndpoint) != 0 ? source_credits_out_ : credits_out_)->push(input.source & ~kEndpoint);
}

inline void FlitNetwork::give_credit(std::uint32_t output_vc) {
    OutputVc& output = outputs_[output_vc];
    ++output.credits;
    if (!seldom(output.awaited)) return;
    output.awaited = false;
    wake(routers_[output_vc / kMaxVcs], output.holder);
}

inline void FlitNetwork::wake(Router& router, unsigned vc) {
    router.asleep &= ~bit(vc);
    activate(router);
}

}  // namespace switchyard::hw::flit
