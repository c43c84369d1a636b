// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/hw/memory/hbm.h"
#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/memory_request.h"

// Host time of the network's and the memory's transactions on the chip of 12 x 12 tiles and 24 memory interfaces.
namespace {

using namespace switchyard;

constexpr unsigned kTiles = 144, kInterfaces = 24;

hw::NocConfig network() {
    hw::NocConfig config;
    config.columns = config.rows = 12;
    return config;
}

std::vector<unsigned> routers() {
    std::vector<unsigned> routers(kTiles);
    std::iota(routers.begin(), routers.end(), 0u);
    for (unsigned i = 0; i < kInterfaces; ++i) routers.push_back(i / 2 * 12 + i % 2 * 11);
    return routers;
}

std::vector<Endpoint> interfaces() {
    std::vector<Endpoint> endpoints(kInterfaces);
    std::iota(endpoints.begin(), endpoints.end(), static_cast<Endpoint>(kTiles));
    return endpoints;
}

/// Tiles that only take what comes.
struct Tiles : sc_core::sc_module {
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<Tiles>> out{"out", kTiles};
    sc_core::sc_vector<tlm_utils::simple_target_socket<Tiles>> in{"in", kTiles};
    std::uint64_t arrived = 0;

    explicit Tiles(const sc_core::sc_module_name& name) : sc_module(name) {
        for (auto& socket : in) socket.register_b_transport(this, &Tiles::arrive);
    }
    void arrive(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        ++arrived;
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
};

struct Chip {
    SimulationRegistry registry;
    hw::HbmConfig memory;
    hw::PacketNetwork torus{"noc", network(), registry, routers()};
    hw::Hbm hbm{"hbm", memory, registry, interfaces()};
    Tiles tiles{"tiles"};
    ExtendedPayloadPool<PacketExtension, MemoryExtension> pool{"bench"};

    Chip() {
        for (unsigned t = 0; t < kTiles; ++t) {
            tiles.out[t].bind(torus.inject[t]);
            torus.eject[t].bind(tiles.in[t]);
        }
        for (unsigned i = 0; i < kInterfaces; ++i) {
            hbm.out[i].bind(torus.inject[kTiles + i]);
            torus.eject[kTiles + i].bind(hbm.in[i]);
        }
    }
    PooledPayload packet(Endpoint source, std::uint64_t bytes) {
        PooledPayload payload(pool);
        payload.packet().source = source;
        payload.packet().payload_bytes = bytes;
        payload->set_data_ptr(dummy_buffer(1));
        payload->set_data_length(1);
        return payload;
    }
    void send(PooledPayload& payload) {
        sc_core::sc_time delay;
        tiles.out[payload.packet().source]->b_transport(*payload, delay);
        benchmark::DoNotOptimize(delay);
    }
};

std::unique_ptr<Chip> chip;

void advance(std::uint64_t cycles) {
    sc_core::sc_start(static_cast<double>(cycles), sc_core::SC_NS);
}

/// Between random tiles, which are 6 links apart on average; argument: packets at each microsecond.
void unicast(benchmark::State& state) {
    const auto burst = static_cast<std::size_t>(state.range(0));
    std::mt19937 random(1);
    std::vector<PooledPayload> packets;
    for (std::size_t i = 0; i < 4096; ++i) {
        packets.push_back(chip->packet(static_cast<Endpoint>(random() % kTiles), random() % 4096));
        packets.back().packet().destinations = {static_cast<Endpoint>(random() % kTiles)};
    }
    std::size_t i = 0;
    for (auto _ : state) {
        chip->send(packets[i % packets.size()]);
        if (++i % burst == 0) {
            state.PauseTiming();
            advance(1000);
            state.ResumeTiming();
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(i));
    advance(10'000'000);
}
BENCHMARK(unicast)->Arg(64)->Arg(512)->Arg(4096);

/// From random tiles to all 144.
void broadcast(benchmark::State& state) {
    std::vector<Endpoint> everybody(kTiles);
    std::iota(everybody.begin(), everybody.end(), Endpoint{0});
    std::vector<PooledPayload> packets;
    for (Endpoint tile = 0; tile < kTiles; ++tile) {
        packets.push_back(chip->packet(tile, 1024));
        packets.back().packet().destinations = everybody;
    }
    std::size_t i = 0;
    for (auto _ : state) {
        chip->send(packets[i % packets.size()]);
        if (++i % 32 == 0) {
            state.PauseTiming();
            advance(1000);
            state.ResumeTiming();
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(i));
    advance(10'000'000);
}
BENCHMARK(broadcast);

/// Argument: bytes of each read; time of the request, the memory, and the replies' way back.
void read_memory(benchmark::State& state) {
    const auto bytes = static_cast<std::uint64_t>(state.range(0));
    PooledPayload request = chip->packet(17, 0);
    request.packet().traffic = TrafficClass::control;
    auto& read = request.extension<MemoryExtension>();
    read.operation = MemoryOperation::read;
    read.requested_bytes = bytes;
    read.reply_to = {17};
    const std::uint64_t before = chip->tiles.arrived;
    unsigned interface = 0;
    for (auto _ : state) {
        request.packet().destinations = {static_cast<Endpoint>(kTiles + interface)};
        request->set_address(interface * chip->memory.region_bytes);
        chip->send(request);
        interface = (interface + 1) % kInterfaces;
        if (interface == 0) advance(bytes * kInterfaces / 64 + 2000);
    }
    advance(10'000'000);
    state.counters["packets"] =
        benchmark::Counter(static_cast<double>(chip->tiles.arrived - before), benchmark::Counter::kIsRate);
}
BENCHMARK(read_memory)->Arg(64)->Arg(65536)->Arg(1 << 20);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    chip = std::make_unique<Chip>();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    benchmark::RunSpecifiedBenchmarks();
    chip.reset();
    return 0;
}
