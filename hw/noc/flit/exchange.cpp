// SPDX-License-Identifier: Apache-2.0
// Routers that something else simulates, at their pins: in place of the model's, or beside it. A flit or credit that is
// due in cycle t was at the pins in cycle t - 1, so the clock edge between the two is taken when the network works off
// cycle t: then the other router's registers hold what the model's do.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"
#include "switchyard/hw/noc/grid.h"
#include "switchyard/hw/noc/grid_ports.h"

namespace switchyard::hw::flit {
namespace {

std::string text_of(std::uint8_t credit) {
    return credit == kNoCredit ? "none" : "VC " + std::to_string(credit);
}

bool same(const PinFlit& a, const PinFlit& b) {
    if (a.valid != b.valid || a.head != b.head || a.tail != b.tail || a.vc != b.vc || a.packet != b.packet)
        return false;
    return !a.head || (a.control == b.control && a.multicast == b.multicast && a.flits == b.flits &&
                       a.destinations == b.destinations);
}

const char* side(unsigned port) {
    constexpr const char* kSides[port::kLocal] = {"north", "east", "south", "west"};
    return port < port::kLocal ? kSides[port] : "local";
}

}  // namespace

void FlitNetwork::exchange(unsigned router, std::unique_ptr<ExternalRouter> external, bool lockstep) {
    if (cycle_ != 0) throw std::logic_error("a router can be exchanged only before the first cycle");
    if (topology_->grid() == nullptr)
        throw std::invalid_argument(
            fmt::format("expected a grid for routers to be exchanged, found a topology with ports named {}",
                        topology_->port_name(0)));
    auto rtl = std::make_unique<RtlRouter>();
    rtl->external = std::move(external);
    rtl->lockstep = lockstep;
    rtl->in.flits.resize(ports_);
    rtl->in.credits.resize(ports_, static_cast<std::uint8_t>(kNoCredit));
    rtl->expected.resize(ports_);
    rtl->expected_credits.resize(ports_);
    rtl->leaving.resize(router_vcs_);
    rtl->traffic = ExternalTraffic(ports_, vcs_);
    routers_.at(router).rtl = rtl.get();
    rtl_routers_.push_back(std::move(rtl));
    // Credits for it are known by the mark in the number of its output VCs.
    for (unsigned vc = 0; vc < router_vcs_; ++vc) {
        std::uint32_t& target = routers_[router].outputs[vc].target;
        ((target & kEndpoint) != 0 ? target : inputs_[target].source) |= kExchanged;
    }
}

std::vector<PinDestination> FlitNetwork::destinations_of(std::uint32_t id) const {
    const Packet& packet = pool_[id];
    std::vector<PinDestination> destinations;
    const TieChoice choice = Grid::directions(packet.choice);
    const RouteTable& routes = topology_->grid()->routes();
    const auto add = [&](unsigned endpoint) {
        const unsigned from = packet.source_router, to = home_[endpoint];
        const unsigned x_port = routes.x_port(from, to, choice), y_port = routes.y_port(from, to, choice);
        PinDestination destination;
        destination.x = static_cast<std::uint8_t>(routes.x(to));
        destination.y = static_cast<std::uint8_t>(routes.y(to));
        destination.local = static_cast<std::uint8_t>(local_[endpoint] - port::kLocal);
        destination.to_west = x_port == port::kWest;
        destination.x_crosses = routes.crosses(from, to, x_port);
        destination.to_north = y_port == port::kNorth;
        destination.y_crosses = routes.crosses(from, to, y_port);
        destinations.push_back(destination);
    };
    if (packet.whole())
        pool_.for_each(packet.set, add);
    else
        add(packet.endpoint);
    const auto rank = [this](const PinDestination& d) {
        return (d.y * topology_->grid()->columns() + d.x) * ports_ + d.local;
    };
    std::sort(destinations.begin(), destinations.end(),
              [&](const PinDestination& a, const PinDestination& b) { return rank(a) < rank(b); });
    return destinations;
}

PinFlit FlitNetwork::at_pins(std::uint32_t flit, unsigned vc) const {
    const std::uint32_t id = packet_of(flit);
    PinFlit pins;
    pins.valid = true;
    pins.head = is_head(flit);
    pins.tail = is_tail(flit);
    pins.vc = static_cast<std::uint8_t>(vc);
    pins.packet = id;
    if (!pins.head) return pins;
    pins.control = pool_[id].group != 0;
    pins.multicast = pool_[id].whole();
    if (pins.multicast) pins.flits = static_cast<std::uint16_t>(pool_[id].flits);
    pins.destinations = destinations_of(id);
    return pins;
}

/// Whether nothing but an exchanged router gets the flit.
bool FlitNetwork::accepted_by_rtl(std::uint32_t input_vc, std::uint32_t flit) {
    const Router& router = routers_[input_vc / kMaxVcs];
    if (router.rtl == nullptr) return false;
    const unsigned vc = input_vc % kMaxVcs;
    RtlRouter& rtl = *router.rtl;
    rtl.in.flits[port_of_[vc]] = at_pins(flit, vc_of_[vc]);
    rtl.anything_in = true;
    activate(router);
    if (rtl.lockstep) return false;
    rtl.traffic.take(port_of_[vc], rtl.in.flits[port_of_[vc]], pool_[packet_of(flit)].flits);
    return true;
}

void FlitNetwork::credit_to_rtl(std::uint32_t output_vc) {
    const Router& router = routers_[output_vc / kMaxVcs];
    const unsigned output = output_vc % kMaxVcs;
    RtlRouter& rtl = *router.rtl;
    rtl.in.credits[port_of_[output]] = vc_of_[output];
    rtl.anything_in = true;
    give_credit(output_vc);
    activate(router);
}

void FlitNetwork::step_rtl(Router& router) {
    RtlRouter& rtl = *router.rtl;
    if (!rtl.anything_in && !rtl.busy()) return;
    rtl.idle_steps = rtl.anything_in ? 0 : rtl.idle_steps + 1;
    try {
        rtl.external->step(rtl.in);
    } catch (const RtlFault& fault) {
        throw RtlFault(place_of(router) + fault.what());
    }
    for (PinFlit& flit : rtl.in.flits) flit.valid = false;
    std::fill(rtl.in.credits.begin(), rtl.in.credits.end(), kNoCredit);
    rtl.anything_in = false;
    if (rtl.lockstep) {
        compare_pins(router);
        compare_state(router);
    } else {
        const RouterOutputs& out = rtl.external->out();
        for (unsigned p = 0; p < ports_; ++p)
            if (out.flits[p].valid) leave_rtl(router, p, out.flits[p]);
        for (unsigned p = 0; p < ports_; ++p)
            if (out.credits[p] != kNoCredit) free_slot_of_rtl(router, p, out.credits[p]);
        if (!rtl.external->busy() && !rtl.traffic.passed_all())
            fail_rtl(router, "busy", "0, with " + rtl.traffic.text());
    }
    // A packet in the router ends its idle time here: what waits for others is the watchdog's.
    const bool empty = rtl.lockstep ? rtl.expecting == 0 && router.empty(router_vcs_) : rtl.traffic.held() == 0;
    if (!empty) rtl.idle_steps = 0;
    if (rtl.idle_steps > kIdleSteps)
        fail_rtl(router, "busy", "1, " + std::to_string(kIdleSteps) + " cycles after the last flit and credit");
}

/// Along x first, in the directions that the source has chosen.
unsigned FlitNetwork::way_to(const Router& router, const PinDestination& to) const {
    const RouteTable& routes = topology_->grid()->routes();
    if (routes.x(number(router)) != to.x) return to.to_west ? port::kWest : port::kEast;
    if (routes.y(number(router)) != to.y) return to.to_north ? port::kNorth : port::kSouth;
    return port::kLocal + to.local;
}

/// What has left the RTL of `router` by `port` may be used.
void FlitNetwork::check_leaving(Router& router, unsigned port, const PinFlit& flit) {
    const auto wrong = [&](const std::string& why) {
        fail_rtl(router, std::string("flit out of port ") + std::to_string(port) + " (" + side(port) + ")",
                 text_of(flit) + ": " + why);
    };
    if (flit.head) {
        for (const PinDestination& to : flit.destinations) {
            const unsigned at = to.y * topology_->grid()->columns() + to.x;
            if (at >= routers_.size() || port::kLocal + to.local >= ports_) wrong("there is no such destination");
            const unsigned way = way_to(router, to);
            if (way != port) wrong(std::string("its way is port ") + std::to_string(way) + " (" + side(way) + ")");
        }
    }
    if (const std::string why = router.rtl->traffic.leave(port, flit); !why.empty()) wrong(why);
    if (router.outputs[port * vcs_ + flit.vc].credits == 0) wrong("there is no credit");
}

void FlitNetwork::leave_rtl(Router& router, unsigned port, const PinFlit& flit) {
    check_leaving(router, port, flit);
    RtlRouter& rtl = *router.rtl;
    const unsigned output = port * vcs_ + flit.vc;
    std::uint32_t& id = rtl.leaving[output];
    const std::uint32_t original = flit.packet;
    if (flit.head) {
        id = original;
        std::size_t all = 1;
        if (pool_[original].whole()) {
            all = 0;
            pool_.for_each(pool_[original].set, [&all](unsigned) { ++all; });
        }
        if (flit.destinations.size() != all) {
            rtl.forked.emplace(original, all);
            id = pool_.make_copy(original);
            for (const PinDestination& to : flit.destinations) {
                const unsigned at = to.y * topology_->grid()->columns() + to.x;
                pool_.insert(pool_[id].set, endpoint_of_[at * ports_ + port::kLocal + to.local]);
            }
            ++stats_.copies;
        }
    }
    ++flits_in_flight_;
    // At the output's pins in this cycle.
    OutputVc& way = router.outputs[output];
    const FlitEvent event{way.target, make_flit(id, flit.head, flit.tail)};
    ++way.flits;
    --way.credits;
    last_movement_ = cycle_;
    if ((way.target & kEndpoint) != 0) {
        ejections_.at(cycle_ + config_.endpoint_link_cycles).push(event);
    } else {
        flits_.at(cycle_ + config_.link_cycles).push(event);
        ++stats_.hop_flits;
    }
    if (flit.tail) free_output_vc(router, output, id);
    if (!flit.tail || id == original) return;
    std::size_t here = 0;
    pool_.for_each(pool_[id].set, [&here](unsigned) { ++here; });
    const auto fork = rtl.forked.find(original);
    if (fork == rtl.forked.end()) return;
    fork->second -= std::min(fork->second, here);
    if (fork->second > 0) return;
    pool_.free(original);
    rtl.forked.erase(fork);
}

void FlitNetwork::free_slot_of_rtl(const Router& router, unsigned port, unsigned vc) {
    if (const std::string why = router.rtl->traffic.free_slot(port, vc); !why.empty())
        fail_rtl(router, std::string("credit for port ") + std::to_string(port) + " (" + side(port) + ")",
                 "VC " + std::to_string(vc) + ": " + why);
    --flits_in_flight_;
    // At the input's pins in this cycle.
    const std::uint32_t source = router.inputs[port * vcs_ + vc].source;
    if ((source & kEndpoint) != 0)
        source_credits_.at(cycle_ + config_.endpoint_link_cycles + config_.credit_cycles).push(source & ~kEndpoint);
    else
        credits_.at(cycle_ + config_.link_cycles + config_.credit_cycles).push(source);
}

void FlitNetwork::expect_flit(const Router& router, unsigned output, std::uint32_t flit, std::uint32_t original) {
    RtlRouter& rtl = *router.rtl;
    PinFlit pins = at_pins(flit, vc_of_[output]);
    pins.packet = original;  // the pins show the number with which the packet came
    rtl.expected[port_of_[output]].push_back({cycle_ + config_.switch_cycles + 1, std::move(pins)});
    ++rtl.expecting;
}

void FlitNetwork::expect_credit(const Router& router, unsigned vc) {
    router.rtl->expected_credits[port_of_[vc]].push_back({cycle_ + 1, vc_of_[vc]});
    ++router.rtl->expecting;
}

void FlitNetwork::compare_pins(const Router& router) {
    RtlRouter& rtl = *router.rtl;
    const RouterOutputs& out = rtl.external->out();
    for (unsigned p = 0; p < ports_; ++p) {
        PinFlit flit;
        if (!rtl.expected[p].empty() && rtl.expected[p].front().cycle == cycle_) {
            flit = std::move(rtl.expected[p].front().flit);
            rtl.expected[p].pop_front();
            --rtl.expecting;
        }
        if (!same(flit, out.flits[p]))
            differ(router, std::string("flit out of port ") + std::to_string(p) + " (" + side(p) + ")", text_of(flit),
                   text_of(out.flits[p]));
        std::uint8_t credit = kNoCredit;
        if (!rtl.expected_credits[p].empty() && rtl.expected_credits[p].front().cycle == cycle_) {
            credit = rtl.expected_credits[p].front().vc;
            rtl.expected_credits[p].pop_front();
            --rtl.expecting;
        }
        if (credit != out.credits[p])
            differ(router, std::string("credit for port ") + std::to_string(p) + " (" + side(p) + ")", text_of(credit),
                   text_of(out.credits[p]));
    }
}

RouterState FlitNetwork::state_of(const Router& router) const {
    RouterState state;
    state.routing = router.routing;
    state.vc_alloc = router.vc_alloc;
    state.vc_wait = router.vc_wait;
    state.switch_alloc = router.switch_alloc;
    state.switch_wait = router.switch_wait;
    state.copying = router.copying;
    state.free_vcs = router.free_vcs;
    for (unsigned vc = 0; vc < router_vcs_; ++vc) {
        state.held.push_back(router.inputs[vc].held);
        state.credits.push_back(router.outputs[vc].credits);
        state.vc_accept_pointer.push_back(router.heads[vc].accept_pointer);
        state.vc_grant_pointer.push_back(router.heads[vc].grant_pointer);
    }
    for (unsigned p = 0; p < ports_; ++p) {
        state.switch_grant_pointer.push_back(behind(router.turns[p].granted, ports_));
        state.switch_accept_pointer.push_back(behind(router.turns[p].accepted, ports_));
        state.switch_turn.push_back(behind(vc_of_[router.turns[p].passed], vcs_));
    }
    return state;
}

void FlitNetwork::compare_state(const Router& router) {
    const RouterState model = state_of(router), external = router.rtl->external->state();
    const auto vc_name = [this](std::size_t i) {
        return " of port " + std::to_string(port_of_[i]) + " (" + side(port_of_[i]) + ") VC " +
               std::to_string(vc_of_[i]);
    };
    const auto port_name = [](std::size_t p) {
        return " of port " + std::to_string(p) + " (" + side(static_cast<unsigned>(p)) + ")";
    };
    const auto masks = [&](const char* signal, std::uint64_t ours, std::uint64_t theirs) {
        if (ours == theirs) return;
        const auto i = static_cast<unsigned>(__builtin_ctzll(ours ^ theirs));
        differ(router, signal + vc_name(i), std::to_string(ours >> i & 1), std::to_string(theirs >> i & 1));
    };
    const auto numbers = [&](const char* signal, const auto& ours, const auto& theirs, const auto& name) {
        for (std::size_t i = 0; i < ours.size(); ++i)
            if (ours[i] != theirs[i])
                differ(router, signal + name(i), std::to_string(ours[i]), std::to_string(theirs[i]));
    };
    masks("routing", model.routing, external.routing);
    masks("vc_alloc", model.vc_alloc, external.vc_alloc);
    masks("vc_wait", model.vc_wait, external.vc_wait);
    masks("switch_alloc", model.switch_alloc, external.switch_alloc);
    masks("switch_wait", model.switch_wait, external.switch_wait);
    masks("copying", model.copying, external.copying);
    masks("free output", model.free_vcs, external.free_vcs);
    numbers("held flits", model.held, external.held, vc_name);
    numbers("credits", model.credits, external.credits, vc_name);
    numbers("grant pointer of the VC allocator", model.vc_grant_pointer, external.vc_grant_pointer, vc_name);
    numbers("accept pointer of the VC allocator", model.vc_accept_pointer, external.vc_accept_pointer, vc_name);
    numbers("grant pointer of the switch", model.switch_grant_pointer, external.switch_grant_pointer, port_name);
    numbers("accept pointer of the switch", model.switch_accept_pointer, external.switch_accept_pointer, port_name);
    numbers("turn of the VCs", model.switch_turn, external.switch_turn, port_name);
}

std::string FlitNetwork::stuck_rtl() const {
    const Router* stuck = nullptr;
    std::string text;
    for (const Router& router : routers_) {
        if (router.rtl == nullptr || router.rtl->lockstep || router.rtl->traffic.held() == 0) continue;
        text += "; router " + topology_->router_name(number(router)) + " (RTL) has " + router.rtl->traffic.text();
        const bool movable = router.rtl->traffic.can_move(
            [&](const PinDestination& to) { return way_to(router, to); },
            [&](unsigned p, unsigned vc) { return router.outputs[p * vcs_ + vc].credits; });
        if (stuck == nullptr && movable) stuck = &router;
    }
    if (stuck == nullptr) return text;
    return text + "; router " + topology_->router_name(number(*stuck)) + " holds flits that could leave" +
           stuck->rtl->external->evidence();
}

std::string FlitNetwork::place_of(const Router& router) const {
    return "cycle " + std::to_string(cycle_) + ", router " + topology_->router_name(number(router)) + ": ";
}

void FlitNetwork::differ(const Router& router, const std::string& signal, const std::string& model,
                         const std::string& external) {
    throw RtlFault("lockstep: " + place_of(router) + signal + " differs. Model: " + model + ". RTL: " + external +
                   router.rtl->external->evidence());
}

void FlitNetwork::fail_rtl(const Router& router, const std::string& signal, const std::string& value) {
    throw RtlFault(place_of(router) + signal + " of the RTL is wrong: " + value + router.rtl->external->evidence());
}

}  // namespace switchyard::hw::flit
