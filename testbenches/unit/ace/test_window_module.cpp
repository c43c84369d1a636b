// SPDX-License-Identifier: Apache-2.0
// The scheduling window between a host that writes entries and a CTA scheduler that runs each kernel for a time.
#include <map>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/scheduling_window/scheduling_window.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/has_process.h"

using namespace switchyard;
using sched::ace::WindowEntry;

namespace {

/// Writes the entries and runs kernels for the nanoseconds that stand in their packets.
class HostAndGpu : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<HostAndGpu> entries, completed;
    tlm_utils::simple_target_socket<HostAndGpu> kernels;

    explicit HostAndGpu(const sc_core::sc_module_name& module_name)
        : sc_module(module_name), entries("entries"), completed("completed"), kernels("kernels"), ends_("ends") {
        SWITCHYARD_HAS_PROCESS(HostAndGpu);
        SC_THREAD(host);
        SC_THREAD(gpu);
        kernels.register_b_transport(this, &HostAndGpu::take);
    }

    struct Kernel {
        WindowEntry entry;
        std::uint16_t run_ns;
    };
    std::vector<Kernel> stream;
    std::vector<sc_core::sc_time> starts, ends;  ///< by number
    std::vector<std::uint8_t> order;             ///< of dispatch
    ::tlm::tlm_response_status last_response = ::tlm::TLM_OK_RESPONSE;

    template <class Socket>
    ::tlm::tlm_response_status write(Socket& socket, std::uint64_t address, std::vector<std::uint8_t> bytes) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(::tlm::TLM_WRITE_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(static_cast<unsigned>(bytes.size()));
        payload.set_streaming_width(static_cast<unsigned>(bytes.size()));
        payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        wait(delay);
        return payload.get_response_status();
    }

private:
    void host() {
        for (const Kernel& kernel : stream) {
            const std::vector<std::uint8_t> packet{static_cast<std::uint8_t>(kernel.run_ns & 0xFF),
                                                   static_cast<std::uint8_t>(kernel.run_ns >> 8)};
            last_response = write(entries, 0, hw::SchedulingWindow::encode(kernel.entry, packet));
        }
    }
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const unsigned char* data = payload.get_data_ptr();
        const unsigned run_ns = data[0] + 256U * data[1];
        const auto id = static_cast<std::uint8_t>(payload.get_address());
        order.push_back(id);
        starts.at(id) = sc_core::sc_time_stamp();
        ends_.push(id, delay + sc_core::sc_time(run_ns, sc_core::SC_NS));
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    void gpu() {
        for (;;) {
            std::uint8_t id = 0;
            while (!ends_.pop_due(id)) wait(ends_.event());
            ends.at(id) = sc_core::sc_time_stamp();
            CHECK(write(completed, id, std::vector<std::uint8_t>(8)) == ::tlm::TLM_OK_RESPONSE);
        }
    }

    TimedQueue<std::uint8_t> ends_;
};

struct Bench {
    explicit Bench(const hw::SchedulingWindow::Config& config)
        : window("window", config, registry), host("host"), entries("entries"), kernels("kernels"), done("done") {
        host.entries.bind(entries.target_socket);
        entries.initiator_socket.bind(window.entries);
        window.kernels.bind(kernels.target_socket);
        kernels.initiator_socket.bind(host.kernels);
        host.completed.bind(done.target_socket);
        done.initiator_socket.bind(window.completed);
    }
    void add(const WindowEntry& entry, std::uint16_t run_ns) {
        host.stream.push_back({entry, run_ns});
        host.starts.emplace_back();
        host.ends.emplace_back();
    }

    SimulationRegistry registry;
    hw::SchedulingWindow window;
    HostAndGpu host;
    BaseProtocolChecker<> entries, kernels, done;
};

hw::SchedulingWindow::Config config_of(unsigned slots, unsigned scheduled) {
    hw::SchedulingWindow::Config config;
    config.slots = slots;
    config.scheduled_kernels = scheduled;
    return config;
}

}  // namespace

SIM_TEST("kernels run out of order and wait for their upstream kernels", "[ace]") {
    Bench bench(config_of(4, 8));
    bench.add({0, {}}, 1000);
    bench.add({1, {0}}, 100);
    bench.add({2, {}}, 100);
    bench.add({3, {1, 2}}, 50);
    sc_core::sc_start();
    CHECK(bench.host.order == std::vector<std::uint8_t>{0, 2, 1, 3});
    CHECK(bench.host.starts[1] >= bench.host.ends[0]);
    CHECK(bench.host.starts[3] >= bench.host.ends[1]);
    // Entry 0 is in after 4 cycles, 2 after 12; the list of 1 is free of 0 after 4 cycles more.
    CHECK(bench.host.starts[0] == sc_core::sc_time(4, sc_core::SC_NS));
    CHECK(bench.host.starts[2] == sc_core::sc_time(12, sc_core::SC_NS));
    CHECK(bench.host.starts[1] == bench.host.ends[0] + sc_core::sc_time(4, sc_core::SC_NS));
    CHECK(bench.window.idle());
    CHECK(bench.window.stall() == "");
    CHECK(bench.window.stats().inserted == 4);
    CHECK(bench.window.stats().completed == 4);
    CHECK(bench.window.stats().max_kernels == 4);
    // It stands still while kernels run.
    CHECK(bench.window.stats().cycles < 60);
}

SIM_TEST("dispatches follow each other, each after its latency", "[ace]") {
    hw::SchedulingWindow::Config config = config_of(4, 8);
    config.dispatch_ns = 700;
    config.interval_ns = 100;
    Bench bench(config);
    for (std::uint8_t id = 0; id < 3; ++id) bench.add({id, {}}, 10);
    sc_core::sc_start();
    CHECK(bench.host.starts[0] == sc_core::sc_time(704, sc_core::SC_NS));
    CHECK(bench.host.starts[1] == sc_core::sc_time(804, sc_core::SC_NS));
    CHECK(bench.host.starts[2] == sc_core::sc_time(904, sc_core::SC_NS));
}

SIM_TEST("a stream of 250 kernels with stale lists", "[ace]") {
    Bench bench(config_of(8, 12));
    RandomSource random(5, 5);
    for (unsigned id = 0; id < 250; ++id) {
        WindowEntry entry{static_cast<std::uint8_t>(id), {}};
        for (unsigned k = std::min(id, 12u); k >= 1; --k)
            if (random.chance(0.2)) entry.upstream.push_back(static_cast<std::uint8_t>(id - k));
        bench.add(entry, static_cast<std::uint16_t>(random.integer(1, 400)));
    }
    sc_core::sc_start();
    REQUIRE(bench.host.order.size() == 250);
    for (std::size_t id = 0; id < 250; ++id)
        for (const std::uint8_t from : bench.host.stream[id].entry.upstream)
            REQUIRE(bench.host.starts[id] >= bench.host.ends[from]);
    CHECK(bench.window.idle());
    CHECK(bench.window.stats().full_cycles + bench.window.stats().blocked_cycles > 0);
}

SIM_TEST("an entry that is none is refused, a stalled window says who waits for whom", "[ace][bad]") {
    Bench bench(config_of(4, 8));
    bench.add({0, {}}, 60000);
    bench.add({1, {0}}, 1);
    bench.add({7, {}}, 1);
    sc_core::sc_start(30, sc_core::SC_US);
    CHECK(bench.host.last_response == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(bench.registry.errors().size() == 1);
    CHECK_THAT(bench.registry.errors().front(), Catch::Matchers::ContainsSubstring("expected entry 2, found 7"));
    CHECK(bench.window.stall() == "completions of kernels 0; in the window wait 1 (0); in front of it 0");
}
