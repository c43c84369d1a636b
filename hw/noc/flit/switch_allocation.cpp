// SPDX-License-Identifier: Apache-2.0
// The switch allocator: iSLIP over input and output ports. The VCs of an input that want the same output take turns in
// asking. With oldest_first the oldest packet asks, is granted and is accepted, and the turns decide between those of
// one cycle. Most often no two ask for the same output or come from the same input: then there is nothing to be
// matched.

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"

namespace switchyard::hw::flit {

void FlitNetwork::allocate_switch(Router& router, std::uint64_t asking) {
    const bool alone = (asking & (asking - 1)) == 0 && (asking & router.copying) == 0;
    if (alone && config_.switch_alloc_cycles == 1)
        ask_alone(router, take_first(asking));
    else
        share_switch(router, asking);
}

/// What most flits meet: nobody else asks, and the answer comes at once.
void FlitNetwork::ask_alone(Router& router, unsigned vc) {
    if (!has_room(router, vc)) {
        await_credit(router, vc);
        return;
    }
    move_pointers(router, vc, port_of_[router.inputs[vc].out]);
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
void FlitNetwork::move_pointers(Router& router, unsigned vc, unsigned accepted) {
    Port& input = router.ports[port_of_[vc]];
    input.accept_pointer = behind(accepted, ports_);
    input.vc_turn = behind(vc_of_[vc], vcs_);
    router.ports[accepted].grant_pointer = behind(port_of_[vc], ports_);
}

void FlitNetwork::share_switch(Router& router, std::uint64_t asking) {
    const bool at_once = config_.switch_alloc_cycles == 1;
    std::uint64_t ready = 0, inputs = 0, outputs = 0;
    bool rivals = false;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned vc = take_first(mask);
        const bool copying = (router.copying >> vc & 1) != 0;
        const std::uint64_t wanted = copying                ? ports_of_branches(router, vc)
                                     : has_room(router, vc) ? bit(port_of_[router.inputs[vc].out])
                                                            : 0;
        if (wanted == 0) {
            if (at_once && copying)
                await_any_branch(router, vc);
            else if (at_once)
                await_credit(router, vc);
            continue;
        }
        rivals = rivals || (outputs & wanted) != 0 || (inputs >> port_of_[vc] & 1) != 0;
        ready |= bit(vc);
        inputs |= bit(port_of_[vc]);
        outputs |= wanted;
        ready_for_[vc] = wanted;
    }
    if (!at_once) {
        for (std::uint64_t mask = asking; mask != 0;) {
            Answers& answers = router.answers[take_first(mask)];
            answers.switch_due = cycle_ + config_.switch_alloc_cycles - 1;
            answers.granted = false;
        }
        router.switch_alloc &= ~asking;
        router.switch_wait |= asking;
    }
    if (rivals) {
        match_switch(router, ready);
        return;
    }
    while (ready != 0) {
        const unsigned vc = take_first(ready);
        const unsigned first = first_from(ready_for_[vc], router.ports[port_of_[vc]].accept_pointer);
        pass_switch(router, vc, first, ready_for_[vc], true);
    }
}

/// For the input VCs `ready`, which want the outputs in ready_for_. iSLIP moves pointers in the first iteration alone.
void FlitNetwork::match_switch(Router& router, std::uint64_t ready) {
    const auto yields = [&](unsigned vc, unsigned other) {
        const std::uint64_t sent = router.inputs[vc].sent, its_sent = router.inputs[other].sent;
        if (config_.oldest_first && sent != its_sent) return sent > its_sent;
        // The next one at or after the turn goes first.
        const unsigned mine = vc_of_[vc], its = vc_of_[other], turn = router.ports[port_of_[vc]].vc_turn;
        return (mine < turn) != (its < turn) ? mine < turn : mine > its;
    };
    std::uint64_t asking = 0;  // input ports
    while (ready != 0) {
        const unsigned vc = take_first(ready), input = port_of_[vc];
        if ((asking >> input & 1) == 0) requests_[input] = 0;
        asking |= bit(input);
        for (std::uint64_t outputs = ready_for_[vc]; outputs != 0;) {
            const unsigned output = take_first(outputs);
            const bool another = (requests_[input] >> output & 1) != 0;  // VC of this input asks already
            if (!another || !yields(vc, chosen_[input][output])) chosen_[input][output] = static_cast<std::uint8_t>(vc);
        }
        requests_[input] |= ready_for_[vc];
    }
    for (unsigned iteration = 0; asking != 0 && iteration < config_.switch_iterations; ++iteration)
        asking = match_ports(router, asking, iteration == 0);
}

/// Every output for which the inputs `asking` have requests grants one of them, every input accepts one grant; what is
/// matched asks no more. The inputs that still ask.
std::uint64_t FlitNetwork::match_ports(Router& router, std::uint64_t asking, bool move) {
    const auto choose = [&](std::uint64_t mask, unsigned pointer, auto&& vc_of) {
        if ((mask & (mask - 1)) == 0) return static_cast<unsigned>(__builtin_ctzll(mask));
        if (!config_.oldest_first) return first_from(mask, pointer);
        return min_from(mask, pointer, [&](unsigned i) { return router.inputs[vc_of(i)].sent; });
    };
    std::uint64_t requested = 0, contested = 0;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned input = take_first(mask);
        grants_[input] = requests_[input];
        contested |= requested & requests_[input];
        requested |= requests_[input];
    }
    leave_to_one(grants_, asking, contested, [&](unsigned output, std::uint64_t rivals) {
        return choose(rivals, router.ports[output].grant_pointer, [&](unsigned i) { return chosen_[i][output]; });
    });

    std::uint64_t matched_inputs = 0, matched_outputs = 0;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned input = take_first(mask);
        const std::uint64_t grants = grants_[input];
        if (grants == 0) continue;
        const unsigned accepted =
            choose(grants, router.ports[input].accept_pointer, [&](unsigned o) { return chosen_[input][o]; });
        const unsigned vc = chosen_[input][accepted];
        std::uint64_t for_vc = 0;
        for (std::uint64_t outputs = grants; outputs != 0;) {
            const unsigned output = take_first(outputs);
            if (chosen_[input][output] == vc) for_vc |= bit(output);
        }
        matched_inputs |= bit(input);
        matched_outputs |= pass_switch(router, vc, accepted, for_vc, move);
    }
    asking &= ~matched_inputs;
    for (std::uint64_t mask = asking; mask != 0;) {
        const unsigned input = take_first(mask);
        requests_[input] &= ~matched_outputs;
        if (requests_[input] == 0) asking &= ~bit(input);
    }
    return asking;
}

/// Input VC `vc` has accepted one of the outputs `granted` to it. Those that it takes.
std::uint64_t FlitNetwork::pass_switch(Router& router, unsigned vc, unsigned accepted, std::uint64_t granted,
                                       bool move) {
    const bool copying = (router.copying >> vc & 1) != 0;
    const std::uint64_t taken = copying ? grant_branches(router, vc, accepted, granted) : bit(accepted);
    if (move) {
        move_pointers(router, vc, accepted);
        for (std::uint64_t mask = taken & ~bit(accepted); mask != 0;)
            router.ports[take_first(mask)].grant_pointer = behind(port_of_[vc], ports_);
    }
    if (config_.switch_alloc_cycles > 1)
        router.answers[vc].granted = true;
    else if (copying)
        traverse_branches(router, vc);
    else
        traverse(router, vc);
    return taken;
}

void FlitNetwork::answer_switch(Router& router) {
    for (std::uint64_t mask = router.switch_wait; mask != 0;) {
        const unsigned vc = take_first(mask);
        const Answers& answers = router.answers[vc];
        if (answers.switch_due > cycle_) continue;
        router.switch_wait &= ~bit(vc);
        router.switch_alloc |= bit(vc);
        if (!answers.granted) continue;
        if ((router.copying >> vc & 1) != 0)
            traverse_branches(router, vc);
        else if (router.outputs[router.inputs[vc].out].credits > 0)
            traverse(router, vc);
    }
}

}  // namespace switchyard::hw::flit
