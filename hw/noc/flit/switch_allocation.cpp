// SPDX-License-Identifier: Apache-2.0
// The switch allocator: who asks, and what those do that pass. Most often no two ask for the same output or come from
// the same input; those that do are matched (switch_matching.h).

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"

namespace switchyard::hw::flit {

void FlitNetwork::allocate_switch(Router& router, std::uint64_t asking) {
    // What most flits meet: nobody else asks, or another one, and the answer comes at once.
    const std::uint64_t others = asking & (asking - 1);
    if ((others & (others - 1)) != 0 || (asking & router.copying) != 0 || config_.switch_alloc_cycles != 1)
        share_switch(router, asking);
    else if (others != 0)
        share_between(router, static_cast<unsigned>(__builtin_ctzll(asking)),
                      static_cast<unsigned>(__builtin_ctzll(others)));
    else
        pass_or_wait(router, static_cast<unsigned>(__builtin_ctzll(asking)));
}

/// The VC does not copy, and has no rival.
inline void FlitNetwork::pass_or_wait(Router& router, unsigned vc) {
    if (has_room(router, vc))
        pass_alone(router, vc);
    else
        await_credit(router, vc);
}

/// Neither of the two VCs copies.
void FlitNetwork::share_between(Router& router, unsigned a, unsigned b) {
    const InputVc &first = router.inputs[a], &second = router.inputs[b];
    const bool rivals = first.out_port == second.out_port || port_of_[a] == port_of_[b];
    if (rivals && has_room(router, a) && has_room(router, b)) {
        const SwitchMatching::Rival one{first.sent, bit(first.out_port), a, port_of_[a]};
        const SwitchMatching::Rival other{second.sent, bit(second.out_port), b, port_of_[b]};
        pass_alone(router, matching_.first_of(router.turns, one, other).vc);
        return;
    }
    pass_or_wait(router, a);
    pass_or_wait(router, b);
}

/// The VC does not copy, and has no rival.
void FlitNetwork::pass_alone(Router& router, unsigned vc) {
    move_turns(router, vc, router.inputs[vc].out_port);
    traverse(router, vc);
}

bool FlitNetwork::has_room(const Router& router, unsigned vc) {
    return router.outputs[router.inputs[vc].out].credits >= router.inputs[vc].room;
}

void FlitNetwork::await_credit(Router& router, unsigned vc) {
    router.asleep |= bit(vc);
    router.outputs[router.inputs[vc].out].awaited = true;
}

/// Behind the output port that an input VC has accepted, and behind its own.
void FlitNetwork::move_turns(Router& router, unsigned vc, unsigned accepted) {
    SwitchTurns& input = router.turns[port_of_[vc]];
    input.accepted = static_cast<std::uint8_t>(accepted);
    input.passed = static_cast<std::uint8_t>(vc);
    router.turns[accepted].granted = port_of_[vc];
}

void FlitNetwork::share_switch(Router& router, std::uint64_t asking) {
    const bool at_once = config_.switch_alloc_cycles == 1;
    std::uint64_t ready = 0, inputs = 0, outputs = 0, shared_inputs = 0, shared_outputs = 0;  // of one or of several
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned vc = take_first(mask);
        const bool copying = (router.copying >> vc & 1) != 0;
        const std::uint64_t wanted = copying                ? ports_of_branches(router, vc)
                                     : has_room(router, vc) ? bit(router.inputs[vc].out_port)
                                                            : 0;
        if (wanted == 0) {
            if (at_once && copying)
                await_any_branch(router, vc);
            else if (at_once)
                await_credit(router, vc);
            continue;
        }
        ready |= bit(vc);
        shared_inputs |= inputs & bit(port_of_[vc]);
        shared_outputs |= outputs & wanted;
        inputs |= bit(port_of_[vc]);
        outputs |= wanted;
        ready_for_[vc] = wanted;
    }
    if (!at_once) {
        for (std::uint64_t mask = asking; mask != 0;) {
            HeadState& head = router.heads[take_first(mask)];
            head.switch_due = cycle_ + config_.switch_alloc_cycles - 1;
            head.granted = false;
        }
        router.switch_alloc &= ~asking;
        router.switch_wait |= asking;
    }
    while (ready != 0) {
        const unsigned vc = take_first(ready), input = port_of_[vc];
        const std::uint64_t wanted = ready_for_[vc];
        if ((wanted & shared_outputs) != 0 || (shared_inputs >> input & 1) != 0)
            matching_.add({router.inputs[vc].sent, wanted, vc, input});
        else if (at_once && (router.copying >> vc & 1) == 0)
            pass_alone(router, vc);
        else
            pass_switch(router, vc, first_behind(wanted, router.turns[input].accepted), wanted, true);
    }
    if (matching_.empty()) return;
    matching_.match(router.turns, [&](unsigned vc, unsigned accepted, std::uint64_t granted, bool first) {
        return pass_switch(router, vc, accepted, granted, first);
    });
}

/// Input VC `vc` has accepted one of the outputs `granted` to it. Those that it takes.
std::uint64_t FlitNetwork::pass_switch(Router& router, unsigned vc, unsigned accepted, std::uint64_t granted,
                                       bool move) {
    const bool copying = (router.copying >> vc & 1) != 0;
    const std::uint64_t taken = copying ? grant_branches(router, vc, accepted, granted) : bit(accepted);
    if (move) {
        move_turns(router, vc, accepted);
        for (std::uint64_t mask = taken & ~bit(accepted); mask != 0;)
            router.turns[take_first(mask)].granted = port_of_[vc];
    }
    if (config_.switch_alloc_cycles > 1)
        router.heads[vc].granted = true;
    else if (copying)
        traverse_branches(router, vc);
    else
        traverse(router, vc);
    return taken;
}

void FlitNetwork::answer_switch(Router& router) {
    for (std::uint64_t mask = router.switch_wait; mask != 0;) {
        const unsigned vc = take_first(mask);
        const HeadState& head = router.heads[vc];
        if (head.switch_due > cycle_) continue;
        router.switch_wait &= ~bit(vc);
        router.switch_alloc |= bit(vc);
        if (!head.granted) continue;
        if ((router.copying >> vc & 1) != 0)
            traverse_branches(router, vc);
        else if (router.outputs[router.inputs[vc].out].credits > 0)
            traverse(router, vc);
    }
}

}  // namespace switchyard::hw::flit
