// A packet's way through the routers, in the one call that injects it. Its times are planned first: the head's, link by
// link, then those of the flits behind it, a buffer full (a chunk) at a time. Then they are booked, and the packet is
// delivered.
//
// What makes packets wait is what makes flits wait (hw/noc/flit): a head waits for a VC of its traffic and dateline
// class; flits wait for the link, and for places in the next buffer, so that a packet that is longer than a buffer
// stands still all along its way when its head does; the copies of a multicast share the buffers before the fork, so
// that the slowest one holds up the others. A VC stays taken until the next head can follow.

#include <algorithm>

#include "switchyard/hw/noc/router.h"

namespace switchyard::hw {
namespace {

constexpr unsigned kNone = 0xFFFFFFFF;
constexpr unsigned kAnyClass = 2;

}  // namespace

Router::Target Router::target(unsigned source, Endpoint endpoint, bool tree) const {
    Target target{};
    target.endpoint = endpoint;
    target.router = home_[endpoint];
    target.local_port = local_[endpoint];
    target.x_port = static_cast<std::uint8_t>(tree ? routes_.tree_x_port(source, target.router)
                                                   : routes_.x_port(source, target.router));
    target.y_port = static_cast<std::uint8_t>(routes_.y_port(source, target.router));
    target.x_crosses = routes_.crosses(source, target.router, target.x_port);
    target.y_crosses = routes_.crosses(source, target.router, target.y_port);
    return target;
}

unsigned Router::port_to(const Target& target) const {
    if (routes_.x(index_) != routes_.x(target.router)) return target.x_port;
    if (routes_.y(index_) != routes_.y(target.router)) return target.y_port;
    return target.local_port;
}

bool Router::plan(Journey& journey, unsigned in_port, Tick start) {
    std::vector<Step>& steps = journey.lists.steps;
    steps.clear();
    journey.lists.bookings.clear();
    Target* const first = journey.lists.targets.data();
    const Span all{first, first + journey.lists.targets.size()};
    if (in_port >= port::kLocal) {
        const Tick edge = (start + cycle_ - 1) / cycle_ * cycle_;  // all that follows are whole cycles
        Link& link = injection_[in_port - port::kLocal];
        const LinkCalendar& queue = link.turns[journey.group];
        journey.turn = journey.gaps ? queue.first_gap(edge, journey.duration) : std::max(edge, queue.end());
        const Tick left = cross(journey, link, vcs_[journey.group][kAnyClass], journey.turn,
                                endpoint_link_latency_ + router_latency_, kNone, all)
                              .head;
        fan_out(journey, all, 0, left + endpoint_link_latency_);
        follow(journey);
    } else {
        fan_out(journey, all, kNone, start);
        follow(journey);
    }
    return !journey.gaps || journey.duration <= buffer_ ||
           std::all_of(steps.begin(), steps.end(),
                       [](const Step& step) { return step.vc->free(step.granted, step.released); });
}

void Router::fan_out(Journey& journey, Span targets, unsigned before, Tick head) {
    auto [first, last] = targets;
    if (last - first == 1) return leave(journey, port_to(*first), targets, before, head);
    std::uint32_t ports = 0;
    for (const Target* target = first; target != last; ++target) ports |= 1u << port_to(*target);
    for (unsigned p = 0; ports >> p != 0; ++p) {
        if ((ports >> p & 1) == 0) continue;
        Target* const end = std::partition(first, last, [&](const Target& target) { return port_to(target) == p; });
        leave(journey, p, {first, end}, before, head);
        first = end;
    }
}

void Router::leave(Journey& journey, unsigned port, Span targets, unsigned before, Tick head) {
    Link& link = links_[port];
    const Tick ready = head + router_latency_;
    if (port >= port::kLocal) {
        if (targets.last - targets.first != 1)
            fail(journey.payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                 "destination " + std::to_string(targets.first->endpoint) + " stands twice in a packet");
        cross(journey, link, vcs_[journey.group][kAnyClass], ready, 0, before, targets);
        return;
    }
    const bool along_x = port == port::kEast || port == port::kWest;
    const bool crosses = std::any_of(targets.first, targets.last, [along_x](const Target& target) {
        return along_x ? target.x_crosses : target.y_crosses;
    });
    const Tick left = cross(journey, link, vcs_[journey.group][crosses ? 1 : 0], ready, link_latency_ + router_latency_,
                            before, targets)
                          .head;
    const auto step = static_cast<unsigned>(journey.lists.steps.size() - 1);
    if (link.router) link.router->fan_out(journey, targets, step, left + link_latency_);
}

const Router::Step& Router::cross(Journey& journey, Link& link, const VcRange& vcs, Tick ready, Tick onward,
                                  unsigned before, Span behind) const {
    std::vector<Step>& steps = journey.lists.steps;
    LinkCalendar* vc = nullptr;
    Tick granted = 0;
    for (unsigned v = vcs.first; v < vcs.first + vcs.count && (!vc || granted > ready); ++v) {
        LinkCalendar& other = link.vcs[v];
        const Tick free =
            journey.gaps ? other.first_gap(ready, journey.duration + reallocation_) : std::max(ready, other.end());
        if (vc && free >= granted) continue;
        vc = &other;
        granted = free;
    }
    const Tick size = std::min(journey.duration, buffer_);
    LinkCalendar::Interval chunk = link.calendar.first_free(granted, size);
    if (before != kNone) chunk.end = std::max(chunk.end, steps[before].chunk.end + steps[before].onward);
    steps.push_back({&link, vc, before, onward, granted, chunk.begin, chunk, {0, 0}, 0, behind});
    journey.lists.bookings.push_back({&link, {link.calendar.latest_begin(chunk.end, size), chunk.end}});
    return steps.back();
}

void Router::find_room(std::vector<Step>& steps) const {
    for (Step& step : steps) step.room = {0, 0};
    for (const Step& step : steps) {
        if (step.before == kNone) continue;
        Step& before = steps[step.before];
        // A buffer that is smaller than the loop of a head's credit throttles nobody who does not wait: the flits
        // behind the head catch up (flit::zero_load_cycles).
        const Tick credit = std::min<Tick>(credit_, buffer_ > before.onward ? buffer_ - before.onward : Tick{0});
        before.room.begin = std::max(before.room.begin, step.chunk.begin + credit);
        before.room.end = std::max(before.room.end, step.chunk.end + credit);
    }
}

void Router::follow(Journey& journey) const {
    std::vector<Step>& steps = journey.lists.steps;
    Tick left = journey.duration, size = std::min(left, buffer_);
    while ((left -= size) > 0) {
        find_room(steps);
        // Once nobody is in the way, all the rest goes in one.
        const bool free = std::all_of(steps.begin(), steps.end(), [](const Step& step) {
            return step.room.begin <= step.chunk.end && step.link->calendar.end() <= step.chunk.end;
        });
        size = free ? left : std::min(left, buffer_);
        for (Step& step : steps) {
            Tick ready = std::max(step.chunk.end, step.room.begin), last = 0;
            if (step.before != kNone) {
                const Step& before = steps[step.before];
                ready = std::max(ready, before.chunk.begin + before.onward);
                last = before.chunk.end + before.onward;
            }
            // A last chunk that is shorter ends as much earlier.
            if (!free && step.room.end > 0)
                last = std::max(last, step.room.end - std::min<Tick>(step.room.end, buffer_ - size));
            const LinkCalendar& calendar = step.link->calendar;
            step.chunk = calendar.first_free(ready, size);
            step.chunk.end = std::max(step.chunk.end, last);
            journey.lists.bookings.push_back(
                {step.link, {calendar.latest_begin(step.chunk.end, size), step.chunk.end}});
        }
    }
    for (std::size_t i = steps.size(); i-- > 0;) {
        Step& step = steps[i];
        step.released = std::max(step.released, step.chunk.end + reallocation_);
        if (step.before == kNone) continue;
        Step& before = steps[step.before];
        before.released = std::max(before.released, step.chunk.end - before.onward + refill_);
    }
}

void Router::book(Journey& journey, unsigned in_port) {
    const std::uint64_t bytes = config_.header_bytes + journey.packet.payload_bytes;
    for (const Step& step : journey.lists.steps) {
        ++step.link->stats.packets;
        step.link->stats.bytes += bytes;
        step.link->stats.busy_cycles += journey.duration / cycle_;
        step.vc->take(step.granted, step.released, journey.now);
    }
    for (const Booking& booking : journey.lists.bookings)
        booking.link->calendar.take(booking.time.begin, booking.time.end, journey.now);
    if (in_port < port::kLocal) return;
    const Step& injected = journey.lists.steps[0];
    injected.link->turns[journey.group].take(journey.turn, injected.chunk.end, journey.now);
}

void Router::deliver(Journey& journey) {
    const bool multicast = journey.packet.destinations.size() > 1;
    journey.lists.given.swap(journey.packet.destinations);
    for (const Step& step : journey.lists.steps) {
        if (step.link->router || !step.link->next) continue;
        if (step.link->last_of_flow.empty()) {  // a link to a router that is bound by hand
            call(*step.link, journey, step.behind, step.head + link_latency_);
            continue;
        }
        Tick& latest = step.link->last_of_flow[2 * journey.packet.source + journey.group];
        latest = std::max(latest, step.chunk.end + endpoint_link_latency_);
        call(*step.link, journey, step.behind, latest);
    }
    journey.lists.given.swap(journey.packet.destinations);
    if (multicast) journey.payload.set_response_status(journey.response);
}

void Router::call(Link& link, Journey& journey, Span targets, Tick arrival) {
    std::vector<Endpoint>& destinations = journey.packet.destinations;
    destinations.clear();
    for (const Target* target = targets.first; target != targets.last; ++target)
        destinations.push_back(target->endpoint);
    journey.payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::sc_time::from_value(arrival - journey.now);
    link.next->b_transport(journey.payload, delay);
    if (journey.response == ::tlm::TLM_OK_RESPONSE) journey.response = journey.payload.get_response_status();
    journey.arrival = std::max<Tick>(journey.arrival, journey.now + delay.value());
}

}  // namespace switchyard::hw
