// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/scratchpad/scratchpad.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/kernel_store.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::hw {

Scratchpad::Scratchpad(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      pe_array("pe_array"),
      network_interface("network_interface"),
      dispatcher("dispatcher"),
      controller("controller"),
      config_(config),
      registry_(registry),
      cycle_(ClockPeriod(config.clock_ghz).cycles(1).value()),
      kernel_region_(kernel_store_bytes(config.kernel_share, config.capacity_bytes)),
      storage_(config.capacity_bytes) {
    tlm_utils::passthrough_target_socket_tagged<Scratchpad>* const sockets[kPorts] = {&pe_array, &network_interface,
                                                                                      &dispatcher, &controller};
    for (int port = 0; port < kPorts; ++port) {
        sockets[port]->register_b_transport(this, &Scratchpad::b_transport, port);
        sockets[port]->register_transport_dbg(this, &Scratchpad::transport_dbg, port);
        sockets[port]->register_get_direct_mem_ptr(this, &Scratchpad::get_direct_mem_ptr, port);
        const bool network = port == kNetworkInterface && config.network_bytes_per_cycle > 0;
        read_[port].bytes_per_cycle = network ? config.network_bytes_per_cycle : config.bytes_per_cycle;
        write_[port].bytes_per_cycle = network ? config.network_bytes_per_cycle : config.write_bytes_per_cycle;
    }
    register_counters(registry, this->name(), kCounters, [this] { return stats(); });
}

Scratchpad::Stats Scratchpad::stats() const {
    Stats stats = stats_;
    stats.busy_cycles = ceil_div(busy_time_, cycle_);
    return stats;
}

std::uint64_t Scratchpad::peak_bytes_per_cycle() const {
    std::uint64_t sum = 0;
    for (int port = 0; port < kPorts; ++port) sum += read_[port].bytes_per_cycle + write_[port].bytes_per_cycle;
    return sum;
}

void Scratchpad::b_transport(int port, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* repeat = payload.get_extension<RepeatExtension>();
    const bool has_values = repeat == nullptr || repeat->has_values;
    std::string why;
    ::tlm::tlm_response_status status = check(port, payload, why);
    if (status == ::tlm::TLM_OK_RESPONSE && has_values) {
        status = access_memory(payload, storage_.data() + payload.get_address());
        why = "expected byte enables with a length, found length 0";
    }
    payload.set_response_status(status);
    if (status != ::tlm::TLM_OK_RESPONSE) return registry_.add_error(*this, why);

    if (has_values) payload.set_dmi_allowed(true);
    const std::uint64_t repeats = repeat == nullptr ? 1 : repeat->repeats;
    const bool read = payload.is_read();
    Channel& channel = (read ? read_ : write_)[port];
    const std::uint64_t bytes = payload.get_data_length() * repeats;
    add_timing(channel, bytes, delay);
    if (repeat != nullptr) repeat->bytes_per_cycle = channel.bytes_per_cycle;
    (read ? stats_.read_bytes : stats_.write_bytes) += bytes;
    stats_.accesses += repeats;
}

void Scratchpad::add_timing(Channel& channel, std::uint64_t bytes, sc_core::sc_time& delay) {
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    const std::uint64_t start = std::max<std::uint64_t>(now + delay.value(), channel.free_at);
    const std::uint64_t end = start + bytes * cycle_ / channel.bytes_per_cycle;
    channel.free_at = end;
    const bool is_controllers = &channel == &write_[kController] || &channel == &read_[kController];
    if (end > busy_until_ && !is_controllers) {
        busy_time_ += end - std::max(start, busy_until_);
        busy_until_ = end;
    }
    const std::uint64_t wait = (start - now) * channel.bytes_per_cycle, rate = cycle_ * channel.bytes_per_cycle;
    const std::uint64_t cycles = ceil_div(wait + bytes * cycle_, rate) + config_.latency_cycles;
    delay = sc_core::sc_time::from_value(cycles * cycle_);
}

bool Scratchpad::may_write(int port, bool kernels) {
    return (port == kController) == kernels;
}

::tlm::tlm_response_status Scratchpad::check(int port, const ::tlm::tlm_generic_payload& payload,
                                             std::string& why) const {
    if (!payload.is_read() && !payload.is_write()) {
        why = "expected a read or a write, found TLM_IGNORE_COMMAND";
        return ::tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    const std::uint64_t first = payload.get_address();
    const std::uint64_t bytes = memory_span(payload);
    if (bytes == 0) {
        why = fmt::format("expected a burst of at least 1 byte, found length {} and streaming width {}",
                          payload.get_data_length(), payload.get_streaming_width());
        return ::tlm::TLM_BURST_ERROR_RESPONSE;
    }
    if (first >= config_.capacity_bytes || bytes > config_.capacity_bytes - first) {
        why = fmt::format("expected addresses below {:#x}, the scratchpad's, found {} bytes at {:#x}",
                          config_.capacity_bytes, bytes, first);
        return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
    const bool kernels = first < kernel_region_;
    const bool crosses = kernels && first + bytes > kernel_region_;
    if (payload.is_write() && (crosses || !may_write(port, kernels))) {
        why = fmt::format(
            "expected kernels of the controller below {:#x} and data of the other ports above, found a write of "
            "{} bytes to {:#x} by port {}",
            kernel_region_, bytes, first, port);
        return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
    return ::tlm::TLM_OK_RESPONSE;
}

unsigned Scratchpad::transport_dbg(int, ::tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (address >= config_.capacity_bytes) return 0;
    return debug_access_memory(payload, storage_.data() + address, config_.capacity_bytes - address);
}

bool Scratchpad::get_direct_mem_ptr(int port, ::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    dmi.init();
    if (address >= config_.capacity_bytes) {  // denied from here on
        dmi.set_start_address(config_.capacity_bytes);
        dmi.allow_read_write();
        return false;
    }
    const bool kernels = address < kernel_region_;
    const bool writes = may_write(port, kernels);
    dmi.set_start_address(kernels ? 0 : kernel_region_);
    dmi.set_end_address((kernels ? kernel_region_ : config_.capacity_bytes) - 1);
    if (payload.is_write() && !writes) {  // IEEE 1666-2011, 11.2.5: the access that is denied
        dmi.allow_write();
        return false;
    }
    writes ? dmi.allow_read_write() : dmi.allow_read();
    dmi.set_dmi_ptr(storage_.data() + dmi.get_start_address());
    const sc_core::sc_time latency = sc_core::sc_time::from_value((config_.latency_cycles + 1) * cycle_);
    dmi.set_read_latency(latency);
    dmi.set_write_latency(latency);
    return true;
}

}  // namespace switchyard::hw
