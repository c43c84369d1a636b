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

unsigned Router::port_to(const Target& target) const {
    if (x_ != target.x) return target.x_port;
    if (y_ != target.y) return target.y_port;
    return target.local_port;
}

bool Router::plan(Journey& journey, unsigned in_port, Tick start) {
    journey.lists.steps.clear();
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
    } else {
        fan_out(journey, all, kNone, start);
    }
    return follow(journey);
}

void Router::fan_out(Journey& journey, Span targets, unsigned before, Tick head) {
    auto [first, last] = targets;
    std::uint32_t ports = 0;
    for (Target* target = first; target != last; ++target) {
        target->port = static_cast<std::uint8_t>(port_to(*target));
        ports |= 1u << target->port;
    }
    while (ports != 0) {
        const auto port = static_cast<unsigned>(__builtin_ctz(ports));
        ports &= ports - 1;
        Target* end = last;
        if (ports != 0) end = std::partition(first, last, [port](const Target& target) { return target.port == port; });
        leave(journey, port, {first, end}, before, head);
        first = end;
    }
}

void Router::leave(Journey& journey, unsigned port, Span targets, unsigned before, Tick head) {
    const bool ejected = port >= port::kLocal, along_x = port == port::kEast || port == port::kWest;
    if (ejected && targets.last - targets.first != 1) refuse_twice(journey.payload, targets.first->endpoint);
    const bool crosses = std::any_of(targets.first, targets.last, [along_x](const Target& target) {
        return along_x ? target.x_crosses : target.y_crosses;
    });
    const VcRange& vcs = vcs_[journey.group][ejected ? kAnyClass : crosses ? 1 : 0];
    Link& link = links_[port];
    const auto step = static_cast<unsigned>(journey.lists.steps.size());
    const Tick onward = ejected ? 0 : link_latency_ + router_latency_;
    const Tick left = cross(journey, link, vcs, head + router_latency_, onward, before, targets).head;
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
    // A buffer that is smaller than the loop of a head's credit throttles nobody who does not wait: the flits behind
    // the head catch up (flit::zero_load_cycles).
    const Tick credit = std::min(credit_, buffer_ > onward ? buffer_ - onward : Tick{0});
    const Tick end = before == kNone ? 0 : steps[before].chunk.end + steps[before].onward;
    steps.push_back({&link, vc, before, onward, credit, granted, 0, 0, behind});
    Step& step = steps.back();
    send(journey, step, granted, end, std::min(journey.duration, buffer_));
    step.head = step.chunk.begin;
    return step;
}

void Router::send(Journey& journey, Step& step, Tick ready, Tick end, Tick size) {
    const LinkCalendar& calendar = step.link->calendar;
    step.chunk = calendar.first_free(ready, size);
    step.room = {0, 0};
    Tick begin = step.chunk.begin;
    if (step.chunk.end < end) {
        step.chunk.end = end;
        begin = calendar.latest_begin(end, size);
    }
    if (begin != step.booked.end) {
        if (step.booked.end > 0) journey.lists.bookings.push_back({step.link, step.booked});
        step.booked.begin = begin;
    }
    step.booked.end = step.chunk.end;
}

bool Router::find_room(std::vector<Step>& steps) {
    bool free = true;
    for (std::size_t i = steps.size(); i-- > 0;) {
        const Step& step = steps[i];
        free = free && step.room.begin <= step.chunk.end && step.link->calendar.end() <= step.chunk.end;
        if (step.before == kNone) continue;
        Step& before = steps[step.before];
        before.room.begin = std::max(before.room.begin, step.chunk.begin + before.credit);
        before.room.end = std::max(before.room.end, step.chunk.end + before.credit);
    }
    return free;
}

bool Router::follow(Journey& journey) const {
    std::vector<Step>& steps = journey.lists.steps;
    Tick left = journey.duration, size = std::min(left, buffer_);
    while ((left -= size) > 0) {
        // Once nobody is in the way, all the rest goes in one.
        const bool free = find_room(steps);
        size = free ? left : std::min(left, buffer_);
        for (Step& step : steps) {
            Tick ready = std::max(step.chunk.end, step.room.begin), end = 0;
            if (step.before != kNone) {
                const Step& before = steps[step.before];
                ready = std::max(ready, before.chunk.begin + before.onward);
                end = before.chunk.end + before.onward;
            }
            // A last chunk that is shorter ends as much earlier.
            if (!free && step.room.end > 0)
                end = std::max(end, step.room.end - std::min(step.room.end, buffer_ - size));
            send(journey, step, ready, end, size);
        }
    }
    const bool ask = journey.gaps && journey.duration > buffer_;
    bool released_in_time = true;
    for (std::size_t i = steps.size(); i-- > 0;) {
        Step& step = steps[i];
        step.released = std::max(step.released, step.chunk.end + reallocation_);
        if (ask && released_in_time) released_in_time = step.vc->free(step.granted, step.released);
        if (step.before == kNone) continue;
        Step& before = steps[step.before];
        before.released = std::max(before.released, step.chunk.end - before.onward + refill_);
    }
    return released_in_time;
}

void Router::book(Journey& journey, unsigned in_port) {
    const std::uint64_t bytes = config_.header_bytes + journey.packet.payload_bytes;
    const std::uint64_t cycles = journey.duration / cycle_;
    for (const Booking& booking : journey.lists.bookings)
        booking.link->calendar.take(booking.time.begin, booking.time.end, journey.now);
    for (const Step& step : journey.lists.steps) {
        ++step.link->stats.packets;
        step.link->stats.bytes += bytes;
        step.link->stats.busy_cycles += cycles;
        step.link->calendar.take(step.booked.begin, step.booked.end, journey.now);
        step.vc->take(step.granted, step.released, journey.now);
    }
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
