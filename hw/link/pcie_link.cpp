// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/link/pcie_link.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

double pcie_link_gb_per_s(const PcieLink::Config& config) {
    constexpr double kGigatransfers[] = {2.5, 5, 8, 16, 32};
    const double encoding = config.generation <= 2 ? 8.0 / 10 : 128.0 / 130;
    return config.lanes * kGigatransfers[config.generation - 1] * encoding / 8 * (1 - config.dllp_share);
}

double pcie_payload_share(const PcieLink::Config& config) {
    return static_cast<double>(config.max_payload_bytes) / (config.max_payload_bytes + config.tlp_overhead_bytes);
}

std::string validation_error(const PcieLink::Config& config) {
    const auto power_of_two = [](unsigned value) { return value > 0 && (value & (value - 1)) == 0; };
    if (config.generation < 1 || config.generation > 5)
        return fmt::format("generation: expected 1 to 5, found {}", config.generation);
    if (!power_of_two(config.max_payload_bytes))
        return fmt::format("max_payload_bytes: expected a power of two, found {}", config.max_payload_bytes);
    if (!power_of_two(config.max_read_request_bytes))
        return fmt::format("max_read_request_bytes: expected a power of two, found {}", config.max_read_request_bytes);
    return "";
}

PcieLink::PcieLink(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry)
    : sc_module(module_name),
      from_host("from_host"),
      to_device("to_device"),
      from_device("from_device"),
      to_host("to_host"),
      config_(config),
      bytes_per_ns_(0) {
    const std::string message = validation_error(config);
    if (!message.empty()) throw ModelError(*this, message);
    bytes_per_ns_ = pcie_link_gb_per_s(config);
    from_host.register_b_transport(this, &PcieLink::host_access);
    from_device.register_b_transport(this, &PcieLink::device_access);
    from_host.register_transport_dbg(this, &PcieLink::host_debug);
    from_device.register_transport_dbg(this, &PcieLink::device_debug);

    registry.add(*this, "to_device_bytes", "bytes", stats_.to_device_bytes);
    registry.add(*this, "to_host_bytes", "bytes", stats_.to_host_bytes);
    registry.add(*this, "to_device_wire_bytes", "bytes", stats_.to_device_wire_bytes);
    registry.add(*this, "to_host_wire_bytes", "bytes", stats_.to_host_wire_bytes);
    registry.add(*this, "reads", "1", stats_.reads);
    registry.add(*this, "writes", "1", stats_.writes);
}

sc_core::sc_time PcieLink::carry(Direction direction, std::uint64_t wire_bytes, const sc_core::sc_time& from) {
    (direction == kToDevice ? stats_.to_device_wire_bytes : stats_.to_host_wire_bytes) += wire_bytes;
    free_[direction] = std::max(free_[direction], from) +
                       nanoseconds(static_cast<double>(wire_bytes) / bytes_per_ns_, "bytes on the host link");
    return free_[direction] + nanoseconds(config_.latency_ns, "latency_ns");
}

void PcieLink::access(Payload& payload, sc_core::sc_time& delay, Socket& out, Direction forward) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
        out->b_transport(payload, delay);
        return;
    }
    const Direction back = forward == kToDevice ? kToHost : kToDevice;
    const std::uint64_t bytes = payload.get_data_length();
    const auto with_overhead = [&](std::uint64_t payload_bytes, std::uint64_t unit) {
        return payload_bytes + ceil_div(bytes, unit) * config_.tlp_overhead_bytes;
    };
    const bool write = payload.is_write();
    const std::uint64_t request =
        write ? with_overhead(bytes, config_.max_payload_bytes) : with_overhead(0, config_.max_read_request_bytes);
    const Direction data = write ? forward : back;
    (data == kToDevice ? stats_.to_device_bytes : stats_.to_host_bytes) += bytes;
    ++(write ? stats_.writes : stats_.reads);

    const sc_core::sc_time now = sc_core::sc_time_stamp();
    // A read is there with its first request TLP; the others follow while it is answered.
    const sc_core::sc_time arrived = carry(forward, write ? request : config_.tlp_overhead_bytes, now + delay);
    if (!write && request > config_.tlp_overhead_bytes)
        carry(forward, request - config_.tlp_overhead_bytes, now + delay);
    delay = arrived - now;
    // What is behind the link sees the access when it arrives.
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    out->b_transport(payload, delay);
    if (write) return;
    const sc_core::sc_time answered = sc_core::sc_time_stamp() + delay;
    delay = carry(back, with_overhead(bytes, config_.max_payload_bytes), answered) - sc_core::sc_time_stamp();
}

}  // namespace switchyard::hw
