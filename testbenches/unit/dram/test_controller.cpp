// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "switchyard/hw/memory/dram/dram_system.h"
#include "switchyard/hw/memory/dram/timing_checker.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::hw::dram;

namespace {

/// Keeps the commands, which have passed the checker.
struct Recorder : CommandSink {
    explicit Recorder(const Device& device) : checker(device) {}
    void on_command(unsigned channel, const Command& command) override {
        checker.on_command(channel, command);
        commands.push_back(command);
    }
    std::vector<Cycle> cycles_of(CommandKind kind) const {
        std::vector<Cycle> cycles;
        for (const Command& command : commands)
            if (command.kind == kind) cycles.push_back(command.cycle);
        return cycles;
    }
    TimingChecker checker;
    std::vector<Command> commands;
};

/// One channel of the device without refresh, unless a test wants it.
Device one_channel(const char* name, std::map<std::string, std::string> settings = {}) {
    settings.emplace("geometry.channels", "1");
    settings.emplace("controller.refresh", "none");
    return read_device(name, settings);
}

struct Bench {
    explicit Bench(const Device& d) : device(d), recorder(d), dram(d, &recorder) {}

    void ask(const Location& location, bool write, Cycle arrival, std::uint64_t owner) {
        dram.submit(dram.mapping().address_of(location), device.geometry.burst_bytes, write, arrival, owner);
    }
    /// Completion cycle by owner, when all that was asked for is done.
    std::vector<Cycle> finish(std::size_t owners, Cycle step = 1000) {
        std::vector<Cycle> done(owners, kNever);
        DramSystem::Completion completion;
        while (dram.in_flight() > 0) {
            dram.advance(dram.now() + step);
            while (dram.pop(kNever, completion)) done.at(completion.owner) = completion.cycle;
        }
        return done;
    }

    Device device;
    Recorder recorder;
    DramSystem dram;
};

Location at(unsigned group, unsigned bank, unsigned row, unsigned column) {
    return {0, 0, group, bank, row, column};
}

}  // namespace

TEST_CASE("a read of a closed bank takes tRCD, tCL and the burst, a row hit tCL, a conflict tRP as well", "[dram]") {
    Bench bench(one_channel("hbm2"));
    const Timing& t = bench.device.timing;
    bench.ask(at(0, 0, 5, 0), false, 100, 0);
    bench.ask(at(0, 0, 5, 7), false, 300, 1);
    bench.ask(at(0, 0, 6, 0), false, 500, 2);
    bench.ask(at(1, 0, 6, 0), true, 700, 3);
    const std::vector<Cycle> done = bench.finish(4);
    CHECK(done[0] == 100 + t.trcd_read_cycles + t.tcl_cycles + t.burst_cycles);
    CHECK(done[1] == 300 + t.tcl_cycles + t.burst_cycles);
    CHECK(done[2] == 500 + t.trp_cycles + t.trcd_read_cycles + t.tcl_cycles + t.burst_cycles);
    CHECK(done[3] == 700 + t.trcd_write_cycles + t.tcwl_cycles + t.burst_cycles);
    CHECK(bench.dram.stats().row_hits == 1);
    CHECK(bench.dram.stats().activates == 3);
}

TEST_CASE("a closed page needs no precharge command, and each row is opened again", "[dram]") {
    Bench bench(one_channel("hbm2", {{"controller.page", "closed"}}));
    const Timing& t = bench.device.timing;
    bench.ask(at(0, 0, 5, 0), false, 100, 0);
    bench.ask(at(0, 0, 6, 0), false, 300, 1);
    const std::vector<Cycle> done = bench.finish(2);
    CHECK(done[1] == 300 + t.trcd_read_cycles + t.tcl_cycles + t.burst_cycles);
    CHECK(bench.recorder.cycles_of(CommandKind::precharge).empty());
    CHECK(bench.recorder.cycles_of(CommandKind::read_precharge).size() == 2);
    CHECK(bench.dram.stats().row_hits == 0);
}

TEST_CASE("bursts that wait for the same row share one activate", "[dram]") {
    for (const char* page : {"open", "closed"}) {
        Bench bench(one_channel("hbm2", {{"controller.page", page}}));
        for (unsigned i = 0; i < 16; ++i) bench.ask(at(0, 0, 5, i), false, 0, i);
        const std::vector<Cycle> done = bench.finish(16);
        const Timing& t = bench.device.timing;
        CHECK(bench.dram.stats().activates == 1);
        CHECK(bench.dram.stats().row_hits == 15);
        CHECK(done.back() == t.trcd_read_cycles + 15 * t.column_l_cycles() + t.tcl_cycles + t.burst_cycles);
    }
}

TEST_CASE("five activates take a window of tFAW", "[dram]") {
    Bench bench(one_channel("hbm2"));
    for (unsigned i = 0; i < 5; ++i) bench.ask(at(i % 4, i / 4, 1, 0), false, 0, i);
    bench.finish(5);
    const std::vector<Cycle> activates = bench.recorder.cycles_of(CommandKind::activate);
    REQUIRE(activates.size() == 5);
    const Timing& t = bench.device.timing;
    CHECK(activates[1] - activates[0] == t.trrd_s_cycles);
    CHECK(activates[4] - activates[0] == t.tfaw_cycles);
}

TEST_CASE("row hits go first, until an older burst has waited for the starvation limit", "[dram]") {
    constexpr unsigned kLimit = 500;
    Bench bench(one_channel("hbm2", {{"controller.starvation_limit_cycles", std::to_string(kLimit)}}));
    // A stream of hits to one row that would last for 4000 cycles, and one burst to another row of the bank.
    const unsigned hits = 2000;
    bench.ask(at(0, 0, 1, 0), false, 0, 0);
    bench.ask(at(0, 0, 2, 0), false, 20, 1);
    for (unsigned i = 2; i < hits; ++i) bench.ask(at(0, 0, 1, i % 32), false, 20 + i, i);
    const std::vector<Cycle> done = bench.finish(hits);
    const Timing& t = bench.device.timing;
    CHECK(done[1] > 20 + kLimit);
    CHECK(done[1] < 20 + kLimit + t.trtp_cycles + t.trc_cycles + t.trcd_read_cycles + t.tcl_cycles + t.burst_cycles);
    CHECK(bench.dram.stats().activates == 3);
}

TEST_CASE("writes wait until enough have come together, and reads do not starve meanwhile", "[dram]") {
    const Device device = one_channel("hbm2");
    Bench bench(device);
    std::mt19937 random(3);
    const auto any = [&random](unsigned count) { return static_cast<unsigned>(random() % count); };
    const auto anywhere = [&] { return at(any(4), any(4), any(64), any(32)); };
    const unsigned count = 20000;
    Cycle arrival = 0;
    std::vector<bool> write(count);
    std::vector<Cycle> came(count);
    for (unsigned i = 0; i < count; ++i) {
        arrival += 8 + random() % 4;  // just below what tFAW lets through
        write[i] = random() % 2 == 0;
        came[i] = arrival;
        bench.ask(anywhere(), write[i], arrival, i);
    }
    const std::vector<Cycle> done = bench.finish(count);
    double reads = 0, writes = 0, read_latency = 0, write_latency = 0;
    Cycle longest = 0;
    for (unsigned i = 0; i < count; ++i) {
        (write[i] ? writes : reads) += 1;
        (write[i] ? write_latency : read_latency) += static_cast<double>(done[i] - came[i]);
        longest = std::max(longest, done[i] - came[i]);
    }
    CHECK(read_latency / reads < write_latency / writes);
    CHECK(longest < device.policy.starvation_limit_cycles + 2000);
    // Several writes for each turn: a turn costs about 20 cycles of the data bus.
    CHECK(static_cast<double>(bench.dram.stats().writes) >
          1.5 * static_cast<double>(bench.dram.stats().turnarounds) / 2);
}

TEST_CASE("a read of what a waiting write will store is answered from the queue", "[dram]") {
    Bench bench(one_channel("hbm2"));
    for (unsigned i = 0; i < 4; ++i) bench.ask(at(0, 0, 7, i), false, 0, i);  // keep the bank at row 7
    bench.ask(at(0, 0, 3, 4), true, 1, 4);
    bench.ask(at(0, 0, 3, 4), false, 2, 5);
    bench.ask(at(0, 0, 3, 5), false, 2, 6);
    bench.finish(7);
    CHECK(bench.dram.stats().forwarded == 1);
    CHECK(bench.dram.stats().reads == 5);
    CHECK(bench.dram.stats().writes == 1);
}

TEST_CASE("refresh takes tRFC every tREFI, bank by bank or all at once", "[dram]") {
    for (const char* kind : {"all-bank", "per-bank"}) {
        CAPTURE(kind);
        Bench bench(one_channel("hbm2_2400", {{"controller.refresh", kind}}));
        const Timing& t = bench.device.timing;
        std::mt19937 random(1);
        const Cycle end = Cycle{t.trefi_cycles} * 20;
        std::vector<Cycle> arrivals;
        for (Cycle arrival = 0; arrival < end; arrival += 20) {
            Location location;
            location.pseudo_channel = random() % 2;
            location.bank_group = random() % 4;
            location.bank = random() % 4;
            location.row = random() % 100;
            bench.ask(location, random() % 4 == 0, arrival, arrivals.size());
            arrivals.push_back(arrival);
        }
        bench.finish(arrivals.size());
        const bool all = std::string(kind) == "all-bank";
        const double refreshes = static_cast<double>(
            bench.recorder.cycles_of(all ? CommandKind::refresh_all : CommandKind::refresh_bank).size());
        const double period = all ? t.trefi_cycles : t.trefi_bank_cycles;
        CHECK(refreshes == Approx(2 * static_cast<double>(end) / period).margin(all ? 4 : 12));
    }
}

TEST_CASE("an idle memory refreshes, and what comes afterwards finds it so", "[dram]") {
    Bench bench(one_channel("hbm2", {{"controller.refresh", "all-bank"}}));
    const Timing& t = bench.device.timing;
    bench.ask(at(0, 0, 1, 0), false, 10 * Cycle{t.trefi_cycles} + 100, 0);
    const std::vector<Cycle> done = bench.finish(1, 1000000);
    CHECK(bench.recorder.cycles_of(CommandKind::refresh_all).size() >= 10);
    // It comes during the tenth refresh and waits until that is over.
    CHECK(done[0] == 10 * Cycle{t.trefi_cycles} + t.trfc_cycles + t.trcd_read_cycles + t.tcl_cycles + t.burst_cycles);
}

TEST_CASE("the steps in which time is moved on change nothing", "[dram]") {
    for (const char* name : {"hbm2", "hbm2_2400", "ddr4", "lpddr4"}) {
        CAPTURE(name);
        const Device device = read_device(name);
        std::vector<std::vector<Cycle>> results;
        for (const Cycle step : {Cycle{1}, Cycle{7}, Cycle{100000}}) {
            Bench bench(device);
            std::mt19937_64 random(9);
            Cycle arrival = 0;
            const unsigned count = 3000;
            for (unsigned i = 0; i < count; ++i) {
                arrival += random() % 16;
                bench.dram.submit(random() % 4096 * 64, 64, random() % 3 == 0, arrival, i);
            }
            results.push_back(bench.finish(count, step));
        }
        CHECK(results[0] == results[1]);
        CHECK(results[0] == results[2]);
    }
}

TEST_CASE("nothing is lost, whatever the device, the policy and the traffic", "[dram]") {
    std::mt19937_64 random(17);
    for (const std::string& name : builtin_devices()) {
        for (const char* page : {"open", "closed"}) {
            for (const char* refresh : {"all-bank", "per-bank", "none"}) {
                const Device plain = read_device(name);
                if (std::string(refresh) == "per-bank" && plain.timing.trefi_bank_cycles == 0) continue;
                CAPTURE(name, page, refresh);
                Bench bench(read_device(name, {{"controller.page", page}, {"controller.refresh", refresh}}));
                const unsigned count = 2000;
                std::uint64_t bursts = 0;
                Cycle arrival = 0;
                for (unsigned i = 0; i < count; ++i) {
                    arrival += random() % 40 == 0 ? random() % 3000 : random() % 4;
                    const std::uint64_t bytes = 1 + random() % 1000, address = random() % (1 << 20);
                    const unsigned burst = bench.device.geometry.burst_bytes;
                    bursts += (address + bytes - 1) / burst - address / burst + 1;
                    bench.dram.submit(address, bytes, random() % 2 == 0, arrival, i);
                }
                const std::vector<Cycle> done = bench.finish(count);
                CHECK(std::count(done.begin(), done.end(), kNever) == 0);
                const ChannelStats stats = bench.dram.stats();
                CHECK(stats.reads + stats.writes + stats.forwarded == bursts);
                CHECK(bench.recorder.checker.commands() > bursts - stats.forwarded);
            }
        }
    }
}

TEST_CASE("the bursts of a request go where the mapping says, each once, wherever the channel's bits are", "[dram]") {
    using BurstPlace = std::tuple<unsigned, unsigned, unsigned, std::uint32_t, std::uint32_t>;
    struct Reads : CommandSink {
        void on_command(unsigned channel, const Command& c) override {
            if (is_column(c.kind)) places.emplace(channel, c.pseudo_channel, c.bank, c.row, c.column);
        }
        std::multiset<BurstPlace> places;
    };
    for (const char* mapping : {"row-bank-column:4-channel-pseudochannel-bankgroup-column:1",
                                "channel-row-bank-bankgroup-pseudochannel-column",
                                "channel:1-row-bank-channel:1-column:3-bankgroup-channel-pseudochannel-column"}) {
        CAPTURE(mapping);
        const Device device = read_device("hbm2_2400", {{"controller.mapping", mapping}});
        const unsigned burst_bytes = device.geometry.burst_bytes;
        Reads reads;
        DramSystem dram(device, &reads);
        std::multiset<BurstPlace> expected;
        std::uint64_t address = device.geometry.bytes() / 2 - 150 * burst_bytes;
        for (unsigned request = 0; request < 6; ++request) {
            const std::uint64_t bursts = 1 + request * 37;
            dram.submit(address, bursts * burst_bytes, false, 0, request);
            for (std::uint64_t i = 0; i < bursts; ++i, address += burst_bytes) {
                const Location at = dram.mapping().locate(address);
                expected.emplace(at.channel, at.pseudo_channel,
                                 at.bank_group * device.geometry.banks_per_group + at.bank, at.row, at.column);
            }
        }
        dram.advance(100000);
        CHECK(reads.places == expected);
    }
}
