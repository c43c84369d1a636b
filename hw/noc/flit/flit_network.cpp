// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_network.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"

namespace switchyard::hw::flit {
namespace {

void check_endpoint(unsigned endpoint, std::size_t endpoints) {
    if (endpoint >= endpoints)
        throw std::out_of_range(fmt::format("expected an endpoint below {}, found {}", endpoints, endpoint));
}

unsigned max_ports_of(const Topology& topology, const std::vector<unsigned>& router_of_endpoint) {
    std::vector<unsigned> endpoints(topology.routers());
    for (const unsigned router : router_of_endpoint) {
        if (router >= endpoints.size())
            throw std::invalid_argument(fmt::format("expected endpoints at routers below {}, found one at router {}",
                                                    endpoints.size(), router));
        ++endpoints[router];
    }
    return topology.router_ports() + (endpoints.empty() ? 0 : *std::max_element(endpoints.begin(), endpoints.end()));
}

unsigned longest_delay(const Config& config) {
    const unsigned link = std::max(config.link_cycles, config.endpoint_link_cycles);
    return config.switch_cycles + 1 + link + config.credit_cycles;
}

}  // namespace

FlitNetwork::FlitNetwork(const Config& config, const std::vector<unsigned>& router_of_endpoint)
    : FlitNetwork(config, make_topology(config.torus ? "torus" : "mesh", config.columns, config.rows),
                  router_of_endpoint) {}

FlitNetwork::FlitNetwork(const Config& config, TopologyPtr topology, const std::vector<unsigned>& router_of_endpoint)
    : config_(config),
      topology_(std::move(topology)),
      first_local_(topology_->router_ports()),
      vcs_(config.all_vcs()),
      ports_(max_ports_of(*topology_, router_of_endpoint)),
      router_vcs_(ports_ * vcs_),
      pool_(router_of_endpoint.size()),
      home_(router_of_endpoint.begin(), router_of_endpoint.end()),
      masks_(topology_, home_),
      flits_(longest_delay(config), std::size_t{topology_->routers()} * ports_),
      ejections_(longest_delay(config), router_of_endpoint.size()),
      credits_(longest_delay(config), std::size_t{topology_->routers()} * ports_),
      source_credits_(longest_delay(config), router_of_endpoint.size()),
      matching_(config.oldest_first, config.switch_iterations) {
    const std::string message = validation_error(config, *topology_, ports_);
    if (!message.empty()) throw std::invalid_argument(message);

    const auto set_ranges = [&](unsigned group, unsigned first, unsigned count) {
        const std::uint64_t all = low_bits(count) << first;
        const bool halves = topology_->vc_classes() == 2 && config.dateline;
        vc_range_[group][0] = halves ? low_bits(count / 2) << first : all;
        vc_range_[group][1] = halves ? all & ~vc_range_[group][0] : all;
        vc_range_[group][kAnyClass] = all;
    };
    set_ranges(0, 0, config.vcs);
    set_ranges(1, config.vcs, config.control_vcs);
    for (unsigned i = 0; i < router_vcs_; ++i) {
        port_of_[i] = static_cast<std::uint8_t>(i / vcs_);
        vc_of_[i] = static_cast<std::uint8_t>(i % vcs_);
    }
    while (buffer_slots_ < config.buffer_flits) buffer_slots_ *= 2;
    routers_.resize(topology_->routers());
    active_.resize((routers_.size() + 63) / 64);
    inputs_.resize(routers_.size() * kMaxVcs);
    heads_.resize(inputs_.size());
    outputs_.resize(inputs_.size());
    for (OutputVc& output : outputs_) output.credits = static_cast<std::uint16_t>(config.buffer_flits);
    packets_in_.resize(inputs_.size() * buffer_slots_);
    SwitchTurns fresh;  // turns begin with number 0
    fresh.granted = fresh.accepted = static_cast<std::uint8_t>(ports_ - 1);
    turns_.resize(routers_.size() * ports_, fresh);
    loads_.resize(turns_.size());
    for (Router& router : routers_) {
        const std::size_t vcs = number(router) * kMaxVcs, ports = number(router) * ports_;
        router.inputs = &inputs_[vcs];
        router.heads = &heads_[vcs];
        router.outputs = &outputs_[vcs];
        router.turns = &turns_[ports];
        for (unsigned p = 0; p < ports_; ++p) router.turns[p].passed = static_cast<std::uint8_t>((p + 1) * vcs_ - 1);
        router.free_vcs = low_bits(router_vcs_);
    }
    endpoint_of_.resize(routers_.size() * ports_);
    connect(router_of_endpoint);
}

void FlitNetwork::connect(const std::vector<unsigned>& router_of_endpoint) {
    for (Router& router : routers_) {
        for (unsigned p = 0; p < first_local_; ++p) {
            const std::optional<Topology::Far> far = topology_->behind(number(router), p);
            if (!far) continue;
            const std::uint32_t outputs = number(router) * kMaxVcs + p * vcs_;
            const std::uint32_t inputs = far->router * kMaxVcs + far->port * vcs_;
            for (unsigned vc = 0; vc < vcs_; ++vc) {
                outputs_[outputs + vc].target = inputs + vc;
                inputs_[inputs + vc].source = outputs + vc;
            }
        }
    }
    std::vector<unsigned> attached(topology_->routers());
    for (std::size_t e = 0; e < router_of_endpoint.size(); ++e) {
        const unsigned router = router_of_endpoint[e], local = first_local_ + attached[router]++;
        choosers_.push_back(topology_->make_chooser(router));
        local_.push_back(static_cast<std::uint8_t>(local));
        endpoint_of_[router * ports_ + local] = static_cast<std::uint16_t>(e);
        const std::uint32_t first = router * kMaxVcs + local * vcs_;
        for (unsigned vc = 0; vc < vcs_; ++vc) {
            outputs_[first + vc].target = kEndpoint | (first + vc);
            inputs_[first + vc].source = kEndpoint | (static_cast<std::uint32_t>(e) * kMaxVcs + vc);
        }
    }
    queues_.resize(home_.size() * kGroups);
    source_room_.resize(home_.size() * kMaxVcs, static_cast<std::uint16_t>(config_.buffer_flits));
    last_group_.resize(home_.size());
    sending_.resize((home_.size() + 63) / 64);
}

std::uint32_t FlitNetwork::make_packet(unsigned source, std::uint32_t flits, std::uint64_t tag, TrafficClass traffic,
                                       std::uint32_t padding) {
    if (flits == 0) throw std::invalid_argument("expected a packet of at least 1 flit, found 0");
    const std::uint32_t id = pool_.make();
    Packet& packet = pool_[id];
    packet.tag = tag;
    packet.sent = cycle_;
    packet.flits = flits;
    packet.padding = padding;
    packet.source_router = home_.at(source);
    packet.group = traffic == TrafficClass::control && config_.control_vcs > 0 ? 1 : 0;
    return id;
}

void FlitNetwork::send(unsigned source, unsigned destination, std::uint32_t flits, std::uint64_t tag,
                       TrafficClass traffic, std::uint32_t padding) {
    check_endpoint(destination, home_.size());
    const std::uint32_t id = make_packet(source, flits, tag, traffic, padding);
    set_destination(pool_[id], source, destination);
    enqueue(source, id);
}

void FlitNetwork::multicast(unsigned source, const std::uint16_t* destinations, std::size_t count, std::uint32_t flits,
                            std::uint64_t tag, TrafficClass traffic, std::uint32_t padding) {
    if (flits > config_.buffer_flits)
        throw std::invalid_argument(fmt::format(
            "expected a multicast packet of at most {} flits, as a buffer has, found {}", config_.buffer_flits, flits));
    if (count == 0) throw std::invalid_argument("expected a packet with a destination, found none");
    const std::uint32_t id = make_packet(source, flits, tag, traffic, padding);
    pool_[id].set = pool_.make_set();
    for (std::size_t i = 0; i < count; ++i) {
        check_endpoint(destinations[i], home_.size());
        pool_.insert(pool_[id].set, destinations[i]);
    }
    routers_of_multicast_.clear();
    for (std::size_t i = 0; i < count; ++i) routers_of_multicast_.push_back(home_[destinations[i]]);
    pool_[id].choice = static_cast<std::uint8_t>(choosers_[source]->choose(flits, routers_of_multicast_.data(), count));
    enqueue(source, id);
}

void FlitNetwork::enqueue(unsigned source, std::uint32_t packet) {
    queues_[source * kGroups + pool_[packet].group].packets.push_back(packet);
    sending_[source / 64] |= bit(source % 64);
    if (queued_packets_++ == 0 && flits_in_flight_ == 0) last_movement_ = cycle_;  // before, nothing was to move
}

bool FlitNetwork::idle() const {
    return queued_packets_ == 0 && flits_in_flight_ == 0 && credits_.empty() && source_credits_.empty() &&
           std::none_of(rtl_routers_.begin(), rtl_routers_.end(), [](const auto& rtl) { return rtl->busy(); });
}

void FlitNetwork::skip_to(std::uint64_t cycle) {
    if (!idle() || cycle < cycle_) throw std::logic_error("the network cannot skip cycles now");
    cycle_ = cycle;
}

std::size_t FlitNetwork::queued(unsigned endpoint) const {
    std::size_t count = 0;
    for (unsigned g = 0; g < kGroups; ++g) {
        const SourceQueue& queue = queues_[endpoint * kGroups + g];
        count += queue.packets.size() - queue.first;
    }
    return count;
}

std::uint64_t FlitNetwork::link_flits(unsigned router, unsigned port) const {
    const OutputVc* const vcs = routers_[router].outputs + port * vcs_;
    return std::accumulate(vcs, vcs + vcs_, std::uint64_t{0},
                           [](std::uint64_t sum, const OutputVc& vc) { return sum + vc.flits; });
}

void FlitNetwork::accept(std::uint32_t input_vc, std::uint32_t flit) {
    InputVc& input = inputs_[input_vc];
    if (seldom(is_head(flit))) packet_in(input_vc, heads_[input_vc].arrived++) = packet_of(flit);
    Router& router = routers_[input_vc / kMaxVcs];
    const unsigned vc = input_vc % kMaxVcs;
    if (seldom(input.awaited)) {
        input.awaited = false;
        wake(router, vc);
    }
    if (input.held++ != 0) return;
    if (seldom(is_head(flit)))
        head_at_front(router, vc, cycle_);
    else
        router.switch_alloc |= bit(vc) & ~(router.copying | router.switch_wait);
    activate(router);
}

/// Credits for it may be marked kExchanged.
void FlitNetwork::eject_flits() {
    EventWheel<FlitEvent>::Slot& flits = ejections_.at(cycle_);
    if (flits.size() == 0) return;
    EventWheel<std::uint32_t>::Slot& credits =
        credits_.at(cycle_ + 1 + config_.endpoint_link_cycles + config_.credit_cycles);
    stats_.ejected_flits += flits.size();
    flits_in_flight_ -= flits.size();
    last_movement_ = cycle_;
    for (const FlitEvent& event : flits) {
        const std::uint32_t output_vc = event.target & ~kEndpoint;
        credits.push(output_vc);
        if (!is_tail(event.flit)) continue;
        const std::uint32_t id = packet_of(event.flit), vc = output_vc & ~kExchanged;
        // In place: the copy of a Delivery that has just been written would wait until its fields are stored.
        Delivery& delivery = deliveries_.emplace_back();
        delivery.tag = pool_[id].tag;
        delivery.endpoint = endpoint_of_[vc / kMaxVcs * ports_ + port_of_[vc % kMaxVcs]];
        pool_.free(id);
    }
    flits.clear();
}

void FlitNetwork::begin_cycle() {
    deliveries_.clear();
    EventWheel<FlitEvent>::Slot& flits = flits_.at(cycle_);
    if (rtl_routers_.empty())
        for (const FlitEvent& event : flits) accept(event.target, event.flit);
    else
        for (const FlitEvent& event : flits)
            if (!accepted_by_rtl(event.target, event.flit)) accept(event.target, event.flit);
    flits.clear();
    eject_flits();

    EventWheel<std::uint32_t>::Slot& credits = credits_.at(cycle_);
    for (const std::uint32_t target : credits) {
        if (!seldom((target & kExchanged) != 0))
            give_credit(target);
        else
            credit_to_rtl(target & ~kExchanged);
    }
    credits.clear();
    EventWheel<std::uint32_t>::Slot& source_credits = source_credits_.at(cycle_);
    for (const std::uint32_t vc : source_credits) {
        ++source_room_[vc];
        const unsigned endpoint = vc / kMaxVcs;
        sending_[endpoint / 64] |= bit(endpoint % 64);
    }
    source_credits.clear();
    // In an order that does not depend on when a router hands its flits over.
    const auto by_place = [this](const Delivery& a, const Delivery& b) {
        return home_[a.endpoint] != home_[b.endpoint] ? home_[a.endpoint] < home_[b.endpoint]
                                                      : local_[a.endpoint] < local_[b.endpoint];
    };
    if (!std::is_sorted(deliveries_.begin(), deliveries_.end(), by_place))
        std::sort(deliveries_.begin(), deliveries_.end(), by_place);
}

/// What only tails and routers in lockstep need when traverse() has sent `flit`.
void FlitNetwork::after_flit(Router& router, unsigned vc, std::uint32_t flit) {
    const unsigned output = router.inputs[vc].out;
    if (router.rtl != nullptr) {
        expect_flit(router, output, flit, packet_of(flit));
        expect_credit(router, vc);
    }
    if (!is_tail(flit)) return;
    free_output_vc(router, output, packet_of(flit));
    if (router.inputs[vc].held > 0) head_at_front(router, vc, cycle_ + 1);
}

/// With the tail of `packet`.
void FlitNetwork::free_output_vc(Router& router, unsigned output, std::uint32_t packet) {
    router.free_vcs |= bit(output);
    router.no_vc = 0;
    router.outputs[output].holder = kNone;
    Load& load = loads_[number(router) * ports_ + port_of_[output]];
    ++load.packets;
    load.padding += pool_[packet].padding;
}

/// All stages decide on what was there when the cycle began: what one hands on, the next one sees a cycle later.
void FlitNetwork::step_router(Router& router) {
    if (seldom(router.rtl != nullptr)) {
        step_rtl(router);
        if (!router.rtl->lockstep) return;
    }
    const std::uint64_t at_switch = router.switch_alloc & ~router.asleep;
    if (seldom((router.routing | (router.vc_alloc & ~router.no_vc) | router.vc_wait) != 0)) step_heads(router);
    if (at_switch != 0) allocate_switch(router, at_switch);
    if (seldom(router.switch_wait != 0)) answer_switch(router);
}

/// With look-ahead the route of a head is known on arrival.
void FlitNetwork::step_heads(Router& router) {
    if (config_.routing_cycles == 0 && router.routing != 0) compute_routes(router);
    if ((router.vc_alloc & ~router.no_vc) != 0) allocate_vcs(router);
    if (router.vc_wait != 0) answer_vcs(router);
    if (config_.routing_cycles != 0 && router.routing != 0) compute_routes(router);
}

void FlitNetwork::end_cycle() {
    const std::uint64_t shown = cycle_ + config_.switch_cycles + 1;
    flits_out_ = &flits_.at(shown + config_.link_cycles);
    ejections_out_ = &ejections_.at(shown + config_.endpoint_link_cycles);
    credits_out_ = &credits_.at(cycle_ + 1 + config_.link_cycles + config_.credit_cycles);
    source_credits_out_ = &source_credits_.at(cycle_ + 1 + config_.endpoint_link_cycles + config_.credit_cycles);
    inject();
    const std::size_t to_routers = flits_out_->size(), to_endpoints = ejections_out_->size();
    for (std::size_t w = 0; w < active_.size(); ++w) {
        for (std::uint64_t mask = active_[w]; mask != 0;) {
            const unsigned i = take_first(mask);
            Router& router = routers_[64 * w + i];
            step_router(router);
            if (!router.active()) active_[w] &= ~bit(i);
        }
    }
    stats_.hop_flits += flits_out_->size() - to_routers;
    if (flits_out_->size() + ejections_out_->size() > to_routers + to_endpoints) last_movement_ = cycle_;
    if (config_.watchdog_cycles > 0 && cycle_ - last_movement_ >= config_.watchdog_cycles &&
        (flits_in_flight_ > 0 || queued_packets_ > 0))
        throw NoProgress(no_progress_report());
    ++cycle_;
}

}  // namespace switchyard::hw::flit
