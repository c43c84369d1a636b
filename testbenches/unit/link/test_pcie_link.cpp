// SPDX-License-Identifier: Apache-2.0
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_access.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using hw::PcieLink;

namespace {

/// Memory on both sides, and an initiator on both sides.
class LinkBench : public sc_core::sc_module {
public:
    LinkBench(const sc_core::sc_module_name& module_name, const PcieLink::Config& config)
        : sc_module(module_name), link("link", config, registry), host_bytes(1 << 22), device_bytes(1 << 22) {
        host.bind(host_checker_.target_socket);
        host_checker_.initiator_socket.bind(link.from_host);
        device.bind(device_checker_.target_socket);
        device_checker_.initiator_socket.bind(link.from_device);
        link.to_device.bind(device_memory_);
        link.to_host.bind(host_memory_);
        device_memory_.register_b_transport(this, &LinkBench::serve_device);
        host_memory_.register_b_transport(this, &LinkBench::serve_host);
        SWITCHYARD_HAS_PROCESS(LinkBench);
        SC_THREAD(run);
        SC_THREAD(run_other);
    }

    using Socket = tlm_utils::simple_initiator_socket<LinkBench>;
    /// ns that an access takes.
    static double access(Socket& from, bool write, std::uint64_t address, std::vector<std::uint8_t>& data) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(static_cast<unsigned>(data.size()));
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        sc_core::sc_time delay;
        from->b_transport(payload, delay);
        sc_core::wait(delay);
        CHECK(payload.is_response_ok());
        return (sc_core::sc_time_stamp() - begin) / sc_core::sc_time(1, sc_core::SC_NS);
    }

    SimulationRegistry registry;
    PcieLink link;
    Socket host{"host"}, device{"device"};
    std::vector<std::uint8_t> host_bytes, device_bytes;
    std::function<void(LinkBench&)> body, other;

private:
    void run() {
        if (body) body(*this);
    }
    void run_other() {
        if (other) other(*this);
    }
    static void serve(::tlm::tlm_generic_payload& payload, std::vector<std::uint8_t>& bytes) {
        payload.set_response_status(access_memory(payload, bytes.data() + payload.get_address()));
    }
    void serve_device(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) { serve(payload, device_bytes); }
    void serve_host(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) { serve(payload, host_bytes); }

    BaseProtocolChecker<> host_checker_{"host_checker"}, device_checker_{"device_checker"};
    tlm_utils::simple_target_socket<LinkBench> device_memory_{"device_memory"}, host_memory_{"host_memory"};
};

constexpr unsigned kLong = 1 << 20;

}  // namespace

TEST_CASE("rates of the generations are those of the standard", "[link]") {
    PcieLink::Config config;
    config.dllp_share = 0;
    const double rates[] = {4, 8, 15.754, 31.508, 63.015};  // GB/s of 16 lanes
    for (unsigned generation = 1; generation <= 5; ++generation) {
        config.generation = generation;
        CHECK(hw::pcie_link_gb_per_s(config) == Approx(rates[generation - 1]).epsilon(1e-4));
    }
    config.lanes = 4;
    CHECK(hw::pcie_link_gb_per_s(config) == Approx(63.015 / 4).epsilon(1e-4));
    // 256 of 282 bytes; 128 of 154.
    CHECK(hw::pcie_payload_share(config) == Approx(256.0 / 282));
    config.max_payload_bytes = 128;
    CHECK(hw::pcie_payload_share(config) == Approx(128.0 / 154));
}

TEST_CASE("a configuration that makes no sense is refused", "[link]") {
    PcieLink::Config config;
    config.max_payload_bytes = 300;
    CHECK(hw::validation_error(config) == "max_payload_bytes: expected a power of two, found 300");
    ConfigReader reader(parse_yaml("generation: 6", "f.yaml"), "f.yaml", "host_link");
    CHECK_THROWS_WITH(describe(reader, config), ContainsSubstring("f.yaml:1: host_link.generation"));
}

TEST_CASE("long transfers get the payload's share of the rate", "[link]") {
    for (const unsigned generation : {3u, 4u}) {
        for (const unsigned payload : {128u, 256u, 512u}) {
            for (const bool write : {false, true}) {
                testing::in_child([=] {
                    PcieLink::Config config;
                    config.generation = generation;
                    config.max_payload_bytes = payload;
                    LinkBench bench("bench", config);
                    bench.body = [&config, write](LinkBench& b) {
                        std::vector<std::uint8_t> data(kLong);
                        const double ns = LinkBench::access(b.device, write, 0, data);
                        const double rate = hw::pcie_link_gb_per_s(config);
                        const double transfer = kLong / (rate * hw::pcie_payload_share(config));
                        const double request = write ? 0 : config.latency_ns + config.tlp_overhead_bytes / rate;
                        CHECK(ns == Approx(transfer + request + config.latency_ns).epsilon(1e-4));
                    };
                    sc_core::sc_start();
                });
            }
        }
    }
}

SIM_TEST("bytes arrive, and the directions do not share", "[link]") {
    const PcieLink::Config config;
    LinkBench bench("bench", config);
    double up = 0, down = 0;
    bench.body = [&down](LinkBench& b) {
        std::vector<std::uint8_t> data(kLong, 7);
        down = LinkBench::access(b.host, true, 64, data);
        CHECK(b.device_bytes[64] == 7);
    };
    bench.other = [&up](LinkBench& b) {
        std::vector<std::uint8_t> data(kLong, 9);
        up = LinkBench::access(b.device, true, 128, data);
        CHECK(b.host_bytes[128] == 9);
    };
    sc_core::sc_start();
    CHECK(up == Approx(down).epsilon(1e-6));
    CHECK(up == Approx(kLong / (hw::pcie_link_gb_per_s(config) * hw::pcie_payload_share(config)) + config.latency_ns)
                    .epsilon(1e-4));
    CHECK(bench.link.stats().to_host_bytes == kLong);
    CHECK(bench.link.stats().to_host_wire_bytes == kLong / 256 * 282);
}

SIM_TEST("two transfers in one direction share its rate", "[link]") {
    PcieLink::Config config;
    config.latency_ns = 0;
    LinkBench bench("bench", config);
    double first = 0, second = 0;
    bench.body = [&first](LinkBench& b) {
        std::vector<std::uint8_t> data(kLong);
        first = LinkBench::access(b.device, true, 0, data);
    };
    bench.other = [&second](LinkBench& b) {
        std::vector<std::uint8_t> data(kLong);
        second = LinkBench::access(b.device, true, 0, data);
    };
    sc_core::sc_start();
    CHECK(std::max(first, second) ==
          Approx(2 * kLong / (hw::pcie_link_gb_per_s(config) * hw::pcie_payload_share(config))).epsilon(1e-3));
}
