// SPDX-License-Identifier: Apache-2.0
// What the watchdog says: which buffers wait for each other. Every blocked input VC waits for one other: for the next
// buffer to have room, for the packet that holds its output VC, or, empty in the middle of a packet, for the flits
// behind. Followed from one to the next this ends where something could move, or in a ring, which is the deadlock.

#include <algorithm>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/grid.h"
#include "switchyard/hw/noc/grid_ports.h"

namespace switchyard::hw::flit {
namespace {

constexpr std::uint32_t kNobody = 0xFFFFFFFF;

}  // namespace

std::string FlitNetwork::place(std::uint32_t input_vc) const {
    const unsigned router = input_vc / kMaxVcs, vc = input_vc % kMaxVcs, port = port_of_[vc];
    const std::string side = port < first_local_ ? topology_->port_name(port)
                                                 : "endpoint " + std::to_string(endpoint_of_[router * ports_ + port]);
    return topology_->router_name(router) + " from " + side + " VC " + std::to_string(vc_of_[vc]);
}

std::uint32_t FlitNetwork::waits_for(std::uint32_t input_vc) const {
    const Router& router = routers_[input_vc / kMaxVcs];
    const unsigned vc = input_vc % kMaxVcs;
    const InputVc& input = router.inputs[vc];
    const auto holder_of = [&](std::uint64_t wanted) {
        for (std::uint64_t mask = wanted; mask != 0;) {
            const unsigned output = take_first(mask);
            const unsigned holder = router.outputs[output].holder;
            if (holder != kNone) return number(router) * kMaxVcs + holder;
        }
        return kNobody;
    };
    const auto behind = [&](unsigned output) {
        const std::uint32_t target = router.outputs[output].target;
        return (target & kEndpoint) != 0 ? kNobody : target;
    };
    if ((router.copying >> vc & 1) != 0) {
        const Fork& fork = forks_[input.fork];
        for (const Fork::Branch& branch : fork.branches) {
            if (branch.out == kNone) return holder_of(branch.wanted);
            if (branch.sent < fork.flits && !branch_ready(router, vc, fork, branch) &&
                branch.sent - fork.gone < input.held)
                return behind(branch.out);
        }
    } else if (((router.vc_alloc | router.vc_wait) >> vc & 1) != 0) {
        return holder_of(router.heads[vc].wanted);
    } else if (input.held > 0 && ((router.switch_alloc | router.switch_wait) >> vc & 1) != 0) {
        return behind(input.out);
    }
    const std::uint32_t source = input.source & ~kExchanged;
    if ((source & kEndpoint) != 0 || outputs_[source].holder == kNone) return kNobody;
    return source / kMaxVcs * kMaxVcs + outputs_[source].holder;
}

std::string FlitNetwork::direction_of(const std::vector<std::uint32_t>& ring) const {
    const Grid* const grid = topology_->grid();
    if (grid == nullptr) return "";
    // All in one column, or row: then the ring is that of its links, and packets that have just turned into it.
    const auto same = [&](auto coordinate) {
        return std::all_of(ring.begin(), ring.end(), [&](std::uint32_t vc) {
            return coordinate(vc / kMaxVcs) == coordinate(ring.front() / kMaxVcs);
        });
    };
    const RouteTable& routes = grid->routes();
    const bool column = same([&routes](unsigned router) { return routes.x(router); });
    const bool row = !column && same([&routes](unsigned router) { return routes.y(router); });
    std::string text;
    if (column) text += " of column " + std::to_string(routes.x(ring.front() / kMaxVcs));
    if (row) text += " of row " + std::to_string(routes.y(ring.front() / kMaxVcs));
    for (const std::uint32_t input_vc : ring) {
        const unsigned side = port_of_[input_vc % kMaxVcs];
        const bool vertical = side == port::kNorth || side == port::kSouth;
        if (side >= port::kLocal || !(column ? vertical : row && !vertical)) continue;
        return text + ", " + grid->port_name((side + 2) % port::kLocal) + "ward";
    }
    return text;
}

std::string FlitNetwork::no_progress_report() const {
    std::string text = "no flit has moved for " + std::to_string(config_.watchdog_cycles) + " cycles, cycle " +
                       std::to_string(cycle_) + ": " + std::to_string(flits_in_flight_) + " flits in flight, " +
                       std::to_string(queued_packets_) + " packets at their sources";
    const bool hidden =
        std::any_of(rtl_routers_.begin(), rtl_routers_.end(), [](const auto& rtl) { return !rtl->lockstep; });
    const std::string stuck = hidden ? stuck_rtl() : "";
    std::vector<std::uint32_t> seen(inputs_.size());
    std::uint32_t walk = 0;
    for (std::uint32_t begin = 0; begin < inputs_.size(); ++begin) {
        if (inputs_[begin].held == 0 || seen[begin] != 0) continue;
        ++walk;
        std::uint32_t at = begin;
        while (at != kNobody && seen[at] == 0) {
            seen[at] = walk;
            at = waits_for(at);
        }
        if (at == kNobody || seen[at] != walk) continue;

        std::vector<std::uint32_t> ring{at};
        for (std::uint32_t next = waits_for(at); next != at; next = waits_for(next)) ring.push_back(next);
        text += "; ring" + direction_of(ring);
        text += ": ";
        for (const std::uint32_t input_vc : ring) text += place(input_vc) + " waits for ";
        return text + place(ring.front()) + stuck;
    }
    return text + "; no ring of buffers that wait for each other" +
           (hidden ? " among those that are not inside external routers" : "") + stuck;
}

}  // namespace switchyard::hw::flit
