// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/flit/traversal.h"

namespace switchyard::hw::flit {
namespace {

unsigned max_ports_of(const Topology& topology, const std::vector<unsigned>& router_of_endpoint) {
    std::vector<unsigned> endpoints(topology.routers());
    for (const unsigned router : router_of_endpoint) {
        if (router >= endpoints.size())
            throw std::invalid_argument("an endpoint at router " + std::to_string(router) + " of " +
                                        std::to_string(endpoints.size()));
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
      flits_(longest_delay(config)),
      credit_events_(longest_delay(config)) {
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
    answers_.resize(inputs_.size());
    outputs_.resize(inputs_.size());
    for (OutputVc& output : outputs_) output.credits = static_cast<std::uint16_t>(config.buffer_flits);
    buffers_.resize(inputs_.size() * buffer_slots_);
    ports_of_routers_.resize(routers_.size() * ports_);
    loads_.resize(ports_of_routers_.size());
    for (Router& router : routers_) {
        const std::size_t vcs = number(router) * kMaxVcs, ports = number(router) * ports_;
        router.inputs = &inputs_[vcs];
        router.answers = &answers_[vcs];
        router.outputs = &outputs_[vcs];
        router.buffers = &buffers_[vcs * buffer_slots_];
        router.ports = &ports_of_routers_[ports];
        router.loads = &loads_[ports];
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
            router.ports[p].link_cycles = config_.link_cycles;
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
        home_.push_back(static_cast<std::uint16_t>(router));
        choosers_.push_back(topology_->make_chooser(router));
        local_.push_back(static_cast<std::uint8_t>(local));
        endpoint_of_[router * ports_ + local] = static_cast<std::uint16_t>(e);
        routers_[router].ports[local].link_cycles = config_.endpoint_link_cycles;
        const std::uint32_t first = router * kMaxVcs + local * vcs_;
        for (unsigned vc = 0; vc < vcs_; ++vc) {
            outputs_[first + vc].target = kEndpoint | (first + vc);
            inputs_[first + vc].source = kEndpoint | (static_cast<std::uint32_t>(e) * kMaxVcs + vc);
        }
    }
    queues_.resize(home_.size() * kGroups);
    source_credits_.resize(home_.size() * kMaxVcs, static_cast<std::uint16_t>(config_.buffer_flits));
    last_group_.resize(home_.size());
    sending_.resize((home_.size() + 63) / 64);
}

std::uint32_t FlitNetwork::make_packet(unsigned source, std::uint32_t flits, std::uint64_t tag, TrafficClass traffic,
                                       std::uint32_t padding) {
    if (flits == 0) throw std::invalid_argument("a packet without flits");
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
    if (destination >= home_.size()) throw std::out_of_range("no endpoint " + std::to_string(destination));
    const std::uint32_t id = make_packet(source, flits, tag, traffic, padding);
    set_destination(pool_[id], source, destination);
    enqueue(source, id);
}

void FlitNetwork::multicast(unsigned source, const std::uint16_t* destinations, std::size_t count, std::uint32_t flits,
                            std::uint64_t tag, TrafficClass traffic, std::uint32_t padding) {
    if (flits > config_.buffer_flits)
        throw std::invalid_argument("a multicast packet of " + std::to_string(flits) + " flits does not fit a buffer");
    if (count == 0) throw std::invalid_argument("a packet without destination");
    const std::uint32_t id = make_packet(source, flits, tag, traffic, padding);
    pool_[id].set = pool_.make_set();
    for (std::size_t i = 0; i < count; ++i) {
        if (destinations[i] >= home_.size()) throw std::out_of_range("no endpoint " + std::to_string(destinations[i]));
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
    return queued_packets_ == 0 && flits_in_flight_ == 0 && credit_events_.empty() &&
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

void FlitNetwork::accept(std::uint32_t input_vc, std::uint32_t flit) {
    Router& router = routers_[input_vc / kMaxVcs];
    const unsigned vc = input_vc % kMaxVcs;
    if (!rtl_routers_.empty() && router.rtl) {
        flit_to_rtl(*router.rtl, vc, flit);
        activate(router);
        if (!router.rtl->lockstep) return;
    }
    InputVc& input = inputs_[input_vc];
    slot(buffers_.data(), input_vc, input.gone + input.held) = flit;
    if (input.awaited) {
        input.awaited = false;
        wake(router, vc);
    }
    if (input.held++ != 0) return;
    if (is_head(flit))
        head_at_front(router, vc, cycle_);
    else
        router.switch_alloc |= bit(vc) & ~(router.copying | router.switch_wait);
    activate(router);
}

/// `output_vc` may be marked kExchanged.
void FlitNetwork::eject(std::uint32_t output_vc, std::uint32_t flit) {
    credit_events_.push(cycle_ + 1 + config_.endpoint_link_cycles + config_.credit_cycles, output_vc);
    ++stats_.ejected_flits;
    --flits_in_flight_;
    last_movement_ = cycle_;
    if (!is_tail(flit)) return;
    const std::uint32_t id = packet_of(flit), vc = output_vc & ~kExchanged;
    deliveries_.push_back({pool_[id].tag, endpoint_of_[vc / kMaxVcs * ports_ + port_of_[vc % kMaxVcs]]});
    pool_.free(id);
}

void FlitNetwork::give_source_credit(std::uint32_t vc) {
    ++source_credits_[vc];
    const unsigned endpoint = vc / kMaxVcs;
    sending_[endpoint / 64] |= bit(endpoint % 64);
}

void FlitNetwork::begin_cycle() {
    deliveries_.clear();
    flits_.serve(cycle_, [this](const FlitEvent& event) {
        if ((event.target & kEndpoint) == 0)
            accept(event.target, event.flit);
        else
            eject(event.target & ~kEndpoint, event.flit);
    });
    credit_events_.serve(cycle_, [this](std::uint32_t target) {
        if ((target & (kEndpoint | kExchanged)) == 0)
            give_credit(target);
        else if ((target & kEndpoint) != 0)
            give_source_credit(target & ~kEndpoint);
        else
            credit_to_rtl(target & ~kExchanged);
    });
    // In an order that does not depend on when a router hands its flits over.
    const auto by_place = [this](const Delivery& a, const Delivery& b) {
        return home_[a.endpoint] != home_[b.endpoint] ? home_[a.endpoint] < home_[b.endpoint]
                                                      : local_[a.endpoint] < local_[b.endpoint];
    };
    if (!std::is_sorted(deliveries_.begin(), deliveries_.end(), by_place))
        std::sort(deliveries_.begin(), deliveries_.end(), by_place);
}

/// All stages decide on what was there when the cycle began: what one hands on, the next one sees a cycle later.
void FlitNetwork::step_router(Router& router) {
    if (router.rtl) {
        step_rtl(router);
        if (!router.rtl->lockstep) return;
    }
    const std::uint64_t at_switch = router.switch_alloc & ~router.asleep;
    if ((router.routing | (router.vc_alloc & ~router.no_vc) | router.vc_wait) != 0) step_heads(router);
    if (at_switch != 0) allocate_switch(router, at_switch);
    if (router.switch_wait != 0) answer_switch(router);
}

/// With look-ahead the route of a head is known on arrival.
void FlitNetwork::step_heads(Router& router) {
    if (config_.routing_cycles == 0 && router.routing != 0) compute_routes(router);
    if ((router.vc_alloc & ~router.no_vc) != 0) allocate_vcs(router);
    if (router.vc_wait != 0) answer_vcs(router);
    if (config_.routing_cycles != 0 && router.routing != 0) compute_routes(router);
}

void FlitNetwork::end_cycle() {
    inject();
    for (std::size_t w = 0; w < active_.size(); ++w) {
        for (std::uint64_t mask = active_[w]; mask != 0;) {
            const unsigned i = take_first(mask);
            Router& router = routers_[64 * w + i];
            step_router(router);
            if (!router.active()) active_[w] &= ~bit(i);
        }
    }
    if (config_.watchdog_cycles > 0 && cycle_ - last_movement_ >= config_.watchdog_cycles &&
        (flits_in_flight_ > 0 || queued_packets_ > 0))
        throw NoProgress(no_progress_report());
    ++cycle_;
}

}  // namespace switchyard::hw::flit
