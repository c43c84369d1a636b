// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/array_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

PeWorkExtension block(unsigned rows, unsigned columns, unsigned reduction, std::uint64_t repeats = 1) {
    PeWorkExtension work;
    work.rows = rows;
    work.columns = columns;
    work.reduction = reduction;
    work.repeats = repeats;
    return work;
}

/// Runs `body(array)` on every implementation that counts cycles: they agree on all that is below.
void with_each(const std::function<void(const hw::PeArray::Config&)>& body) {
    for (const char* impl : {"analytic", "cycle"})
        in_child([&] {
            INFO("implementation " << impl);
            hw::PeArray::Config array;
            array.impl = impl;
            body(array);
        });
}

hw::Scratchpad::Config without_latency() {
    hw::Scratchpad::Config config;
    config.latency_cycles = 0;
    return config;
}

}  // namespace

// Measured totals of other simulators for C = A x B on one 32x32 array: SCALE-Sim v2, output stationary, equals
// blocks x (K + 62) - 1, nothing overlapped and without the way out of the array.
TEST_CASE("PE array: cycles of a GEMM against closed forms", "[pe_array]") {
    struct Gemm {
        unsigned m, n, k;
        std::uint64_t scale_sim;
    };
    for (const Gemm gemm : {Gemm{32, 32, 1024, 1085}, Gemm{128, 128, 128, 3039}, Gemm{256, 256, 256, 20351},
                            Gemm{192, 256, 512, 27551}, Gemm{32, 64, 7, 137}})
        with_each([gemm](const hw::PeArray::Config& array) {
            ArrayBench bench("bench", array, without_latency());
            const std::uint64_t blocks = std::uint64_t{gemm.m / 32} * (gemm.n / 32);
            PeWorkExtension work = block(32, 32, gemm.k, blocks);
            REQUIRE(bench.run(work) == ::tlm::TLM_OK_RESPONSE);
            // Fed at once, the last one goes down 31 rows, drains 32 cycles and leaves 31 columns to the right; or the
            // first one is fed and goes down, and all drain.
            CHECK(work.cycles == std::max(blocks * gemm.k + 32, gemm.k + blocks * 32) + 31 + 31);
            CHECK(bench.delay == sc_core::sc_time(static_cast<double>(work.cycles), sc_core::SC_NS));
            CHECK(work.macs == std::uint64_t{gemm.m} * gemm.n * gemm.k);
            CHECK(work.cycles >= work.macs / 1024);

            CHECK(gemm.scale_sim == blocks * (gemm.k + 62) - 1);  // so that the table above is what it says
            if (gemm.k >= 32)  // from there to here: the way out, and all fills but the first hidden
                CHECK(work.cycles == gemm.scale_sim + 1 + 32 - (blocks - 1) * 62);
        });
}

// 196 rows are six blocks and four rows: the last blocks fill and drain faster.
TEST_CASE("PE array: a GEMM with a remainder", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        ArrayBench bench("bench", array, without_latency());
        PeWorkExtension full = block(32, 32, 512, 6 * 8), rest = block(4, 32, 512, 8);
        full.last = rest.first = false;
        REQUIRE(bench.run(full) == ::tlm::TLM_OK_RESPONSE);
        REQUIRE(bench.run(rest) == ::tlm::TLM_OK_RESPONSE);
        CHECK(full.cycles + rest.cycles == 7 * 8 * 512 + 3 + 4 + 31);
        CHECK(full.macs + rest.macs == 196ull * 256 * 512);
        CHECK(bench.pe_array.stats().macs == 196ull * 256 * 512);
        CHECK(bench.pe_array.stats().busy_cycles == full.cycles + rest.cycles);
        CHECK(full.cycles + rest.cycles < 32143);  // SCALE-Sim v2
        CHECK(full.cycles + rest.cycles > 25088);  // ideal
    });
}

TEST_CASE("PE array: one command of many blocks is as many commands of one block", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        ArrayBench bench("bench", array);
        PeWorkExtension together = block(5, 7, 33, 12);
        together.row_outputs = 2;
        bench.run(together);
        const std::uint64_t read = bench.scratchpad.stats().read_bytes, written = bench.scratchpad.stats().write_bytes;
        std::uint64_t cycles = 0;
        for (unsigned i = 0; i < 12; ++i) {
            PeWorkExtension one = block(5, 7, 33);
            one.row_outputs = 2;
            one.first = i == 0;
            one.last = i == 11;
            bench.run(one);
            cycles += one.cycles;
        }
        CHECK(cycles == together.cycles);
        CHECK(bench.scratchpad.stats().read_bytes == 2 * read);
        CHECK(bench.scratchpad.stats().write_bytes == 2 * written);
        CHECK(read == 12 * (5 * 2 + 7) * 33 * 2);
        CHECK(written == 12 * 5 * 2 * 7 * 2);
    });
}

TEST_CASE("PE array: latency of the scratchpad shows once an invocation", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        hw::Scratchpad::Config store;
        store.latency_cycles = 17;
        ArrayBench bench("bench", array, store);
        PeWorkExtension first = block(32, 32, 100), last = block(32, 32, 100);
        first.last = last.first = false;
        bench.run(first);
        bench.run(last);
        CHECK(first.cycles == 17 + 100);
        CHECK(last.cycles == 100 + 31 + 32 + 31);
    });
}

TEST_CASE("PE array: a pause between the commands of an invocation", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        ArrayBench bench("bench", array, without_latency());
        PeWorkExtension first = block(32, 32, 10), last = block(32, 32, 10);
        first.last = last.first = false;
        bench.run(first);
        bench.delay += sc_core::sc_time(20, sc_core::SC_NS);  // the first block drains from cycle 10 + 31 to 73
        bench.run(last);
        CHECK(first.cycles == 10);
        CHECK(last.cycles == 10 + 31 + 2 + 32 + 31);
    });
}

TEST_CASE("PE array: a narrow scratchpad sets the rate", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        hw::Scratchpad::Config store = without_latency();
        store.bytes_per_cycle = 32;
        store.write_bytes_per_cycle = 8;
        ArrayBench bench("bench", array, store);
        PeWorkExtension reads = block(32, 32, 300, 10);  // the last block drains a row in 8 cycles
        bench.run(reads);
        CHECK(reads.cycles == 10 * (2 * 32 * 300 * 2 / 32) + 31 + 31 * 8 + 32);
        PeWorkExtension writes = block(32, 32, 40, 10);  // 160 cycles to read, 256 to write
        bench.run(writes);
        CHECK(writes.cycles == 160 + 31 + 10 * (32 * 32 * 2 / 8) - 8 + 32);
        const auto& stats = bench.scratchpad.stats();
        CHECK(stats.read_bytes <= 32 * (reads.cycles + writes.cycles));
        CHECK(stats.busy_cycles <= reads.cycles + writes.cycles);
    });
}

TEST_CASE("PE array: accumulators reuse operands", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        hw::Scratchpad::Config store = without_latency();
        store.bytes_per_cycle = 64;  // half of what one output a PE would need
        ArrayBench bench("bench", array, store);
        PeWorkExtension work = block(32, 32, 256, 4);
        work.row_outputs = work.column_outputs = 2;
        bench.run(work);
        const std::uint64_t first_step = (64 + 64) * 2 / 64 - 1;  // its last operands come while they are used
        CHECK(work.cycles == first_step + 4 * 256 * 4 + 31 + 32 * 4 + 31);
        CHECK(work.macs == 4ull * 64 * 64 * 256);
    });
}

// The results of a block that drains in columns far to the right may leave after those of a small one behind it.
TEST_CASE("PE array: the last result may be another block's than the last", "[pe_array]") {
    with_each([](const hw::PeArray::Config& array) {
        ArrayBench bench("bench", array, without_latency());
        PeWorkExtension wide = block(2, 32, 9), narrow = block(1, 1, 9);
        wide.last = narrow.first = false;
        bench.run(wide);
        bench.run(narrow);
        CHECK(wide.cycles == 9);
        CHECK(narrow.cycles == 1 + 2 + 31);  // the wide one's; its own is through at 9 + 1
    });
}

SIM_TEST("PE array: wanted outputs count, the others cost time only", "[pe_array]") {
    ArrayBench bench("bench", {}, without_latency());
    PeWorkExtension work = block(3, 1, 64);
    work.row_outputs = 2;
    work.outputs = 5;
    bench.run(work);
    CHECK(work.macs == 5 * 64);
    CHECK(work.cycles == 2 * 64 + 2 + 3 * 2);
}

SIM_TEST("PE array: vector work", "[pe_array]") {
    ArrayBench bench("bench", {}, without_latency());
    PeWorkExtension pool = block(32, 32, 9, 5);  // reads 9 x 2 kB a block at 128 B a cycle
    pool.vector_op = true;
    bench.run(pool);
    CHECK(pool.cycles == 5 * 144);
    CHECK(bench.pe_array.stats().macs == 0);
    CHECK(bench.pe_array.stats().vector_elements == 5 * 9 * 1024);
    PeWorkExtension add = block(32, 32, 1);  // writes 2 kB at 64 B a cycle
    add.vector_op = true;
    bench.run(add);
    CHECK(add.cycles == 32);
}

SIM_TEST("PE array: vector work with a wide scratchpad is bound by the PEs", "[pe_array]") {
    hw::Scratchpad::Config store = without_latency();
    store.bytes_per_cycle = store.write_bytes_per_cycle = 4096;
    ArrayBench bench("bench", {}, store);
    PeWorkExtension work = block(32, 31, 9, 5);
    work.vector_op = true;
    bench.run(work);
    CHECK(work.cycles == 5 * 9);  // ceil(32 * 31 * 9 / 1024)
}

SIM_TEST("PE array: commands that overlap in time run one after another", "[pe_array]") {
    ArrayBench bench("bench", {}, without_latency());
    PeWorkExtension a = block(32, 32, 100), b = a;
    bench.run(a);
    bench.delay = sc_core::sc_time(10, sc_core::SC_NS);  // while `a` runs
    bench.run(b);
    CHECK(b.cycles == a.cycles);
    CHECK(bench.delay == sc_core::sc_time(static_cast<double>(2 * a.cycles), sc_core::SC_NS));
}

SIM_TEST("PE array refuses what it does not have", "[pe_array]") {
    ArrayBench bench("bench");
    PeWorkExtension wide = block(33, 32, 8), empty = block(1, 1, 0), fits = block(1, 1, 8), deep = fits, more = fits,
                    long_one = block(32, 32, 0xFFFFFFFF);
    fits.row_outputs = 5;  // two sets of five fp32 accumulators and six operands: 52 bytes
    deep.row_outputs = 8;  // 82 bytes
    more.outputs = 2;
    CHECK(bench.run(fits) == ::tlm::TLM_OK_RESPONSE);
    for (PeWorkExtension* work : {&wide, &empty, &deep, &more, &long_one})
        CHECK(bench.run(*work) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
    const auto& errors = bench.registry.errors();
    REQUIRE(errors.size() == 5);
    CHECK_THAT(errors[0],
               ContainsSubstring("bench.pe_array: expected a block of at most the array's 32 x 32 PEs, found 33 x 32"));
    CHECK_THAT(errors[2], ContainsSubstring("found 82 for 8 x 1 accumulators"));
    CHECK(bench.pe_array.stats().commands == 1);
    CHECK(bench.pe_array.stats().macs == fits.macs);
}

SIM_TEST("PE array reports what its scratchpad refuses", "[pe_array]") {
    hw::Scratchpad::Config kernels_only;
    kernels_only.capacity_bytes = 2560;
    kernels_only.kernel_share = 1.0;
    ArrayBench bench("bench", {}, kernels_only);
    PeWorkExtension work = block(32, 32, 8);
    CHECK(bench.run(work) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(bench.registry.errors().size() == 2);  // the deepest cause first
    CHECK_THAT(bench.registry.errors()[0],
               ContainsSubstring(
                   "bench.scratchpad: expected addresses below 0xa00, the scratchpad's, found 64 bytes at 0xa00"));
    CHECK_THAT(bench.registry.errors()[1], ContainsSubstring("TLM_ADDRESS_ERROR_RESPONSE"));
    CHECK(work.macs == 0);
}

TEST_CASE("PE array: an implementation that does not exist", "[pe_array]") {
    in_child([] {
        SimulationRegistry registry;
        hw::PeArray::Config config;
        config.impl = "quantum";
        CHECK_THROWS_WITH(hw::make_pe_array("a", config, registry), ContainsSubstring("found quantum"));
        config = {};
        config.acc = "fp8";
        CHECK_THROWS_AS(hw::make_pe_array("b", config, registry), ModelError);
    });
}
