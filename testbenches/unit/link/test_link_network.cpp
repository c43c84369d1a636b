// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/hw/link/link_network.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/memory_access.h"

using namespace switchyard;
using hw::LinkNetwork;

namespace {

constexpr unsigned kMemory = 1 << 20;

/// Devices with an initiator and a memory each, a checker on every socket.
class DeviceBench : public sc_core::sc_module {
public:
    DeviceBench(const sc_core::sc_module_name& module_name, const std::shared_ptr<const sched::LinkTopology>& topology)
        : sc_module(module_name),
          links("links", {}, registry, topology),
          initiators("initiators", topology->devices()),
          memory(topology->devices(), std::vector<std::uint8_t>(kMemory)),
          bodies(topology->devices()),
          memories_("memories", topology->devices()),
          in_checkers_("in_checkers", topology->devices()),
          out_checkers_("out_checkers", topology->devices()) {
        for (unsigned d = 0; d < topology->devices(); ++d) {
            initiators[d].bind(in_checkers_[d].target_socket);
            in_checkers_[d].initiator_socket.bind(links.in[d]);
            links.out[d].bind(out_checkers_[d].target_socket);
            out_checkers_[d].initiator_socket.bind(memories_[d]);
            memories_[d].register_b_transport(this, &DeviceBench::serve, static_cast<int>(d));
            memories_[d].register_transport_dbg(this, &DeviceBench::debug, static_cast<int>(d));
            sc_core::sc_spawn([this, d] {
                if (bodies[d]) bodies[d]();
            });
        }
    }

    static std::uint64_t address(unsigned device, std::uint64_t offset) {
        return std::uint64_t{device} << LinkNetwork::kWindowBits | offset;
    }
    /// ns that an access takes.
    double access(unsigned from, bool write, std::uint64_t to, std::vector<std::uint8_t>& data,
                  ::tlm::tlm_response_status expected = ::tlm::TLM_OK_RESPONSE) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
        payload.set_address(to);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(static_cast<unsigned>(data.size()));
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        sc_core::sc_time delay;
        initiators[from]->b_transport(payload, delay);
        sc_core::wait(delay);
        CHECK(payload.get_response_status() == expected);
        CHECK(payload.get_address() == to);
        return (sc_core::sc_time_stamp() - begin) / sc_core::sc_time(1, sc_core::SC_NS);
    }

    SimulationRegistry registry;
    LinkNetwork links;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<DeviceBench>> initiators;
    std::vector<std::vector<std::uint8_t>> memory;
    std::vector<std::function<void()>> bodies;

private:
    void serve(int device, ::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(
            access_memory(payload, memory[static_cast<unsigned>(device)].data() + payload.get_address()));
    }
    unsigned debug(int device, ::tlm::tlm_generic_payload& payload) {
        return debug_access_memory(payload, memory[static_cast<unsigned>(device)].data() + payload.get_address(),
                                   kMemory - payload.get_address());
    }

    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<DeviceBench>> memories_;
    sc_core::sc_vector<BaseProtocolChecker<>> in_checkers_, out_checkers_;
};

std::shared_ptr<const sched::LinkTopology> four_on_a_switch() {
    sched::LinkKind kind;
    kind.gb_per_s = 10;
    kind.overhead_bytes = 0;
    kind.latency_ns = 100;
    return std::make_shared<sched::LinkTopology>(sched::make_link_topology("switch", 4, kind));
}

}  // namespace

SIM_TEST("writes and reads reach other devices' memory in the time of their messages", "[link]") {
    const auto topology = four_on_a_switch();
    DeviceBench bench("bench", topology);
    bench.bodies[0] = [&] {
        std::vector<std::uint8_t> data(100000);
        std::iota(data.begin(), data.end(), std::uint8_t{3});
        // Two links of 100 ns, a switch of 100 ns.
        CHECK(bench.access(0, true, DeviceBench::address(2, 64), data) == Approx(300 + 10000).epsilon(1e-6));
        CHECK(std::equal(data.begin(), data.end(), bench.memory[2].begin() + 64));
        std::vector<std::uint8_t> back(data.size());
        CHECK(bench.access(0, false, DeviceBench::address(2, 64), back) ==
              Approx(300 + 1.6 + 300 + 10000).epsilon(1e-6));
        CHECK(back == data);
        CHECK(bench.access(0, true, DeviceBench::address(0, 0), data) == 0);
        CHECK(bench.memory[0][1] == data[1]);

        ::tlm::tlm_generic_payload payload;
        std::uint8_t byte = 0;
        payload.set_command(::tlm::TLM_READ_COMMAND);
        payload.set_address(DeviceBench::address(2, 65));
        payload.set_data_ptr(&byte);
        payload.set_data_length(1);
        payload.set_streaming_width(1);
        CHECK(bench.initiators[0]->transport_dbg(payload) == 1);
        CHECK(byte == data[1]);
    };
    sc_core::sc_start();
    CHECK(bench.links.stats().write_bytes == 100000);
    CHECK(bench.links.stats().read_bytes == 100000);
    CHECK(bench.registry.waits().empty());
    CHECK(bench.registry.sum("bench.links", "link_0_forth_bytes") == 100016);
}

SIM_TEST("an access to a device that is not there is an address error", "[link]") {
    DeviceBench bench("bench", four_on_a_switch());
    bench.bodies[1] = [&] {
        std::vector<std::uint8_t> data(4);
        bench.access(1, true, DeviceBench::address(4, 0), data, ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    };
    sc_core::sc_start();
    REQUIRE(bench.registry.errors().size() == 1);
    CHECK_THAT(bench.registry.errors()[0],
               Catch::Matchers::ContainsSubstring("expected a device below 4, found device 4"));
}

SIM_TEST("devices that write to one share its link, and all bytes arrive", "[link]") {
    const auto topology = four_on_a_switch();
    DeviceBench bench("bench", topology);
    double longest = 0;
    for (unsigned d = 1; d < 4; ++d)
        bench.bodies[d] = [&, d] {
            std::vector<std::uint8_t> data(200000, static_cast<std::uint8_t>(d));
            longest = std::max(longest, bench.access(d, true, DeviceBench::address(0, d * 200000), data));
        };
    sc_core::sc_start();
    CHECK(longest == Approx(60000 + 300).epsilon(0.15));
    for (unsigned d = 1; d < 4; ++d)
        for (unsigned i = 0; i < 200000; ++i)
            if (bench.memory[0][d * 200000 + i] != d) FAIL("device " << d << ", byte " << i);
}
