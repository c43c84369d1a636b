// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "switchyard/hw/memory/dram_target.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_manager.h"

using namespace switchyard;
using sc_core::sc_time;

namespace {

/// An initiator of both kinds behind a base-protocol checker. Four-phase transactions are queued and sent as fast as
/// END_REQ allows; responses may be held back.
struct TargetBench : sc_core::sc_module {
    using Payload = ::tlm::tlm_generic_payload;

    TargetBench(const sc_core::sc_module_name& bench_name, const hw::DramTargetConfig& config)
        : sc_module(bench_name),
          socket("socket"),
          checker("checker"),
          pool("pool"),
          target("target", checked(config), registry) {
        socket.register_nb_transport_bw(this, &TargetBench::nb_transport_bw);
        socket.bind(checker.target_socket);
        checker.initiator_socket.bind(target.socket);
        SWITCHYARD_HAS_PROCESS(TargetBench);
        SC_THREAD(run);
        SC_METHOD(send);
        sensitive << send_event;
        dont_initialize();
    }
    static hw::DramTargetConfig checked(hw::DramTargetConfig config) {
        config.check_timing = true;
        return config;
    }

    void run() { script(); }

    Payload& payload(::tlm::tlm_command command, std::uint64_t address, unsigned bytes, unsigned char fill = 0) {
        Payload& p = pool.allocate();
        data.emplace_back(bytes, fill);
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(data.back().data());
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        p.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        return p;
    }
    void post(Payload& p) {
        waiting.push_back(&p);
        send_event.notify(sc_core::SC_ZERO_TIME);
    }
    void send() {
        if (requesting || waiting.empty()) return;
        requesting = true;
        Payload& p = *waiting.front();
        waiting.pop_front();
        begun[&p] = sc_core::sc_time_stamp();
        ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
        sc_time delay = sc_core::SC_ZERO_TIME;
        REQUIRE(socket->nb_transport_fw(p, phase, delay) == ::tlm::TLM_ACCEPTED);
    }
    ::tlm::tlm_sync_enum nb_transport_bw(Payload& p, ::tlm::tlm_phase& phase, sc_time&) {
        if (phase == ::tlm::END_REQ) {
            requesting = false;
            accepted.push_back(sc_core::sc_time_stamp());
            send_event.notify(sc_core::SC_ZERO_TIME);
            return ::tlm::TLM_ACCEPTED;
        }
        REQUIRE(phase == ::tlm::BEGIN_RESP);
        responses.push_back(&p);
        latency.push_back(sc_core::sc_time_stamp() - begun.at(&p));
        statuses.push_back(p.get_response_status());
        if (hold_responses) {
            held = &p;
            return ::tlm::TLM_ACCEPTED;
        }
        phase = ::tlm::END_RESP;
        p.release();
        return ::tlm::TLM_COMPLETED;
    }
    void release_held() {
        ::tlm::tlm_phase phase = ::tlm::END_RESP;
        sc_time delay = sc_core::SC_ZERO_TIME;
        Payload& p = *held;
        held = nullptr;
        REQUIRE(socket->nb_transport_fw(p, phase, delay) == ::tlm::TLM_COMPLETED);
        p.release();
    }
    ::tlm::tlm_response_status blocking(Payload& p) {
        sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(p, delay);
        REQUIRE(delay == sc_core::SC_ZERO_TIME);
        const ::tlm::tlm_response_status status = p.get_response_status();
        p.release();
        return status;
    }

    tlm_utils::simple_initiator_socket<TargetBench> socket;
    BaseProtocolChecker<32> checker;
    PayloadPool pool;
    SimulationRegistry registry;
    hw::DramTarget target;
    std::deque<std::vector<unsigned char>> data;
    std::function<void()> script;
    sc_core::sc_event send_event;
    std::deque<Payload*> waiting;
    bool requesting = false, hold_responses = false;
    Payload* held = nullptr;
    std::map<Payload*, sc_time> begun;
    std::vector<Payload*> responses;
    std::vector<sc_time> latency, accepted;
    std::vector<::tlm::tlm_response_status> statuses;
};

hw::DramTargetConfig small_target() {
    hw::DramTargetConfig config;
    config.device = "ddr4";
    config.bytes = 1 << 20;
    return config;
}

/// A closed bank of DDR4-2400: tRCD 17 + CL 17 + burst 4 cycles.
const double kReadNs = (17 + 17 + 4) / 1.2;

double ns(const sc_time& time) {
    return time / sc_time(1, sc_core::SC_NS);
}

}  // namespace

SIM_TEST("a blocking read waits for the access and brings what was written", "[dram][tlm]") {
    TargetBench bench("bench", small_target());
    bench.script = [&] {
        CHECK(bench.blocking(bench.payload(::tlm::TLM_READ_COMMAND, 0x1000, 64)) == ::tlm::TLM_OK_RESPONSE);
        CHECK(ns(sc_core::sc_time_stamp()) == Approx(kReadNs).margin(1));
        CHECK(bench.blocking(bench.payload(::tlm::TLM_WRITE_COMMAND, 0x1010, 100, 0x5A)) == ::tlm::TLM_OK_RESPONSE);
        CHECK(bench.blocking(bench.payload(::tlm::TLM_READ_COMMAND, 0x1000, 128)) == ::tlm::TLM_OK_RESPONSE);
        const std::vector<unsigned char>& read = bench.data.back();
        for (unsigned i = 0; i < 128; ++i) CHECK(read[i] == (i >= 16 && i < 116 ? 0x5A : 0));
    };
    sc_core::sc_start();
    CHECK(bench.target.stats().requests == 3);
    CHECK(bench.target.stats().write_bytes == 100);
    CHECK(bench.target.channel_stats().reads == 3);
}

SIM_TEST("four phases: the latency of a closed bank, and the initiator's data", "[dram][tlm]") {
    TargetBench bench("bench", small_target());
    bench.script = [&] {
        bench.post(bench.payload(::tlm::TLM_WRITE_COMMAND, 0x40, 64, 7));
        wait(1, sc_core::SC_US);
        bench.post(bench.payload(::tlm::TLM_READ_COMMAND, 0x40, 64));
    };
    sc_core::sc_start();
    REQUIRE(bench.latency.size() == 2);
    CHECK(ns(bench.latency[1]) == Approx((17 + 4) / 1.2).margin(1));  // its row is open
    CHECK(bench.data.back() == std::vector<unsigned char>(64, 7));
    CHECK(bench.checker.monitor().transactions() == 2);
}

SIM_TEST("no more requests are accepted than there are places", "[dram][tlm]") {
    hw::DramTargetConfig config = small_target();
    config.outstanding = 4;
    TargetBench bench("bench", config);
    bench.hold_responses = true;
    bench.script = [&] {
        for (unsigned i = 0; i < 10; ++i) bench.post(bench.payload(::tlm::TLM_READ_COMMAND, i * 4096, 64));
        wait(5, sc_core::SC_US);
        CHECK(bench.accepted.size() == 4);
        CHECK(bench.responses.size() == 1);
        bench.release_held();
        wait(5, sc_core::SC_US);
        CHECK(bench.accepted.size() == 5);
        CHECK(bench.responses.size() == 2);
        bench.hold_responses = false;
        bench.release_held();
    };
    sc_core::sc_start();
    CHECK(bench.accepted.size() == 10);
    CHECK(bench.responses.size() == 10);
    CHECK(bench.target.stats().refused > 0);
}

SIM_TEST("a stream through nb_transport gets nearly the pin bandwidth", "[dram][tlm]") {
    hw::DramTargetConfig config = small_target();
    config.outstanding = 64;
    TargetBench bench("bench", config);
    const unsigned count = 4000;
    bench.script = [&] {
        for (unsigned i = 0; i < count; ++i) bench.post(bench.payload(::tlm::TLM_READ_COMMAND, i * 64 % (1 << 20), 64));
    };
    sc_core::sc_start();
    CHECK(bench.responses.size() == count);
    CHECK(count * 64 / ns(sc_core::sc_time_stamp()) > 0.9 * 19.2);
}

SIM_TEST("random transactions of both kinds leave what a plain memory would hold", "[dram][tlm]") {
    TargetBench bench("bench", small_target());
    std::vector<unsigned char> reference(1 << 14, 0);
    bench.script = [&] {
        std::mt19937 random(5);
        for (unsigned i = 0; i < 500; ++i) {
            const unsigned bytes = 1 + random() % 200, address = random() % ((1 << 14) - 200);
            const bool write = random() % 2 == 0;
            auto& p = bench.payload(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND, address, bytes,
                                    static_cast<unsigned char>(random()));
            if (write) std::copy(bench.data.back().begin(), bench.data.back().end(), reference.begin() + address);
            if (random() % 4 == 0) {
                while (!bench.waiting.empty() || bench.requesting) wait(10, sc_core::SC_NS);
                // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the analyzer loses count of the pool's references.
                CHECK(bench.blocking(p) == ::tlm::TLM_OK_RESPONSE);
                if (!write)
                    CHECK(std::equal(bench.data.back().begin(), bench.data.back().end(), reference.begin() + address));
            } else {
                bench.post(p);
            }
            if (random() % 10 == 0) wait(random() % 1000, sc_core::SC_NS);
        }
        wait(50, sc_core::SC_US);
        auto& all = bench.payload(::tlm::TLM_READ_COMMAND, 0, 1 << 14);
        CHECK(bench.socket->transport_dbg(all) == 1 << 14);
        CHECK(bench.data.back() == reference);
        all.release();
    };
    sc_core::sc_start();
    for (const auto status : bench.statuses) CHECK(status == ::tlm::TLM_OK_RESPONSE);
}

SIM_TEST("what cannot be served is answered with the error of the standard", "[dram][tlm]") {
    TargetBench bench("bench", small_target());
    bench.script = [&] {
        CHECK(bench.blocking(bench.payload(::tlm::TLM_READ_COMMAND, (1 << 20) - 8, 64)) ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(bench.blocking(bench.payload(::tlm::TLM_WRITE_COMMAND, 1ull << 40, 4)) ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        bench.post(bench.payload(::tlm::TLM_READ_COMMAND, 1 << 20, 4));
        wait(1, sc_core::SC_US);
        auto& outside = bench.payload(::tlm::TLM_READ_COMMAND, 1 << 20, 4);
        CHECK(bench.socket->transport_dbg(outside) == 0);
        outside.release();
    };
    sc_core::sc_start();
    REQUIRE(bench.statuses.size() == 1);
    CHECK(bench.statuses[0] == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.target.stats().requests == 0);
}

TEST_CASE("a target that cannot be built says why", "[dram][tlm]") {
    testing::in_child([] {
        SimulationRegistry registry;
        hw::DramTargetConfig config = small_target();
        config.bytes = 1ull << 40;
        CHECK_THROWS_AS(hw::DramTarget("large", config, registry), ModelError);
        config = small_target();
        config.outstanding = 0;
        CHECK_THROWS_AS(hw::DramTarget("none", config, registry), ModelError);
    });
}
