// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/network/hbm_bench.h"

#include <fmt/format.h>

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::uint8_t> bytes_from(std::size_t count, unsigned seed) {
    std::vector<std::uint8_t> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(seed + i * 37 + i / 256);
    return bytes;
}

unsigned debug(HbmBench& bench, unsigned interface, ::tlm::tlm_command command, std::uint64_t address,
               std::vector<std::uint8_t>& bytes) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    return bench.ends.out[interface]->transport_dbg(payload);
}

void check_refused(HbmBench& bench, unsigned interface, PooledPayload payload, ::tlm::tlm_response_status status,
                   const std::string& text) {
    sc_core::sc_time delay;
    CHECK_THROWS_WITH(bench.ends.out[interface]->b_transport(*payload, delay),
                      ContainsSubstring(text) && ContainsSubstring("hbm.interface_" + std::to_string(interface)));
    CHECK(payload->get_response_status() == status);
}

}  // namespace

SIM_TEST("a read that is alone takes the closed formula", "[hbm]") {
    HbmBench bench(one_interface());
    const hw::HbmConfig& config = bench.config;
    const unsigned channels = config.pseudo_channels_per_interface;
    bench.run([&] {
        // {address, bytes, bytes that the busiest pseudo-channel moves}
        struct Case {
            std::uint64_t address, bytes;
            double busiest;
        };
        for (const Case& c : {Case{0, 32, 32}, Case{0, 1, 32}, Case{31, 2, 64}, Case{64, 256, 192}, Case{0, 256, 256},
                              Case{512, 1024, 256}, Case{0, 4096, 4096.0 / channels}}) {
            const std::uint64_t begin = bench.ends.now();
            bench.ends.arrivals.clear();
            bench.read(c.address, c.bytes, 0, 40);
            bench.ends.wait_cycles(2000);
            REQUIRE(bench.ends.arrivals.size() == 1);
            const double latency = config.read_latency_ns + bench.service_ns(c.busiest);
            CHECK(bench.ends.arrivals[0].cycle == begin + whole_cycles(40 + latency));
        }
    });
}

SIM_TEST("a write is done after its last byte and the write latency", "[hbm]") {
    HbmBench bench(one_interface());
    bench.run([&] {
        bench.write(0, 65536, 42, 10);
        bench.ends.wait_cycles(5000);
        REQUIRE(bench.ends.arrivals.size() == 1);
        const Arrival& done = bench.ends.arrivals[0];
        CHECK(done.operation == MemoryOperation::write_done);
        CHECK(done.traffic == TrafficClass::control);
        CHECK(done.tag == 42);
        CHECK(done.source == HbmBench::kFirst);
        CHECK(done.destinations == std::vector<Endpoint>{7});
        CHECK(done.payload_bytes == 0);
        CHECK(done.cycle == whole_cycles(10 + bench.config.write_latency_ns + bench.service_ns(65536.0 / 4)));
    });
}

SIM_TEST("a reply carries what the request carried, cut into packets in order", "[hbm]") {
    hw::HbmConfig config = one_interface();
    config.max_packet_bytes = 4096;
    HbmBench bench(config);
    bench.ends.on_arrival = [&](const Arrival& arrival) {
        CHECK(arrival.cycle == bench.ends.now());  // sent at its time, not ahead of it
    };
    bench.run([&] {
        PooledPayload payload = bench.read_packet(1000, 10000, {3, 4, 9}, 77);
        payload.extension<Note>().number = 5;
        payload.extension<Note>().text = std::make_shared<const std::string>("whatever a system says");
        bench.request(0, payload);
        payload.extension<Note>().reset();  // memory has a copy
        bench.ends.wait_cycles(5000);
        REQUIRE(bench.ends.arrivals.size() == 3);
        std::uint64_t address = 1000;
        for (std::size_t i = 0; i < 3; ++i) {
            const Arrival& reply = bench.ends.arrivals[i];
            CHECK(reply.operation == MemoryOperation::read_data);
            CHECK(reply.traffic == TrafficClass::data);
            CHECK(reply.source == HbmBench::kFirst);
            CHECK(reply.destinations == std::vector<Endpoint>{3, 4, 9});
            CHECK(reply.tag == 77);
            REQUIRE(reply.has_note);
            CHECK(reply.note.number == 5);
            CHECK(*reply.note.text == "whatever a system says");
            CHECK(reply.values.empty());
            CHECK(reply.payload_bytes == (i < 2 ? 4096u : 10000u - 8192u));
            CHECK(reply.address == address);
            address += reply.payload_bytes;
        }
    });
}

SIM_TEST("a reply has the extensions of its own request alone", "[hbm]") {
    HbmBench bench(one_interface());
    ExtendedPayloadPool<PacketExtension, MemoryExtension> bare("bare");
    bench.run([&] {
        PooledPayload first = bench.read_packet(0, 64);
        first.extension<Note>().number = 5;
        bench.request(0, first);
        bench.ends.wait_cycles(1000);
        PooledPayload second(bare);
        second.packet() = first.packet();
        second.extension<MemoryExtension>() = first.extension<MemoryExtension>();
        second->set_command(::tlm::TLM_READ_COMMAND);
        bench.request(0, second);
        bench.ends.wait_cycles(1000);
        REQUIRE(bench.ends.arrivals.size() == 2);
        CHECK(bench.ends.arrivals[0].has_note);
        CHECK(bench.ends.arrivals[0].note.number == 5);
        CHECK_FALSE(bench.ends.arrivals[1].has_note);
    });
}

SIM_TEST("values come back as they were when the request arrived", "[hbm]") {
    HbmBench bench(one_interface());
    const auto older = bytes_from(6000, 1), newer = bytes_from(6000, 99);
    bench.run([&] {
        bench.write(5000, older.size(), 1, 0, older);
        bench.read(5000, older.size(), 2, 10, true);
        bench.write(5000, newer.size(), 3, 11, newer);  // before the first byte of the read has left
        bench.read(5000, newer.size(), 4, 9, true);     // called last, arrives before the second write
        bench.read(4990, 20, 5, 12, true);
        bench.ends.wait_cycles(5000);

        std::vector<std::uint8_t> read[6];
        for (const Arrival& arrival : bench.ends.arrivals)
            read[arrival.tag].insert(read[arrival.tag].end(), arrival.values.begin(), arrival.values.end());
        CHECK(read[2] == older);
        CHECK(read[4] == older);
        std::vector<std::uint8_t> expected(10, 0);
        expected.insert(expected.end(), newer.begin(), newer.begin() + 10);
        CHECK(read[5] == expected);
        CHECK(bench.hbm.stats().read_bytes == 12020);
        CHECK(bench.hbm.stats().write_bytes == 12000);
    });
}

SIM_TEST("a write without values leaves the memory as it was", "[hbm]") {
    HbmBench bench(one_interface());
    auto bytes = bytes_from(64, 3);
    bench.run([&] {
        CHECK(debug(bench, 0, ::tlm::TLM_WRITE_COMMAND, 128, bytes) == 64);
        bench.write(128, 64);
        bench.ends.wait_cycles(100);
        std::vector<std::uint8_t> back(64);
        CHECK(debug(bench, 0, ::tlm::TLM_READ_COMMAND, 128, back) == 64);
        CHECK(back == bytes);
    });
}

SIM_TEST("debug accesses take no time, count nothing and stop at the region's end", "[hbm]") {
    HbmBench bench;  // 24 interfaces of 1 GiB
    const std::uint64_t region = bench.config.region_bytes;
    auto bytes = bytes_from(100, 8);
    bench.run([&] {
        CHECK(debug(bench, 23, ::tlm::TLM_WRITE_COMMAND, 24 * region - 60, bytes) == 60);
        std::vector<std::uint8_t> back(60);
        CHECK(debug(bench, 23, ::tlm::TLM_READ_COMMAND, 24 * region - 60, back) == 60);
        CHECK(std::equal(back.begin(), back.end(), bytes.begin()));
        CHECK(debug(bench, 23, ::tlm::TLM_READ_COMMAND, 24 * region, back) == 0);
        CHECK(debug(bench, 2, ::tlm::TLM_READ_COMMAND, region, back) == 0);
        CHECK(debug(bench, 2, ::tlm::TLM_IGNORE_COMMAND, 2 * region, back) == 0);
        CHECK(bench.hbm.stats().requests == 0);
        CHECK(bench.hbm.stats().busy_cycles == 0);
        ::tlm::tlm_generic_payload payload;
        ::tlm::tlm_dmi dmi;
        CHECK_FALSE(bench.ends.out[0]->get_direct_mem_ptr(payload, dmi));
    });
    CHECK(bench.ends.arrivals.empty());
    CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
}

SIM_TEST("bad requests are refused with interface and address", "[hbm]") {
    HbmBench bench;
    const std::uint64_t region = bench.config.region_bytes;
    bench.run([&] {
        check_refused(bench, 3, bench.read_packet(region, 10), ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      fmt::format("expected addresses of the {} bytes from {:#x}, found 10 bytes from {:#x}", region,
                                  3 * region, region));
        check_refused(bench, 23, bench.read_packet(24 * region - 8, 9), ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "expected addresses");
        check_refused(bench, 23, bench.read_packet(~std::uint64_t{0}, 2), ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "expected addresses");
        check_refused(bench, 0, bench.read_packet(0, ~std::uint64_t{0}), ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      "expected addresses");
        check_refused(bench, 0, bench.read_packet(0, 0), ::tlm::TLM_BURST_ERROR_RESPONSE, "at least 1 byte, found 0");
        check_refused(bench, 0, bench.read_packet(0, 8, {}), ::tlm::TLM_GENERIC_ERROR_RESPONSE, "reply_to");
        check_refused(bench, 0, bench.ends.packet(1, {100}, 8), ::tlm::TLM_COMMAND_ERROR_RESPONSE,
                      "expected a request to read or write");
        PooledPayload short_write = bench.ends.packet(1, {100}, 8, 0, MemoryOperation::write);
        short_write.packet().has_values = true;
        short_write->set_data_length(7);
        check_refused(bench, 0, std::move(short_write), ::tlm::TLM_BURST_ERROR_RESPONSE,
                      "a data array of 8 bytes, found 7");
        PooledPayload enables = bench.read_packet(0, 8);
        unsigned char lanes = TLM_BYTE_ENABLED;
        enables->set_byte_enable_ptr(&lanes);
        check_refused(bench, 0, std::move(enables), ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "byte enables");
        bench.ends.wait_cycles(1000);
        CHECK(bench.ends.arrivals.empty());
        CHECK(bench.hbm.stats().requests == 0);
    });
}

TEST_CASE("a memory that cannot be built is refused", "[hbm]") {
    const auto refused = [](const std::function<void(hw::HbmConfig&)>& change) {
        hw::HbmConfig config;
        change(config);
        return !hw::validation_error(config).empty();
    };
    CHECK_FALSE(refused([](hw::HbmConfig&) {}));
    CHECK(refused([](hw::HbmConfig& c) { c.impl = "banks"; }));
    CHECK(refused([](hw::HbmConfig& c) { c.stacks = 0; }));
    CHECK(refused([](hw::HbmConfig& c) { c.pseudo_channels_per_interface = 17; }));
    CHECK(refused([](hw::HbmConfig& c) { c.pseudo_channel_gb_per_s = 0; }));
    CHECK(refused([](hw::HbmConfig& c) { c.refresh_share = 1; }));
    CHECK(refused([](hw::HbmConfig& c) { c.read_latency_ns = -1; }));
    CHECK(refused([](hw::HbmConfig& c) { c.burst_bytes = 48; }));
    CHECK(refused([](hw::HbmConfig& c) { c.interleave_bytes = 100; }));
    CHECK(refused([](hw::HbmConfig& c) { c.region_bytes = 100; }));
    CHECK(refused([](hw::HbmConfig& c) { c.max_packet_bytes = 0; }));
    CHECK(refused([](hw::HbmConfig& c) { c.clock_ghz = 0; }));
    in_child([] {
        hw::HbmConfig config;
        config.burst_bytes = 48;
        SimulationRegistry registry;
        CHECK_THROWS_AS(hw::Hbm("hbm", config, registry, {0}), ModelError);
    });
}
