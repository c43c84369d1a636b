// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "switchyard/hw/memory/hbm.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

namespace switchyard::testing {

/// Bytes a cycle of one interface: the pins less what refresh takes.
inline constexpr double kSustained = 76.8 * (1 - 455.0 / 4682);

/// A memory whose interfaces are all in the hands of the test. Arrival::at is the interface that sent the packet.
struct HbmBench {
    static constexpr Endpoint kFirst = 100;  ///< endpoint of interface 0

    hw::HbmConfig config;
    SimulationRegistry registry;
    hw::Hbm hbm;
    Ends ends;

    explicit HbmBench(const hw::HbmConfig& c = {})
        : config(c), hbm("hbm", c, registry, endpoints(kFirst, c)), ends("ends", c.interfaces()) {
        for (unsigned i = 0; i < c.interfaces(); ++i) {
            ends.out[i].bind(hbm.in[i]);
            hbm.out[i].bind(ends.in[i]);
        }
    }

    static std::vector<Endpoint> endpoints(Endpoint first, const hw::HbmConfig& c) {
        std::vector<Endpoint> all(c.interfaces());
        std::iota(all.begin(), all.end(), first);
        return all;
    }
    void request(unsigned interface, PooledPayload& payload, std::uint64_t delay_cycles = 0) {
        sc_core::sc_time delay = ends.clock().cycles(delay_cycles);
        ends.out[interface]->b_transport(*payload, delay);
        REQUIRE(payload->is_response_ok());
        REQUIRE(delay == ends.clock().cycles(delay_cycles));
    }
    PooledPayload read_packet(std::uint64_t address, std::uint64_t bytes, std::vector<Endpoint> reply_to = {1},
                              std::uint32_t tag = 0, bool values = false) {
        PooledPayload payload = ends.packet(1, {kFirst}, 0, tag, MemoryOperation::read);
        payload->set_address(address);
        payload.extension<MemoryExtension>().requested_bytes = bytes;
        payload.extension<MemoryExtension>().reply_to = std::move(reply_to);
        payload.packet().has_values = values;
        return payload;
    }
    void read(std::uint64_t address, std::uint64_t bytes, std::uint32_t tag = 0, std::uint64_t delay_cycles = 0,
              bool values = false) {
        PooledPayload payload = read_packet(address, bytes, {1}, tag, values);
        request(static_cast<unsigned>(address / config.region_bytes), payload, delay_cycles);
    }
    void write(std::uint64_t address, std::uint64_t bytes, std::uint32_t tag = 0, std::uint64_t delay_cycles = 0,
               std::vector<std::uint8_t> values = {}) {
        PooledPayload payload = ends.packet(7, {kFirst}, bytes, tag, MemoryOperation::write);
        payload->set_address(address);
        if (!values.empty()) {
            payload.packet().has_values = true;
            payload.packet().values = std::move(values);
            payload->set_data_ptr(payload.packet().values.data());
        }
        request(static_cast<unsigned>(address / config.region_bytes), payload, delay_cycles);
    }
    void run(std::function<void()> script) {
        ends.script = std::move(script);
        sc_core::sc_start();
    }

    /// Nanoseconds that one pseudo-channel needs for `bytes`, refresh share included.
    static double service_ns(const hw::HbmConfig& c, double bytes) {
        return bytes / (c.pseudo_channel_gb_per_s * (1 - c.refresh_share));
    }
    double service_ns(double bytes) const { return service_ns(config, bytes); }
};

inline std::uint64_t whole_cycles(double cycles) {
    return static_cast<std::uint64_t>(std::ceil(cycles));
}

/// Of which only the pins and the latencies count, so that times can be told to the cycle.
inline hw::HbmConfig one_interface() {
    hw::HbmConfig config;
    config.stacks = config.interfaces_per_stack = 1;
    config.device.clear();
    return config;
}

}  // namespace switchyard::testing
