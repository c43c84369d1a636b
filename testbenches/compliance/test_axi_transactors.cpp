// SPDX-License-Identifier: Apache-2.0
// Transactions through AXI wires: random ones there and back, and bursts that only somebody else's initiator makes.

#include <algorithm>
#include <functional>
#include <random>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/memory_access.h"
#include "switchyard/tlm/transactors/axi_checker.h"
#include "switchyard/tlm/transactors/axi_to_tlm.h"
#include "switchyard/tlm/transactors/tlm_to_axi.h"

using namespace switchyard;
using namespace switchyard::testing;
using Payload = ::tlm::tlm_generic_payload;
using Bytes = std::vector<unsigned char>;

namespace {

sc_core::sc_time ns(double count) {
    return {count, sc_core::SC_NS};
}

struct Memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    Bytes bytes = Bytes(3 * 8192);
    std::uint64_t accesses = 0;
    std::vector<std::pair<std::uint64_t, unsigned>> log;  ///< address, length

    explicit Memory(const sc_core::sc_module_name& name) : sc_module(name) {
        socket.register_b_transport(this, &Memory::b_transport);
    }
    void b_transport(Payload& payload, sc_core::sc_time& delay) {
        log.emplace_back(payload.get_address(), payload.get_data_length());
        delay += ns(static_cast<double>(accesses++ % 7));
        const std::uint64_t end = payload.get_address() + memory_span(payload);
        payload.set_response_status(end > bytes.size() ? ::tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                       : access_memory(payload, &bytes[payload.get_address()]));
    }
};

/// Initiator, checker, TlmToAxi, wires with their checker, AxiToTlm, checker, memory.
struct AxiRig : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<AxiRig> initiator{"initiator"};
    BaseProtocolChecker<> near{"near"}, far{"far"};
    sc_core::sc_clock clock{"clock", ns(2)};
    sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> aresetn{"aresetn"};
    AxiSignals wires;
    TlmToAxi from_tlm;
    AxiToTlm to_tlm;
    AxiChecker checker;
    Memory memory{"memory"};

    AxiRig(const AxiConfig& config, unsigned stall_percent, unsigned callers,
           const std::function<void(AxiRig&, unsigned)>& caller, const sc_core::sc_module_name& name = "rig")
        : sc_module(name),
          wires("wires", config),
          from_tlm("from_tlm", wires, {stall_percent, 1}),
          to_tlm("to_tlm", wires, {4, stall_percent, 2}),
          checker("checker", wires) {
        initiator.bind(near.target_socket);
        near.initiator_socket.bind(from_tlm.socket);
        to_tlm.socket.bind(far.target_socket);
        far.initiator_socket.bind(memory.socket);
        from_tlm.clock(clock), to_tlm.clock(clock), checker.clock(clock);
        from_tlm.aresetn(aresetn), to_tlm.aresetn(aresetn), checker.aresetn(aresetn);
        sc_core::sc_spawn([this, callers, caller] {
            sc_core::wait(ns(5));
            aresetn.write(true);
            std::vector<sc_core::sc_process_handle> handles;
            for (unsigned i = 0; i < callers; ++i)
                handles.push_back(sc_core::sc_spawn([this, i, caller] { caller(*this, i); }));
            for (sc_core::sc_process_handle& handle : handles)
                if (!handle.terminated()) sc_core::wait(handle.terminated_event());
            finished = true;
            sc_core::sc_stop();
        });
    }
    bool finished = false;

    ::tlm::tlm_response_status access(::tlm::tlm_command command, std::uint64_t address, Bytes& data,
                                      Bytes* enables = nullptr, unsigned width = 0) {
        Payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(width ? width : static_cast<unsigned>(data.size()));
        if (enables) {
            payload.set_byte_enable_ptr(enables->data());
            payload.set_byte_enable_length(static_cast<unsigned>(enables->size()));
        }
        sc_core::sc_time delay;
        initiator->b_transport(payload, delay);
        sc_core::wait(delay);
        return payload.get_response_status();
    }
};

/// Random accesses to a third of the memory, against a copy of it.
void random_traffic(AxiRig& rig, unsigned caller) {
    std::mt19937 random(caller + 1);
    const std::uint64_t base = caller * 8192;
    Bytes copy(8192);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 120; ++i) {
        const bool write = random() % 2 == 0;
        Bytes data(1 + random() % (i % 10 == 0 ? 5000 : 80));
        const std::size_t offset = random() % (copy.size() - data.size());
        for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
        Bytes enables(1 + random() % 9);
        for (unsigned char& byte : enables) byte = random() % 2 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
        Bytes* const masks = random() % 3 == 0 ? &enables : nullptr;
        const auto width = static_cast<unsigned>(random() % 6 == 0 ? 1 + random() % data.size() : data.size());
        Bytes expected = data;
        for (std::size_t k = 0; k < data.size(); ++k) {
            if (masks && enables[k % enables.size()] != TLM_BYTE_ENABLED) continue;
            unsigned char& byte = copy[offset + k % width];
            write ? byte = data[k] : expected[k] = byte;
        }
        const auto command = write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND;
        if (rig.access(command, base + offset, data, masks, width) != ::tlm::TLM_OK_RESPONSE || data != expected)
            ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(std::equal(copy.begin(), copy.end(), rig.memory.bytes.begin() + static_cast<std::ptrdiff_t>(base)));
}

struct Link {
    const char* name;
    AxiConfig config;
};

const std::vector<Link>& links() {
    static const std::vector<Link> kLinks{{"AXI4-Lite, 4 bytes", {true, 4, 0}},
                                          {"AXI4-Lite, 8 bytes", {true, 8, 0}},
                                          {"AXI4, 4 bytes, one ID", {false, 4, 0}},
                                          {"AXI4, 4 bytes", {false, 4, 4}},
                                          {"AXI4, 8 bytes", {false, 8, 2}}};
    return kLinks;
}

}  // namespace

TEST_CASE("random transactions cross AXI wires unharmed, whoever stalls", "[axi]") {
    for (const Link& link : links()) {
        for (const unsigned stall_percent : {0u, 40u, 85u}) {
            INFO(link.name << ", " << stall_percent << " % stalls");
            in_child([&] {
                AxiRig rig(link.config, stall_percent, 3, random_traffic);
                sc_core::sc_start();
                CHECK(rig.finished);
                CHECK(rig.checker.writes() > 150);
                CHECK(rig.checker.reads() > 150);
                CHECK((rig.checker.stalled_cycles() > 1000) == (stall_percent > 0));
                CHECK(rig.checker.max_outstanding() >= (link.config.id_bits > 0 ? 3u : 2u));
                CHECK(rig.near.monitor().transactions() == 360);
            });
        }
    }
}

TEST_CASE("errors come back as what they were", "[axi]") {
    for (const Link& link : links()) {
        INFO(link.name);
        in_child([&] {
            AxiRig rig(link.config, 30, 1, [](AxiRig& r, unsigned) {
                Bytes data(8);
                const std::uint64_t end = r.memory.bytes.size();
                CHECK(r.access(::tlm::TLM_READ_COMMAND, end, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
                CHECK(r.access(::tlm::TLM_WRITE_COMMAND, end + 3, data) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
                CHECK(r.access(::tlm::TLM_READ_COMMAND, end - 8, data) == ::tlm::TLM_OK_RESPONSE);
            });
            sc_core::sc_start();
            CHECK(rig.finished);
        });
    }
}

TEST_CASE("a reset answers who waits, and the link works afterwards", "[axi]") {
    in_child([] {
        AxiRig rig({false, 8, 4}, 0, 1, [](AxiRig& r, unsigned) {
            Bytes data(4000, 7), back(4000);
            sc_core::sc_spawn([&r] {
                sc_core::wait(ns(300));
                r.aresetn.write(false);
                sc_core::wait(ns(20));
                r.aresetn.write(true);
            });
            CHECK(r.access(::tlm::TLM_WRITE_COMMAND, 0, data) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
            sc_core::wait(ns(100));
            CHECK(r.access(::tlm::TLM_WRITE_COMMAND, 0, data) == ::tlm::TLM_OK_RESPONSE);
            CHECK(r.access(::tlm::TLM_READ_COMMAND, 0, back) == ::tlm::TLM_OK_RESPONSE);
            CHECK(back == data);
        });
        sc_core::sc_start();
        CHECK(rig.finished);
    });
}

namespace {

/// A hand that drives the initiator's wires, one burst at a time, as RTL might.
struct Hand : sc_core::sc_module {
    sc_core::sc_clock clock{"clock", ns(2)};
    sc_core::sc_signal<bool> aresetn{"aresetn"};
    AxiSignals wires;
    AxiToTlm to_tlm{"to_tlm", wires};
    AxiChecker checker{"checker", wires};
    Memory memory{"memory"};

    explicit Hand(const std::function<void(Hand&)>& body, const AxiConfig& config = {false, 4, 4},
                  const sc_core::sc_module_name& name = "hand")
        : sc_module(name), wires("wires", config) {
        to_tlm.clock(clock), checker.clock(clock);
        to_tlm.aresetn(aresetn), checker.aresetn(aresetn);
        to_tlm.socket.bind(memory.socket);
        sc_core::sc_spawn([this, body] {
            tick(3);
            aresetn.write(true);
            tick(2);
            body(*this);
            sc_core::sc_stop();
        });
    }
    void tick(unsigned cycles = 1) {
        for (unsigned i = 0; i < cycles; ++i) sc_core::wait(clock.posedge_event());
    }
    template <class Channel>
    void handshake(Channel& channel) {
        channel.valid.write(true);
        do tick();
        while (!channel.ready.read());
        channel.valid.write(false);
    }
    /// Data before the address, as AXI allows. The response.
    unsigned write(const AxiBurst& burst, const std::vector<std::uint32_t>& beats, unsigned strobes) {
        for (std::size_t i = 0; i < beats.size(); ++i) {
            wires.w.data.write(beats[i]);
            wires.w.strobes.write(strobes);
            wires.w.last.write(i + 1 == beats.size());
            handshake(wires.w);
        }
        burst.drive(wires.aw);
        handshake(wires.aw);
        wires.b.ready.write(true);
        do tick();
        while (!wires.b.valid.read());
        wires.b.ready.write(false);
        CHECK(wires.b.id.read() == burst.id);
        return wires.b.response.read();
    }
    /// AXI4-Lite: address, data and strobes, and no other wire.
    unsigned write_lite(std::uint64_t address, std::uint64_t data, unsigned strobes) {
        wires.aw.address.write(address);
        handshake(wires.aw);
        wires.w.data.write(data);
        wires.w.strobes.write(strobes);
        handshake(wires.w);
        wires.b.ready.write(true);
        do tick();
        while (!wires.b.valid.read());
        wires.b.ready.write(false);
        return wires.b.response.read();
    }
    std::uint64_t read_lite(std::uint64_t address) {
        wires.ar.address.write(address);
        handshake(wires.ar);
        wires.r.ready.write(true);
        do tick();
        while (!wires.r.valid.read());
        const std::uint64_t data = wires.r.data.read();
        wires.r.ready.write(false);
        tick();
        return data;
    }
    std::vector<std::uint32_t> read(const AxiBurst& burst) {
        burst.drive(wires.ar);
        handshake(wires.ar);
        std::vector<std::uint32_t> beats;
        wires.r.ready.write(true);
        while (beats.size() < burst.beats()) {
            tick();
            if (wires.r.valid.read()) beats.push_back(static_cast<std::uint32_t>(wires.r.data.read()));
        }
        wires.r.ready.write(false);
        tick();
        return beats;
    }
};

constexpr unsigned kFixedBurst = 0, kIncrBurst = 1, kWrapBurst = 2;

}  // namespace

TEST_CASE("an AXI4-Lite access that drives no size has the full width", "[axi]") {
    const unsigned width = GENERATE(4u, 8u);
    in_child([&] {
        Hand hand(
            [&](Hand& h) {
                const std::uint64_t all = width == 8 ? 0x8877'6655'4433'2211 : 0x4433'2211;
                const unsigned strobes = (1u << width) - 1;
                CHECK(h.write_lite(0x200, all, strobes) == 0);
                CHECK(h.read_lite(0x200) == all);
                for (unsigned i = 0; i < width; ++i) CHECK(h.memory.bytes.at(0x200 + i) == 0x11 * (i + 1));
                CHECK(h.memory.log.back() == std::pair<std::uint64_t, unsigned>{0x200, width});
                // Strobes choose the bytes of a write.
                CHECK(h.write_lite(0x200, 0xAAAA'AAAA'AAAA'AAAA, 0x6) == 0);
                CHECK(h.read_lite(0x200) == ((all & ~std::uint64_t{0xFF'FF00}) | 0xAA'AA00));
                CHECK(h.write_lite(h.memory.bytes.size(), 0, strobes) == static_cast<unsigned>(AxiResponse::decerr));
            },
            {true, width, 0});
        sc_core::sc_start();
        CHECK(hand.checker.writes() == 3);
        CHECK(hand.checker.reads() == 2);
    });
}

SIM_TEST("wrapping, fixed, narrow and unaligned bursts reach the target as the specification has them", "[axi]") {
    Hand hand([](Hand& h) {
        const auto bytes = [&](std::size_t at, std::size_t count) {
            return Bytes(h.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         h.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
        };
        // WRAP from 0x108: 0x108, 0x10C, 0x100, 0x104, in one transaction.
        CHECK(h.write({0x108, 3, 3, 2, kWrapBurst}, {0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C}, 0xF) == 0);
        CHECK(bytes(0x100, 16) == Bytes{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7});
        CHECK(h.memory.log.back() == std::pair<std::uint64_t, unsigned>{0x100, 16});
        CHECK(h.read({0x108, 3, 3, 2, kWrapBurst}) ==
              std::vector<std::uint32_t>{0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C});
        // FIXED: the same word three times, one transaction each.
        h.memory.log.clear();
        CHECK(h.write({0x200, 1, 2, 2, kFixedBurst}, {1, 2, 3}, 0xF) == 0);
        CHECK(h.memory.log.size() == 3);
        CHECK(bytes(0x200, 4) == Bytes{3, 0, 0, 0});
        CHECK(h.read({0x200, 1, 1, 2, kFixedBurst}) == std::vector<std::uint32_t>{3, 3});
        // Narrow: bytes at 0x305, 0x306, 0x307, each in its lane.
        CHECK(h.write({0x306, 0, 0, 0, kIncrBurst}, {0x00AA0000}, 0x4) == 0);
        CHECK(bytes(0x304, 4) == Bytes{0, 0, 0xAA, 0});
        CHECK(h.read({0x305, 0, 2, 0, kIncrBurst}) == std::vector<std::uint32_t>{0, 0x00AA0000, 0});
        // Unaligned: the first beat is short.
        CHECK(h.write({0x403, 0, 1, 2, kIncrBurst}, {0x44000000, 0x48474645}, 0xF & 0x8) == 0);
        CHECK(bytes(0x400, 8) == Bytes{0, 0, 0, 0x44, 0, 0, 0, 0x48});
        CHECK(h.read({0x403, 0, 1, 2, kIncrBurst}) == std::vector<std::uint32_t>{0x44000000, 0x48000000});
        CHECK(h.write({0x10000, 5, 0, 2, kIncrBurst}, {1}, 0xF) == static_cast<unsigned>(AxiResponse::decerr));
    });
    sc_core::sc_start();
    CHECK(hand.checker.writes() == 5);
    CHECK(hand.checker.reads() == 4);
}
