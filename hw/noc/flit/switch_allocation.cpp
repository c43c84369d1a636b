// SPDX-License-Identifier: Apache-2.0
// The switch allocator: iSLIP over input and output ports. The VCs of an input that want the same
// output take turns in asking. With oldest_first the oldest packet asks, is granted and is accepted, and the turns
// decide between those of one cycle.

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

void FlitNetwork::allocate_switch(unsigned router, std::uint64_t at_switch) {
    Router& state = routers_[router];
    const std::uint32_t base = router * stride_, first_port = router * ports_;
    const bool at_once = config_.switch_alloc_cycles == 1;
    std::uint64_t requested = 0;
    const auto yields = [&](unsigned vc, unsigned other, unsigned turn) {
        if (config_.oldest_first && sent_[base + vc] != sent_[base + other])
            return sent_[base + vc] > sent_[base + other];
        // The next one at or after the turn goes first.
        const unsigned mine = vc_of_[vc], its = vc_of_[other];
        return (mine < turn) != (its < turn) ? mine < turn : mine > its;
    };
    const auto ask = [&](unsigned vc, unsigned output) {
        const unsigned input = port_of_[vc], out_port = port_of_[output];
        const bool another = (requests_[out_port] >> input & 1) != 0;  // VC of this input asks already
        if (another && yields(vc, chosen_[input][out_port], vc_turn_[first_port + input])) return;
        requests_[out_port] |= bit(input);
        requested |= bit(out_port);
        chosen_[input][out_port] = static_cast<std::uint8_t>(vc);
    };
    for (std::uint64_t mask = at_switch; mask != 0;) {
        const unsigned vc = take_first(mask);
        if ((state.copying >> vc & 1) != 0) {
            const Fork& fork = forks_[fork_[base + vc]];
            for (const Fork::Branch& branch : fork.branches)
                if (branch_ready(router, vc, fork, branch)) ask(vc, branch.out);
            continue;
        }
        const std::uint32_t input_vc = base + vc;
        const unsigned output = out_[input_vc], credits = credits_[base + output];
        if (credits == 0) {
            if (at_once) state.no_credit |= bit(vc);
            continue;
        }
        if (whole_[input_vc] != 0) {
            const std::uint32_t flit = buffer_[std::size_t{input_vc} * config_.buffer_flits + front_[input_vc]];
            if (is_head(flit) && credits < pool_[packet_of(flit)].flits) continue;
        }
        ask(vc, output);
    }
    if (!at_once) {
        for (std::uint64_t mask = at_switch; mask != 0;) {
            const unsigned vc = take_first(mask);
            switch_due_[base + vc] = cycle_ + config_.switch_alloc_cycles - 1;
            switch_answer_[base + vc] = 0;
        }
        state.switch_alloc &= ~at_switch;
        state.switch_wait |= at_switch;
    }

    for (unsigned iteration = 0; requested != 0 && iteration < config_.switch_iterations; ++iteration)
        requested = match_switch(router, requested, iteration == 0);
    while (requested != 0) requests_[take_first(requested)] = 0;
}

/// Every output of `requested` grants an input, every input accepts one; what is matched asks no more. `move`: pointers
/// move on, which iSLIP lets them do in the first iteration alone. The outputs that are still asked for.
std::uint64_t FlitNetwork::match_switch(unsigned router, std::uint64_t requested, bool move) {
    Router& state = routers_[router];
    const std::uint32_t base = router * stride_, first_port = router * ports_;
    const bool at_once = config_.switch_alloc_cycles == 1;
    const auto choose = [&](std::uint64_t mask, unsigned pointer, auto&& vc_of) {
        if ((mask & (mask - 1)) == 0) return static_cast<unsigned>(__builtin_ctzll(mask));
        if (!config_.oldest_first) return first_from(mask, pointer);
        return min_from(mask, pointer, [&](unsigned i) { return sent_[base + vc_of(i)]; });
    };
    std::uint64_t granted = 0, matched_inputs = 0, matched_outputs = 0;
    for (std::uint64_t mask = requested; mask != 0;) {
        const unsigned out_port = take_first(mask);
        const unsigned input = choose(requests_[out_port], switch_grant_[first_port + out_port],
                                      [&](unsigned i) { return chosen_[i][out_port]; });
        grants_[input] |= bit(out_port);
        granted |= bit(input);
    }
    while (granted != 0) {
        const unsigned input = take_first(granted);
        const std::uint64_t outputs = grants_[input];
        grants_[input] = 0;
        const unsigned accepted = choose(outputs, switch_accept_[first_port + input],
                                         [&](unsigned out_port) { return chosen_[input][out_port]; });
        const unsigned vc = chosen_[input][accepted];
        matched_inputs |= bit(input);
        const auto match = [&](unsigned out_port) {
            matched_outputs |= bit(out_port);
            if (move) switch_grant_[first_port + out_port] = behind(input, ports_);
        };
        if (move) {
            switch_accept_[first_port + input] = behind(accepted, ports_);
            vc_turn_[first_port + input] = behind(vc_of_[vc], vcs_);
        }
        if ((state.copying >> vc & 1) == 0) {
            match(accepted);
            if (at_once)
                traverse(router, vc);
            else
                switch_answer_[base + vc] = 1;
            continue;
        }
        // One flit can leave by several outputs at once: all branches that want the same one.
        Fork& fork = forks_[fork_[base + vc]];
        std::uint16_t position = 0;
        for (const Fork::Branch& branch : fork.branches)
            if (branch.out != kNone && port_of_[branch.out] == accepted) position = branch.sent;
        for (Fork::Branch& branch : fork.branches) {
            if (branch.out == kNone || branch.sent != position) continue;
            const unsigned out_port = port_of_[branch.out];
            if ((outputs >> out_port & 1) == 0 || chosen_[input][out_port] != vc) continue;
            match(out_port);
            branch.granted = true;
        }
        if (at_once)
            traverse_branches(router, vc);
        else
            switch_answer_[base + vc] = 1;
    }
    std::uint64_t left = 0;
    for (std::uint64_t mask = requested; mask != 0;) {
        const unsigned out_port = take_first(mask);
        std::uint64_t& requests = requests_[out_port];
        requests = (matched_outputs >> out_port & 1) != 0 ? 0 : requests & ~matched_inputs;
        if (requests != 0) left |= bit(out_port);
    }
    return left;
}

void FlitNetwork::answer_switch(unsigned router) {
    Router& state = routers_[router];
    const std::uint32_t base = router * stride_;
    for (std::uint64_t mask = state.switch_wait; mask != 0;) {
        const unsigned vc = take_first(mask);
        if (switch_due_[base + vc] > cycle_) continue;
        state.switch_wait &= ~bit(vc);
        state.switch_alloc |= bit(vc);
        if (switch_answer_[base + vc] == 0) continue;
        if ((state.copying >> vc & 1) != 0)
            traverse_branches(router, vc);
        else if (credits_[base + out_[base + vc]] > 0)
            traverse(router, vc);
    }
}

void FlitNetwork::traverse(unsigned router, unsigned vc) {
    const std::uint32_t input_vc = router * stride_ + vc;
    const unsigned output = out_[input_vc];
    const std::uint32_t flit = buffer_[std::size_t{input_vc} * config_.buffer_flits + front_[input_vc]];
    send_flit(router, output, flit, packet_of(flit));
    drop_front(router, vc);
    if (is_tail(flit))
        next_packet(router, vc);
    else if (held_[input_vc] == 0)
        routers_[router].switch_alloc &= ~bit(vc);
}

void FlitNetwork::send_flit(unsigned router, unsigned output, std::uint32_t flit, std::uint32_t original) {
    const std::uint32_t output_vc = router * stride_ + output;
    --credits_[output_vc];
    if (routers_[router].rtl) expect_flit(router, output, flit, original);
    on_link(router, output, flit, cycle_ + config_.switch_cycles + 1);
    if (!is_tail(flit)) return;
    routers_[router].free_vcs |= bit(output);
    holder_[output_vc] = kNone;
}

/// `flit` is at the output's pins in cycle `sent`.
void FlitNetwork::on_link(unsigned router, unsigned output, std::uint32_t flit, std::uint64_t sent) {
    const std::uint32_t out_port = router * ports_ + port_of_[output];
    ++link_flits_[out_port];
    const std::uint32_t target = downstream_[out_port];
    if ((target & kEndpoint) != 0) {
        flits_.push(sent + config_.endpoint_link_cycles, {target | (router * stride_ + output), flit});
    } else {
        flits_.push(sent + config_.link_cycles, {target + vc_of_[output], flit});
        ++stats_.hop_flits;
    }
    if (is_tail(flit)) {
        ++link_packets_[out_port];
        link_padding_[out_port] += pool_[packet_of(flit)].padding;
    }
    last_movement_ = cycle_;
}

void FlitNetwork::drop_front(unsigned router, unsigned vc) {
    const std::uint32_t input_vc = router * stride_ + vc;
    if (++front_[input_vc] == config_.buffer_flits) front_[input_vc] = 0;
    --held_[input_vc];
    const std::uint32_t source = upstream_[router * ports_ + port_of_[vc]] + vc_of_[vc];
    const unsigned link = (source & kEndpoint) != 0 ? config_.endpoint_link_cycles : config_.link_cycles;
    if (RtlRouter* const rtl = routers_[router].rtl) {
        rtl->expected_credits[port_of_[vc]].push_back({cycle_ + 1, vc_of_[vc]});
        ++rtl->expecting;
    }
    credit_events_.push(cycle_ + 1 + link + config_.credit_cycles, source);
}

void FlitNetwork::next_packet(unsigned router, unsigned vc) {
    routers_[router].switch_alloc &= ~bit(vc);
    if (held_[router * stride_ + vc] > 0) head_at_front(router, vc, cycle_ + 1);
}

}  // namespace switchyard::hw::flit
