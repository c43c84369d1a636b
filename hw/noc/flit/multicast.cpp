// SPDX-License-Identifier: Apache-2.0
// Multicast in the routers. A packet with several destinations is copied where the routes to them part. Each copy
// takes its own output VC and goes at its own rate; a flit's slot in the buffer is free when the last copy has it.
//
// Wormholes that fork deadlock where one copy holds a VC and stands still because another copy waits. So a multicast
// packet is at most as long as a buffer, and its head leaves only when the next buffer has room for the whole packet:
// once a copy has begun, nothing that another one does can stop it (virtual cut-through for these packets alone).

#include <algorithm>
#include <utility>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"

namespace switchyard::hw::flit {

void FlitNetwork::route_multicast(Router& router, unsigned vc, std::uint32_t id) {
    const unsigned source = pool_[id].source_router, group = pool_[id].group, set = pool_[id].set;
    const std::size_t words = masks_.words();
    const std::uint64_t* const behind = masks_.behind(number(router), pool_[id].choice);
    const std::uint64_t* const second_class = masks_.second_class(source);
    const auto meets = [words](const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c) {
        std::uint64_t common = 0;  // all words are looked at: they are few, and which one is the first varies
        for (std::size_t w = 0; w < words; ++w) common |= a[w] & b[w] & c[w];
        return common != 0;
    };
    // By output port: whether anybody behind it lies beyond the dateline. Those that do lie farther than the others, so
    // that every router on the way comes to the same answer.
    std::uint64_t ports = 0, crossing = 0;
    const std::uint64_t* const members = pool_.words_of(set);
    for (unsigned port = 0; port < first_local_; ++port) {
        const std::uint64_t* const here = behind + port * words;
        if (!meets(members, here, here)) continue;
        ports |= bit(port);
        if (meets(members, here, second_class + port * words)) crossing |= bit(port);
    }
    const std::uint64_t* const own = behind + first_local_ * words;
    for (std::size_t w = 0; w < words; ++w)
        for (std::uint64_t mask = members[w] & own[w]; mask != 0;) ports |= bit(local_[64 * w + take_first(mask)]);
    const auto wanted = [&](unsigned port) {
        return output_vcs(group, port >= first_local_ ? kAnyClass : static_cast<unsigned>(crossing >> port & 1), port);
    };
    HeadState& head = router.heads[vc];
    if ((ports & (ports - 1)) == 0) {
        head.wanted = wanted(static_cast<unsigned>(__builtin_ctzll(ports)));
        return;
    }

    if (free_forks_.empty()) {
        free_forks_.push_back(static_cast<std::uint16_t>(forks_.size()));
        forks_.emplace_back();
    }
    const std::uint16_t number_of_fork = free_forks_.back();
    router.inputs[vc].fork = number_of_fork;
    free_forks_.pop_back();
    Fork& fork = forks_[number_of_fork];
    fork.packet = id;
    fork.flits = static_cast<std::uint16_t>(pool_[id].flits);
    fork.gone = 0;
    fork.branches.clear();
    while (ports != 0) {
        const unsigned port = take_first(ports);
        Fork::Branch& branch = fork.branches.emplace_back();
        branch.packet = pool_.make_copy(id);
        branch.wanted = wanted(port);
        const std::uint32_t copied = pool_[branch.packet].set;
        if (port >= first_local_) {
            pool_.insert(copied, endpoint_of_[number(router) * ports_ + port]);
        } else {
            std::uint64_t* const to = pool_.words_of(copied);
            const std::uint64_t *const from = pool_.words_of(set), *const here = behind + port * words;
            for (std::size_t w = 0; w < words; ++w) to[w] = from[w] & here[w];
        }
        ++stats_.copies;
    }
    router.copying |= bit(vc);
}

std::uint64_t FlitNetwork::wanted_by_branches(const Router& router, unsigned vc) const {
    std::uint64_t wanted = 0;
    for (const Fork::Branch& branch : forks_[router.inputs[vc].fork].branches)
        if (branch.out == kNone) wanted |= branch.wanted;
    return wanted;
}

void FlitNetwork::take_branches(Router& router, unsigned vc, std::uint64_t granted) {
    Fork& fork = forks_[router.inputs[vc].fork];
    for (Fork::Branch& branch : fork.branches) {
        if (branch.out != kNone || (branch.wanted & granted) == 0) continue;
        const unsigned output = first_from(branch.wanted & granted, router.heads[vc].accept_pointer);
        router.heads[output].grant_pointer = behind(vc, router_vcs_);
        branch.answer = static_cast<std::uint8_t>(output);
    }
    if (config_.vc_alloc_cycles == 1) answer_branches(router, vc);
}

void FlitNetwork::answer_branches(Router& router, unsigned vc) {
    bool missing = false;
    for (Fork::Branch& branch : forks_[router.inputs[vc].fork].branches) {
        const unsigned output = std::exchange(branch.answer, static_cast<std::uint8_t>(kNone));
        if (branch.out == kNone && output != kNone && (router.free_vcs >> output & 1) != 0) {
            router.free_vcs &= ~bit(output);
            router.outputs[output].holder = static_cast<std::uint8_t>(vc);
            branch.out = static_cast<std::uint8_t>(output);
            branch.from = cycle_ + 1;
            if ((router.switch_wait >> vc & 1) == 0) router.switch_alloc |= bit(vc);
            router.asleep &= ~bit(vc);
        }
        missing = missing || branch.out == kNone;
    }
    if (!missing) router.vc_alloc &= ~bit(vc);
}

std::uint64_t FlitNetwork::ports_of_branches(const Router& router, unsigned vc) const {
    const Fork& fork = forks_[router.inputs[vc].fork];
    std::uint64_t ports = 0;
    for (const Fork::Branch& branch : fork.branches)
        if (branch_ready(router, vc, fork, branch)) ports |= bit(port_of_[branch.out]);
    return ports;
}

/// No branch can send. The fork asks again when a credit, a flit or an output VC has come.
void FlitNetwork::await_any_branch(Router& router, unsigned vc) const {
    const Fork& fork = forks_[router.inputs[vc].fork];
    for (const Fork::Branch& branch : fork.branches)
        if (branch.out != kNone && branch.from > cycle_) return;
    for (const Fork::Branch& branch : fork.branches)
        if (branch.out != kNone && branch.sent < fork.flits && !has_room(router, fork, branch))
            router.outputs[branch.out].awaited = true;
    router.inputs[vc].awaited = true;
    router.asleep |= bit(vc);
}

/// One flit can leave by several outputs at once: all branches that want the one that leaves by `accepted`.
std::uint64_t FlitNetwork::grant_branches(const Router& router, unsigned vc, unsigned accepted, std::uint64_t granted) {
    auto& branches = forks_[router.inputs[vc].fork].branches;
    std::uint16_t position = 0;
    for (const Fork::Branch& branch : branches)
        if (branch.out != kNone && port_of_[branch.out] == accepted) position = branch.sent;
    std::uint64_t taken = 0;
    for (Fork::Branch& branch : branches) {
        if (branch.out == kNone || branch.sent != position || (granted >> port_of_[branch.out] & 1) == 0) continue;
        taken |= bit(port_of_[branch.out]);
        branch.granted = true;
    }
    return taken;
}

bool FlitNetwork::branch_ready(const Router& router, unsigned vc, const Fork& fork, const Fork::Branch& branch) const {
    if (branch.out == kNone || branch.from > cycle_ || branch.sent == fork.flits) return false;
    if (branch.sent - fork.gone >= router.inputs[vc].held) return false;
    return has_room(router, fork, branch);
}

bool FlitNetwork::has_room(const Router& router, const Fork& fork, const Fork::Branch& branch) {
    return router.outputs[branch.out].credits >= (branch.sent == 0 ? fork.flits : 1);
}

void FlitNetwork::traverse_branches(Router& router, unsigned vc) {
    const unsigned number = router.inputs[vc].fork;
    Fork& fork = forks_[number];
    unsigned slowest = fork.flits;
    for (Fork::Branch& branch : fork.branches) {
        if (branch.granted) {
            branch.granted = false;
            const bool tail = branch.sent + 1 == fork.flits;
            const std::uint32_t flit = make_flit(branch.packet, branch.sent == 0, tail);
            send_flit(router, branch.out, flit);
            if (router.rtl != nullptr) expect_flit(router, branch.out, flit, fork.packet);
            if (tail) free_output_vc(router, branch.out, branch.packet);
            ++branch.sent;
            ++flits_in_flight_;
        }
        slowest = std::min<unsigned>(slowest, branch.sent);
    }
    for (; fork.gone < slowest; ++fork.gone) {
        free_slot(router.inputs[vc]);
        if (router.rtl != nullptr) expect_credit(router, vc);
        --flits_in_flight_;
    }
    if (fork.gone < fork.flits) return;
    pool_.free(fork.packet);
    free_forks_.push_back(static_cast<std::uint16_t>(number));
    router.copying &= ~bit(vc);
    router.switch_alloc &= ~bit(vc);
    if (router.inputs[vc].held > 0) head_at_front(router, vc, cycle_ + 1);
}

}  // namespace switchyard::hw::flit
