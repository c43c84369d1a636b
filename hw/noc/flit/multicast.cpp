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
    const unsigned source = pool_[id].source_router, group = pool_[id].group;
    const unsigned choice = pool_[id].choice;
    // By output port: whether anybody behind it lies beyond the dateline. Those that do lie farther than the others, so
    // that every router on the way comes to the same answer.
    bool crosses[64] = {};
    std::uint64_t ports = 0;
    ports_of_multicast_.clear();
    pool_.for_each(pool_[id].set, [&](unsigned endpoint) {
        const unsigned to = home_[endpoint];
        const unsigned port = number(router) == to ? local_[endpoint] : topology_->port_to(number(router), to, choice);
        ports |= bit(port);
        ports_of_multicast_.push_back(static_cast<std::uint8_t>(port));
        if (port < first_local_) crosses[port] = crosses[port] || topology_->second_class(source, to, port);
    });
    const auto wanted = [&](unsigned port) {
        return output_vcs(group, port >= first_local_ ? kAnyClass : (crosses[port] ? 1 : 0), port);
    };
    InputVc& input = router.inputs[vc];
    if ((ports & (ports - 1)) == 0) {
        input.wanted = wanted(static_cast<unsigned>(__builtin_ctzll(ports)));
        return;
    }

    if (free_forks_.empty()) {
        free_forks_.push_back(static_cast<std::uint16_t>(forks_.size()));
        forks_.emplace_back();
    }
    input.fork = free_forks_.back();
    free_forks_.pop_back();
    Fork& fork = forks_[input.fork];
    fork.packet = id;
    fork.flits = static_cast<std::uint16_t>(pool_[id].flits);
    fork.gone = 0;
    fork.branches.clear();
    std::uint8_t branch_of[64] = {};
    while (ports != 0) {
        const unsigned port = take_first(ports);
        branch_of[port] = static_cast<std::uint8_t>(fork.branches.size());
        Fork::Branch branch;
        branch.packet = pool_.make();
        const std::uint32_t set = pool_.make_set();
        Packet& copy = pool_[branch.packet];
        copy = pool_[id];
        copy.set = set;
        branch.wanted = wanted(port);
        fork.branches.push_back(branch);
        ++stats_.copies;
    }
    std::size_t destination = 0;
    pool_.for_each(pool_[id].set, [&](unsigned endpoint) {
        const unsigned port = ports_of_multicast_[destination++];
        pool_.insert(pool_[fork.branches[branch_of[port]].packet].set, endpoint);
    });
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
        const unsigned output = first_from(branch.wanted & granted, router.inputs[vc].accept_pointer);
        router.outputs[output].grant_pointer = behind(vc, router_vcs_);
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
    std::vector<Fork::Branch>& branches = forks_[router.inputs[vc].fork].branches;
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
            send_flit(router, branch.out, make_flit(branch.packet, branch.sent == 0, tail), fork.packet);
            ++branch.sent;
            ++flits_in_flight_;
        }
        slowest = std::min<unsigned>(slowest, branch.sent);
    }
    for (; fork.gone < slowest; ++fork.gone) {
        drop_front(router, vc);
        --flits_in_flight_;
    }
    if (fork.gone < fork.flits) return;
    pool_.free(fork.packet);
    free_forks_.push_back(static_cast<std::uint16_t>(number));
    router.copying &= ~bit(vc);
    next_packet(router, vc);
}

}  // namespace switchyard::hw::flit
