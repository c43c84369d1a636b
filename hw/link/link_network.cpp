// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/link/link_network.h"

#include <utility>

#include <fmt/format.h>

#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {
namespace {

constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << LinkNetwork::kWindowBits) - 1;

/// An access goes on with the offset in the device's memory; who sent it gets its address back.
class LocalAddress {
public:
    explicit LocalAddress(::tlm::tlm_generic_payload& payload) : payload_(payload), address_(payload.get_address()) {
        payload_.set_address(address_ & kOffsetMask);
    }
    ~LocalAddress() { payload_.set_address(address_); }
    LocalAddress(const LocalAddress&) = delete;
    LocalAddress& operator=(const LocalAddress&) = delete;

private:
    ::tlm::tlm_generic_payload& payload_;
    std::uint64_t address_;
};

}  // namespace

LinkNetwork::LinkNetwork(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry,
                         std::shared_ptr<const sched::LinkTopology> topology)
    : sc_module(module_name),
      in("in", topology->devices()),
      out("out", topology->devices()),
      topology_(std::move(topology)),
      config_(config),
      registry_(registry),
      engine_(topology_, config.messages),
      next_("next") {
    require_picoseconds(*this);
    for (unsigned device = 0; device < topology_->devices(); ++device) {
        in[device].register_b_transport(this, &LinkNetwork::b_transport, static_cast<int>(device));
        in[device].register_transport_dbg(this, &LinkNetwork::debug_transport, static_cast<int>(device));
    }
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&next_);
    options.dont_initialize();
    sc_core::sc_spawn([this] { advance(); }, "advance", &options);
    registry.add(*this, "writes", "1", stats_.writes);
    registry.add(*this, "reads", "1", stats_.reads);
    registry.add(*this, "write_bytes", "bytes", stats_.write_bytes);
    registry.add(*this, "read_bytes", "bytes", stats_.read_bytes);
    for (unsigned i = 0; i < topology_->channels(); ++i) {
        const std::string channel = fmt::format("link_{}_{}", i / 2, i % 2 == 0 ? "forth" : "back");
        registry.add(*this, channel + "_bytes", "bytes", engine_.channel(i).bytes);
    }
    registry.add_waiter(*this, [this] {
        const std::string waiting = engine_.waiting();
        return engine_.in_flight() == 0
                   ? std::string()
                   : fmt::format("{} messages{}{}", engine_.in_flight(), waiting.empty() ? "" : ": ", waiting);
    });
}

void LinkNetwork::advance() {
    engine_.advance(present_picoseconds());
    for (const MessageEngine::Delivery& delivery : engine_.deliveries())
        arrivals_.extract(delivery.tag).mapped()->notify(sc_core::SC_ZERO_TIME);
    if (!engine_.idle()) next_.notify(until_picoseconds(engine_.next_event()));
}

void LinkNetwork::carry(unsigned from, unsigned to, std::uint64_t bytes) {
    sc_core::sc_event arrived;
    arrivals_.emplace(next_tag_, &arrived);
    engine_.send(present_picoseconds(), from, to, bytes, next_tag_++);
    next_.notify(sc_core::SC_ZERO_TIME);
    wait(arrived);
}

void LinkNetwork::b_transport(int device, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto from = static_cast<unsigned>(device);
    const std::uint64_t target = payload.get_address() >> kWindowBits;
    if (target >= topology_->devices()) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        registry_.add_error(*this, fmt::format("expected a device below {}, found device {} at {:#x}",
                                               topology_->devices(), target, payload.get_address()));
        return;
    }
    const auto to = static_cast<unsigned>(target);
    const bool moves = !payload.is_read() && !payload.is_write() ? false : payload.get_data_length() > 0;
    const bool linked = from != to && moves;
    if (linked) {
        // Links are shared in the order of time: the message starts when the access does.
        wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        ++(payload.is_write() ? stats_.writes : stats_.reads);
        (payload.is_write() ? stats_.write_bytes : stats_.read_bytes) += payload.get_data_length();
        carry(from, to, payload.is_write() ? payload.get_data_length() : config_.request_bytes);
    }
    {
        const LocalAddress local(payload);
        out[to]->b_transport(payload, delay);
    }
    if (linked && payload.is_read()) {
        wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        carry(to, from, payload.get_data_length());
    }
}

unsigned LinkNetwork::debug_transport(int, ::tlm::tlm_generic_payload& payload) {
    const std::uint64_t target = payload.get_address() >> kWindowBits;
    if (target >= topology_->devices()) return 0;
    const LocalAddress local(payload);
    return out[static_cast<unsigned>(target)]->transport_dbg(payload);
}

}  // namespace switchyard::hw
