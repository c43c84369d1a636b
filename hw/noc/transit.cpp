// SPDX-License-Identifier: Apache-2.0
// A packet's way through the routers, in the one call that injects it. Its times are planned first: the head's, link by
// link, then those of the flits behind it, a buffer full (a chunk) at a time. Then they are booked, and the packet is
// delivered.
//
// What makes packets wait is what makes flits wait (hw/noc/flit). A head waits for a VC of its traffic and dateline
// class, which belongs to the packet until its tail has left by the link; then for the packets before it in the buffer
// behind the link, each of which keeps the next head waiting for its route and VC. Flits wait for the link, for the
// input of the crossbar that they share with the other VCs of their port, and for slots in the next buffer, so that a
// packet that is longer than a buffer stands still all along its way when its head does. The copies of a multicast
// share the buffers before the fork: the slowest one holds up the others.

#include <algorithm>

#include "switchyard/hw/noc/router.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {
namespace {

constexpr unsigned kNone = 0xFFFFFFFF;
constexpr unsigned kAnyClass = 2;

}  // namespace

inline unsigned Router::port_to(const Journey& journey, const Target& target) const {
    const std::uint8_t port = ports_to_[journey.ways + target.router];
    return port == kHere ? target.local_port : port;
}

void Router::plan(Journey& journey, unsigned in_port, Tick start) {
    journey.lists.steps.clear();
    journey.lists.bookings.clear();
    Target* const first = journey.lists.targets.data();
    const Span all{first, first + journey.lists.targets.size()};
    if (in_port >= shared_->first_local) {
        const Tick edge = round_up(start, shared_->cycle);  // all that follows are whole cycles
        const std::size_t local = in_port - shared_->first_local;
        journey.turn = turns_[local][journey.group].first_gap(edge, journey.duration);
        cross(journey, injection_[local], &shared_->from_endpoint, shared_->vcs[journey.group][kAnyClass], all, kNone,
              journey.turn);
        fan_out(journey, all, 0);
    } else {
        journey.ready = start + shared_->router_latency;
        fan_out(journey, all, kNone);
    }
    follow(journey);
}

void Router::fan_out(Journey& journey, Span targets, unsigned before) {
    auto [first, last] = targets;
    if (last - first == 1) {
        first->port = static_cast<std::uint8_t>(port_to(journey, *first));
        return leave(journey, targets, before);
    }
    std::uint32_t ports = 0;
    for (Target* target = first; target != last; ++target) {
        target->port = static_cast<std::uint8_t>(port_to(journey, *target));
        ports |= 1u << target->port;
    }
    for (; (ports & (ports - 1)) != 0; ports &= ports - 1) {
        const auto port = static_cast<unsigned>(__builtin_ctz(ports));
        Target* const end = std::partition(first, last, [port](const Target& target) { return target.port == port; });
        leave(journey, {first, end}, before);
        first = end;
    }
    leave(journey, {first, last}, before);
}

void Router::leave(Journey& journey, Span targets, unsigned before) {
    const unsigned port = targets.first->port, first_local = journey.shared.first_local;
    if (port >= first_local && targets.last - targets.first != 1)
        refuse_twice(journey.payload, targets.first->endpoint);
    const bool crosses = std::any_of(targets.first, targets.last,
                                     [port](const Target& target) { return (target.second_class >> port & 1) != 0; });
    const VcRange& vcs = journey.shared.vcs[journey.group][port >= first_local ? kAnyClass : crosses ? 1 : 0];
    const std::vector<Step>& steps = journey.lists.steps;
    const auto step = static_cast<unsigned>(steps.size());
    Link& link = links_[port];
    const Tick ready = before == kNone ? journey.ready : steps[before].served;
    cross(journey, link, port >= first_local ? nullptr : &journey.shared.by_link, vcs, targets, before, ready);
    if (link.router) link.router->fan_out(journey, targets, step);
}

inline void Router::cross(Journey& journey, Link& link, const Onward* onward, const VcRange& vcs, Span targets,
                          unsigned before, Tick ready) {
    const Shared& shared = journey.shared;
    const Tick duration = journey.duration + shared.reallocation;
    unsigned chosen = link.next_vc - vcs.first < vcs.count ? link.next_vc - vcs.first : 0;
    Tick granted = link.vcs[vcs.first + chosen].owner.first_gap(ready, duration);
    for (unsigned i = 1, other = chosen; granted > ready && i < vcs.count; ++i) {
        if (++other == vcs.count) other = 0;
        const Tick free = link.vcs[vcs.first + other].owner.first_gap(ready, duration);
        if (free >= granted) continue;
        chosen = other;
        granted = free;
    }
    Vc& vc = link.vcs[vcs.first + chosen];
    std::vector<Step>& steps = journey.lists.steps;
    Step& step = steps.emplace_back(link, vc, onward, targets, before, granted);
    const Tick size = std::min(journey.duration, shared.buffer);
    if (!onward) {
        send(journey, step, granted, 0, size);
        step.head = step.chunk.begin;
        return;
    }
    const auto serve = [&](Tick earliest) {
        const LinkCalendar::Interval free = vc.front.first_free(earliest, journey.duration + shared.refill);
        step.served = free.begin;
        step.drained = free.end;
    };
    serve(granted + onward->head);
    Tick head = granted, last = 0;
    if (step.served > granted + onward->head) {
        // Others stand in the buffer: a flit follows when the one a buffer ahead of it has left.
        head = std::max(head, entry(journey, step, shared.buffer - shared.cycle));
        last = entry(journey, step, shared.buffer - size) + shared.cycle;
    }
    send(journey, step, head, last, size);
    step.head = step.chunk.begin;
    if (step.head + onward->head > step.served) serve(step.head + onward->head);
}

Router::Tick Router::entry(const Journey& journey, const Step& step, Tick ahead) {
    const Tick tails = std::max<Tick>(1, ceil_div(ahead, journey.duration));
    const Tick before = ahead + journey.shared.cycle + tails * journey.shared.refill;
    const Tick when = step.served + step.onward->credit;
    return when > before ? when - before : 0;
}

inline void Router::send(Journey& journey, Step& step, Tick ready, Tick end, Tick size) {
    Step* const before = step.before == kNone ? nullptr : &journey.lists.steps[step.before];
    LinkCalendar* const crossbar = before ? &before->link->crossbar : nullptr;
    if (before) {
        ready = std::max(ready, before->chunk.begin + before->onward->head);
        end = std::max(end, before->chunk.end + before->onward->head);
    }
    LinkCalendar& calendar = step.link->calendar;
    LinkCalendar::Interval free = calendar.first_free(ready, size);
    while (crossbar) {
        const LinkCalendar::Interval across = crossbar->first_free(free.begin, size);
        free.end = std::max(free.end, across.end);
        if (across.begin == free.begin) break;
        free = calendar.first_free(across.begin, size);
    }
    const Tick last = std::max(free.end, end);
    const auto extend = [&](LinkCalendar& of, LinkCalendar::Interval& booked) {
        const Tick begin = of.latest_begin(last, size);
        if (begin != booked.end) {
            if (booked.end > 0) {
                Booking& booking = journey.lists.bookings.emplace_back();
                booking.calendar = &of;
                booking.time.begin = booked.begin;
                booking.time.end = booked.end;
            }
            booked.begin = begin;
        }
        booked.end = last;
    };
    extend(calendar, step.booked);
    if (crossbar) extend(*crossbar, step.crossed);
    step.chunk = {free.begin, last};
    step.room = {0, 0};
    if (before) {
        const Tick credit = before->onward->credit;
        before->room.begin = std::max(before->room.begin, free.begin + credit);
        before->room.end = std::max(before->room.end, last + credit);
    }
}

bool Router::in_flow(const std::vector<Step>& steps, Tick left) const {
    bool last = true, smooth = true;
    for (const Step& step : steps) {
        const Tick end = step.chunk.end;
        // The slots behind keep coming and the link is free, so each chunk would leave right behind the one before
        // it. Behind all others on their links, flits also catch up with a chunk that had to make way for others.
        last = last && step.link->calendar.end() <= end;
        smooth = smooth && step.room.end <= end + shared_->buffer && step.link->calendar.free(end, end + left);
        if (step.before != kNone) {
            const LinkCalendar& crossbar = steps[step.before].link->crossbar;
            last = last && crossbar.end() <= end;
            smooth = smooth && crossbar.free(end, end + left);
        }
        if (step.room.begin > end || !(last || smooth)) return false;
    }
    return true;
}

void Router::follow(Journey& journey) const {
    std::vector<Step>& steps = journey.lists.steps;
    const Tick buffer = shared_->buffer;
    Tick size = std::min(journey.duration, buffer), left = journey.duration - size;
    for (; left > 0 && !in_flow(steps, left); left -= size) {
        size = std::min(left, buffer);
        const Tick missing = buffer - size;  // a last chunk that is shorter ends as much earlier
        for (Step& step : steps)
            send(journey, step, std::max(step.chunk.end, step.room.begin),
                 step.room.end > missing ? step.room.end - missing : 0, size);
    }
    for (std::size_t i = steps.size(); i-- > 0;) {
        Step& step = steps[i];
        step.chunk.end += left;
        step.booked.end += left;
        step.crossed.end += left;
        if (step.before == kNone) continue;
        Step& before = steps[step.before];
        before.drained = std::max(before.drained, step.chunk.end + shared_->refill);
    }
}

void Router::book(Journey& journey, unsigned in_port) {
    const std::uint64_t bytes = shared_->config.header_bytes + journey.packet.payload_bytes;
    const std::uint64_t cycles = journey.duration / shared_->cycle;
    for (const Booking& booking : journey.lists.bookings)
        booking.calendar->take(booking.time.begin, booking.time.end, journey.now);
    for (const Step& step : journey.lists.steps) {
        Link& link = *step.link;
        ++link.stats.packets;
        link.stats.bytes += bytes;
        link.stats.busy_cycles += cycles;
        link.calendar.take(step.booked.begin, step.booked.end, journey.now);
        if (step.before != kNone)
            journey.lists.steps[step.before].link->crossbar.take(step.crossed.begin, step.crossed.end, journey.now);
        step.vc->owner.take(step.granted, step.chunk.end + shared_->reallocation, journey.now);
        if (step.drained > 0) {
            step.vc->front.take(step.served, step.drained, journey.now);
            link.busy[step.vc - link.vcs.get()] += step.drained - step.served;
        }
        link.next_vc = static_cast<unsigned>(step.vc - link.vcs.get()) + 1;
    }
    if (in_port < shared_->first_local) return;
    turns_[in_port - shared_->first_local][journey.group].take(journey.turn, journey.lists.steps[0].chunk.end,
                                                               journey.now);
}

void Router::deliver(Journey& journey) {
    const bool multicast = journey.packet.destinations.size() > 1;
    journey.lists.given.swap(journey.packet.destinations);
    for (const Step& step : journey.lists.steps) {
        Outlet* const outlet = step.link->outlet;
        if (!outlet) continue;
        const Tick arrival = outlet->to_endpoint
                                 ? in_order(outlet->flows, 2u * journey.packet.source + journey.group,
                                            step.chunk.end + journey.shared.endpoint_link_latency, journey.now)
                                 : step.head + journey.shared.link_latency;
        call(*outlet, journey, step.behind, arrival);
    }
    journey.lists.given.swap(journey.packet.destinations);
    if (multicast) journey.payload.set_response_status(journey.response);
}

Router::Tick Router::in_order(std::vector<Flow>& flows, unsigned number, Tick arrival, Tick now) {
    auto kept = flows.begin();
    for (const Flow& flow : flows) {
        if (flow.number == number)
            arrival = std::max(arrival, flow.latest);
        else if (flow.latest > now)
            *kept++ = flow;
    }
    flows.erase(kept, flows.end());
    Flow& last = flows.emplace_back();  // in place, as Lists
    last.number = number;
    last.latest = arrival;
    return arrival;
}

void Router::call(const Outlet& outlet, Journey& journey, Span targets, Tick arrival) {
    std::vector<Endpoint>& destinations = journey.packet.destinations;
    destinations.clear();
    for (const Target* target = targets.first; target != targets.last; ++target)
        destinations.push_back(target->endpoint);
    journey.payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::sc_time::from_value(arrival - journey.now);
    outlet.next->b_transport(journey.payload, delay);
    if (journey.response == ::tlm::TLM_OK_RESPONSE) journey.response = journey.payload.get_response_status();
    journey.arrival = std::max<Tick>(journey.arrival, journey.now + delay.value());
}

}  // namespace switchyard::hw
