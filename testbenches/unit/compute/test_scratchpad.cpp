// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/compute_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using ::tlm::TLM_READ_COMMAND;
using ::tlm::TLM_WRITE_COMMAND;

namespace {

constexpr std::uint64_t kCapacity = 524288;
constexpr std::uint64_t kKernelRegion = 204 * 128;  // 5 % of 512 kB, whole kernels

ComputeConfig network_port_of_192_bytes() {
    ComputeConfig config;
    config.scratchpad.network_bytes_per_cycle = 192;
    return config;
}

struct Started : ComputeBench {
    Started() : ComputeBench("bench", network_port_of_192_bytes()) { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
};

}  // namespace

SIM_TEST("scratchpad keeps what is written, and its kernel region for kernels", "[scratchpad]") {
    Started bench;
    CHECK(bench.scratchpad.kernel_region_bytes() == kKernelRegion);
    std::array<std::uint8_t, 256> out{}, in{};
    std::iota(out.begin(), out.end(), std::uint8_t{0});

    CHECK(bench.access(bench.network, TLM_WRITE_COMMAND, kCapacity - 256, out.data(), 256).status ==
          ::tlm::TLM_OK_RESPONSE);
    CHECK(bench.access(bench.network, TLM_READ_COMMAND, kCapacity - 256, in.data(), 256).status ==
          ::tlm::TLM_OK_RESPONSE);
    CHECK(in == out);

    // Beyond the end, or across it.
    for (const std::uint64_t address : {kCapacity, kCapacity - 255, ~std::uint64_t{0}, ~std::uint64_t{0} - 200})
        CHECK(bench.access(bench.network, TLM_WRITE_COMMAND, address, out.data(), 256).status ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);

    // 204 kernels fit, and only the controller writes there; it writes nowhere else.
    CHECK(bench.access(bench.controller, TLM_WRITE_COMMAND, kKernelRegion - 128, out.data(), 128).status ==
          ::tlm::TLM_OK_RESPONSE);
    CHECK(bench.access(bench.controller, TLM_WRITE_COMMAND, kKernelRegion, out.data(), 128).status ==
          ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.access(bench.controller, TLM_WRITE_COMMAND, kKernelRegion - 1, out.data(), 2).status ==
          ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.access(bench.network, TLM_WRITE_COMMAND, kKernelRegion - 1, out.data(), 2).status ==
          ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.access(bench.network, TLM_WRITE_COMMAND, kKernelRegion, out.data(), 2).status ==
          ::tlm::TLM_OK_RESPONSE);
    CHECK(bench.access(bench.network, TLM_READ_COMMAND, kKernelRegion - 128, in.data(), 128).status ==
          ::tlm::TLM_OK_RESPONSE);
    CHECK(std::equal(in.begin(), in.begin() + 128, out.begin()));
    CHECK(bench.registry.errors().size() == 7);
    CHECK_THAT(bench.registry.errors().front(),
               Catch::Matchers::ContainsSubstring("bench.scratchpad: expected addresses below "));
}

SIM_TEST("scratchpad applies byte enables and streaming width", "[scratchpad]") {
    Started bench;
    std::array<std::uint8_t, 8> data{1, 2, 3, 4, 5, 6, 7, 8}, back{};
    std::array<std::uint8_t, 2> enables{0, TLM_BYTE_ENABLED};
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(kKernelRegion);
    payload.set_data_ptr(data.data());
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.set_byte_enable_ptr(enables.data());
    payload.set_byte_enable_length(2);
    CHECK(bench.transport(bench.network, payload).status == ::tlm::TLM_OK_RESPONSE);
    bench.access(bench.network, TLM_READ_COMMAND, kKernelRegion, back.data(), 8);
    CHECK(back == std::array<std::uint8_t, 8>{0, 2, 0, 4, 0, 6, 0, 8});

    ::tlm::tlm_generic_payload stream;
    stream.set_write();
    stream.set_address(kCapacity - 4);  // the burst of 8 wraps at 4: it stays inside
    stream.set_data_ptr(data.data());
    stream.set_data_length(8);
    stream.set_streaming_width(4);
    CHECK(bench.transport(bench.network, stream).status == ::tlm::TLM_OK_RESPONSE);
    bench.access(bench.network, TLM_READ_COMMAND, kCapacity - 4, back.data(), 4);
    CHECK(std::equal(back.begin(), back.begin() + 4, data.begin() + 4));
}

SIM_TEST("scratchpad timing: latency, width, one burst after another on a channel", "[scratchpad]") {
    Started bench;
    std::array<std::uint8_t, 1000> data{};
    // Controller reads at 128 B a cycle; dispatcher and PE array alike, the network interface at 192 B.
    CHECK(bench.access(bench.controller, TLM_READ_COMMAND, 0, data.data(), 128).cycles == 1 + 1);
    // The second burst waits for the first, on this port and in this direction only.
    CHECK(bench.access(bench.controller, TLM_READ_COMMAND, 0, data.data(), 256).cycles == 1 + 2 + 1);
    CHECK(bench.access(bench.controller, TLM_WRITE_COMMAND, 0, data.data(), 128).cycles == 2 + 1);
    CHECK(bench.access(bench.network, TLM_READ_COMMAND, 0, data.data(), 1000).cycles == 6 + 1);
    const auto& stats = bench.scratchpad.stats();
    CHECK(stats.read_bytes == 128 + 256 + 1000);
    CHECK(stats.write_bytes == 128);
    CHECK(stats.accesses == 4);
    CHECK(stats.busy_cycles == 6);  // of the union of [0, 3), [0, 2) and [0, 5.2)
    CHECK(bench.scratchpad.peak_bytes_per_cycle() == 3 * (128 + 64) + 2 * 192);
}

SIM_TEST("scratchpad counts repeats and moves nothing without values", "[scratchpad]") {
    Started bench;
    std::array<std::uint8_t, 64> data{};
    data.fill(7);
    bench.access(bench.network, TLM_WRITE_COMMAND, kKernelRegion, data.data(), 64);
    sc_core::sc_start(10, sc_core::SC_NS);

    ExtendedPayload<RepeatExtension> burst;
    burst->repeats = 1000;
    burst->has_values = false;
    auto& payload = burst.fresh_burst(TLM_WRITE_COMMAND, kKernelRegion, 64, 64);
    const auto reply = bench.transport(bench.network, payload);
    CHECK(reply.status == ::tlm::TLM_OK_RESPONSE);
    CHECK(reply.cycles == (64 * 1000 + 191) / 192 + 1);
    CHECK(burst->bytes_per_cycle == 192);
    CHECK_FALSE(payload.is_dmi_allowed());
    CHECK(bench.scratchpad.stats().write_bytes == 64 * 1001);
    CHECK(bench.scratchpad.stats().accesses == 1001);
    std::array<std::uint8_t, 64> back{};
    bench.access(bench.network, TLM_READ_COMMAND, kKernelRegion, back.data(), 64);
    CHECK(back == data);
}

SIM_TEST("scratchpad: debug access and DMI reach the same bytes", "[scratchpad]") {
    Started bench;
    std::uint32_t word = 0xC0FFEE, back = 0;
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(kCapacity - 2);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    CHECK(bench.network->transport_dbg(payload) == 2);  // what is there
    payload.set_address(kKernelRegion);
    CHECK(bench.network->transport_dbg(payload) == 4);
    bench.access(bench.network, TLM_READ_COMMAND, kKernelRegion, &back, 4);
    CHECK(back == word);
    CHECK(bench.scratchpad.stats().write_bytes == 0);  // debug has no side effect

    ::tlm::tlm_dmi dmi;
    REQUIRE(bench.network->get_direct_mem_ptr(payload, dmi));
    CHECK(dmi.is_read_write_allowed());
    CHECK(dmi.get_start_address() == kKernelRegion);
    CHECK(dmi.get_end_address() == kCapacity - 1);
    dmi.get_dmi_ptr()[1] = 0x11;
    bench.access(bench.network, TLM_READ_COMMAND, kKernelRegion, &back, 4);
    CHECK(back == 0xC011EE);

    payload.set_address(0);  // kernels: the network interface may read them, not write
    dmi.init();
    CHECK_FALSE(bench.network->get_direct_mem_ptr(payload, dmi));
    payload.set_read();
    dmi.init();
    REQUIRE(bench.network->get_direct_mem_ptr(payload, dmi));
    CHECK_FALSE(dmi.is_write_allowed());
    CHECK(dmi.get_end_address() == kKernelRegion - 1);
    payload.set_address(kCapacity);
    dmi.init();
    CHECK_FALSE(bench.network->get_direct_mem_ptr(payload, dmi));
}

SIM_TEST("scratchpad refuses bursts and commands that mean nothing", "[scratchpad]") {
    Started bench;
    std::uint8_t byte = 0;
    ::tlm::tlm_generic_payload payload;
    payload.set_command(::tlm::TLM_IGNORE_COMMAND);
    payload.set_address(kKernelRegion);
    payload.set_data_ptr(&byte);
    payload.set_data_length(1);
    payload.set_streaming_width(1);
    CHECK(bench.transport(bench.network, payload).status == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(bench.registry.errors().size() == 1);
}
