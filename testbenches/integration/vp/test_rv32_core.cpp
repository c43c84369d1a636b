// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/vp/flat_memory.h"
#include "switchyard/testbenches/integration/vp/programs/compute.h"
#include "switchyard/testbenches/integration/vp/rv32_assembly.h"

using namespace switchyard::testing;
using namespace switchyard::testing::rv32;

namespace {

constexpr std::uint32_t kBase = 0x8000'0000, kHandler = kBase + 0x100, kHole = 0x4000'0000;

/// A core in front of a few instructions; traps lead to kHandler.
struct Bench {
    FlatMemory memory{kBase, 0x1000};
    Rv32Core core{memory};

    explicit Bench(const std::vector<std::uint32_t>& instructions) {
        memory.store(kBase, 4, csrrw(0, kMtvec, 1));
        for (std::size_t i = 0; i < instructions.size(); ++i)
            memory.store(kBase + 4 + 4 * static_cast<std::uint32_t>(i), 4, instructions[i]);
        core.reset(kBase);
        core.set_reg(1, kHandler);
        core.step();
    }
    std::uint32_t csr(std::uint32_t number) {
        memory.store(kBase + 0x800, 4, csrrs(31, number, 0));
        memory.store(kBase + 0x804, 4, jalr(0, 0));
        Rv32Core copy = core;  // looks without changing anything
        copy.set_interrupts(0);
        run_at(copy, kBase + 0x800);
        return copy.reg(31);
    }
    void run_at(Rv32Core& hart, std::uint32_t pc) {
        hart.set_reg(30, pc);
        memory.store(hart.pc(), 4, jalr(0, 30));
        hart.step();
        hart.step();
    }
};

}  // namespace

TEST_CASE("what gcc compiled for RV32IM computes what the host computes", "[vp][rv32]") {
    std::vector<std::uint32_t> expected(COMPUTE_RESULTS);
    compute(expected.data());
    // FIPS 180-4's example: the digest of "abc".
    CHECK(std::vector<std::uint32_t>(expected.begin(), expected.begin() + 8) ==
          std::vector<std::uint32_t>{0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61,
                                     0xf20015ad});

    const ElfFile elf = read_elf(SWITCHYARD_VP_PROGRAMS "/compute.elf");
    FlatMemory memory(kBase, 1 << 20);
    memory.put(elf);
    Rv32Core core(memory);
    core.reset(elf.entry);
    const std::uint32_t end = elf.symbols.at("halted"), trap = elf.symbols.at("handle_trap");
    while (core.pc() != end && core.pc() != trap && core.instructions() < 10'000'000) core.step();
    REQUIRE(core.pc() == end);
    const std::uint32_t results = elf.symbols.at("results");
    for (std::uint32_t i = 0; i < COMPUTE_RESULTS; ++i) {
        INFO(i);
        CHECK(memory.word(results + 4 * i) == expected[i]);
    }
}

TEST_CASE("division and multiplication at their corners", "[vp][rv32]") {
    enum Operation { kMul, kMulh, kMulhsu, kMulhu, kDiv, kDivu, kRem, kRemu };
    struct Case {
        Operation operation;
        std::uint32_t a, b, result;
    };
    constexpr std::uint32_t kMin = 0x80000000, kOnes = 0xFFFFFFFF;
    const Case cases[] = {
        // The table of the ISA manual, "Semantics for division by zero and division overflow".
        {kDivu, 77, 0, kOnes},
        {kRemu, 77, 0, 77},
        {kDiv, 77, 0, kOnes},
        {kRem, 77, 0, 77},
        {kDiv, kMin, kOnes, kMin},
        {kRem, kMin, kOnes, 0},
        {kDivu, kOnes, 0, kOnes},
        {kRemu, kOnes, 0, kOnes},
        {kDiv, kMin, 0, kOnes},
        {kRem, kMin, 0, kMin},
        {kDivu, kMin, kOnes, 0},
        {kRemu, kMin, kOnes, kMin},
        // Rounding towards zero; the sign of a remainder is the dividend's.
        {kDiv, static_cast<std::uint32_t>(-7), 2, static_cast<std::uint32_t>(-3)},
        {kRem, static_cast<std::uint32_t>(-7), 2, static_cast<std::uint32_t>(-1)},
        {kDiv, 7, static_cast<std::uint32_t>(-2), static_cast<std::uint32_t>(-3)},
        {kRem, 7, static_cast<std::uint32_t>(-2), 1},
        {kDiv, 0, kOnes, 0},
        {kRem, 0, kOnes, 0},
        // Upper halves.
        {kMul, kMin, kOnes, kMin},
        {kMulh, kMin, kMin, 0x40000000},
        {kMulh, kOnes, kOnes, 0},
        {kMulh, kMin, kOnes, 0},
        {kMulhu, kOnes, kOnes, 0xFFFFFFFE},
        {kMulhu, kMin, kMin, 0x40000000},
        {kMulhsu, kOnes, kOnes, kOnes},
        {kMulhsu, kMin, kOnes, 0x80000000},
        {kMulhsu, 1, kOnes, 0},
    };
    for (const Case& c : cases) {
        INFO(c.operation << " " << c.a << " " << c.b);
        Bench bench({r_type(1, 3, 2, c.operation, 4), r_type(1, 3, 2, c.operation, 0)});
        bench.core.set_reg(2, c.a);
        bench.core.set_reg(3, c.b);
        bench.core.step();
        CHECK(bench.core.reg(4) == c.result);
        bench.core.step();
        CHECK(bench.core.reg(0) == 0);
        CHECK(bench.core.pc() == kBase + 12);
    }
}

TEST_CASE("what cannot be executed traps with cause, value and address", "[vp][rv32]") {
    struct Case {
        const char* what;
        std::uint32_t instruction, cause, value;
    };
    // x2 is kHole + 1, x3 kHole, x4 kBase + 2.
    const std::uint32_t amo = r_type(0, 2, 3, 2, 5, 0x2F), float_add = r_type(0, 1, 2, 0, 3, 0x53);
    const Case cases[] = {
        {"zeros", 0, Rv32Core::kIllegal, 0},
        {"ones", 0xFFFFFFFF, Rv32Core::kIllegal, 0xFFFFFFFF},
        {"an atomic", amo, Rv32Core::kIllegal, amo},
        {"floating point", float_add, Rv32Core::kIllegal, float_add},
        {"a CSR that is not there", csrrw(0, 0x180, 1), Rv32Core::kIllegal, csrrw(0, 0x180, 1)},
        {"a write to a read-only CSR", csrrw(0, 0xF14, 1), Rv32Core::kIllegal, csrrw(0, 0xF14, 1)},
        {"a shift by 32", i_type(1u << 5, 2, 1, 3, 0x13), Rv32Core::kIllegal, i_type(1u << 5, 2, 1, 3, 0x13)},
        {"ld", load(3, 5, 3), Rv32Core::kIllegal, load(3, 5, 3)},
        {"sd", store(3, 5, 3), Rv32Core::kIllegal, store(3, 5, 3)},
        {"a misaligned lw", load(2, 5, 4), Rv32Core::kLoadMisaligned, kBase + 2},
        {"a misaligned lh", load(1, 5, 2), Rv32Core::kLoadMisaligned, kHole + 1},
        {"a misaligned sw", store(2, 5, 4), Rv32Core::kStoreMisaligned, kBase + 2},
        {"a misaligned sh", store(1, 5, 2), Rv32Core::kStoreMisaligned, kHole + 1},
        {"a load from nowhere", load(4, 5, 2), Rv32Core::kLoadFault, kHole + 1},
        {"a store to nowhere", store(2, 5, 3), Rv32Core::kStoreFault, kHole},
        {"a misaligned jump", jalr(5, 4), Rv32Core::kFetchMisaligned, kBase + 2},
        {"ecall", kEcall, Rv32Core::kEnvironmentCall, 0},
        {"ebreak", kEbreak, Rv32Core::kBreakpoint, kBase + 4},
    };
    for (const Case& c : cases) {
        INFO(c.what);
        Bench bench({c.instruction});
        bench.core.set_reg(2, kHole + 1);
        bench.core.set_reg(3, kHole);
        bench.core.set_reg(4, kBase + 2);
        bench.core.set_reg(5, 0x5555);
        bench.core.step();
        CHECK(bench.core.pc() == kHandler);
        CHECK(bench.core.reg(5) == 0x5555);
        CHECK(bench.csr(kMcause) == c.cause);
        CHECK(bench.csr(kMtval) == c.value);
        CHECK(bench.csr(kMepc) == kBase + 4);
    }
    Bench bench({jalr(5, 3)});
    bench.core.set_reg(3, kHole);
    bench.core.step();
    CHECK(bench.core.pc() == kHole);
    bench.core.step();
    CHECK(bench.core.pc() == kHandler);
    CHECK(bench.csr(kMcause) == Rv32Core::kFetchFault);
    CHECK(bench.csr(kMepc) == kHole);
}

TEST_CASE("an interrupt is taken when it is enabled, and mret goes back", "[vp][rv32]") {
    Bench bench({csrrw(0, kMie, 2), addi(5, 5, 1), csrrw(0, kMstatus, 3), addi(5, 5, 1), addi(5, 5, 1)});
    bench.core.set_reg(2, Rv32Core::kExternal | Rv32Core::kTimer);
    bench.core.set_reg(3, 1u << 3);
    bench.memory.store(kHandler, 4, kMret);
    bench.core.set_interrupts(Rv32Core::kTimer | Rv32Core::kExternal);
    for (int i = 0; i < 3; ++i) bench.core.step();
    CHECK(bench.core.reg(5) == 1);  // mie alone does not interrupt
    bench.core.step();
    CHECK(bench.core.pc() == kHandler);
    CHECK(bench.csr(kMcause) == (1u << 31 | 11));  // the external one first
    CHECK(bench.csr(kMepc) == kBase + 16);
    CHECK((bench.csr(kMstatus) & 0x88) == 0x80);  // MIE has gone to MPIE
}

TEST_CASE("after the handler the program goes on where it was", "[vp][rv32]") {
    Bench bench({csrrw(0, kMie, 2), csrrw(0, kMstatus, 3), addi(5, 5, 1), addi(5, 5, 1)});
    bench.core.set_reg(2, Rv32Core::kExternal);
    bench.core.set_reg(3, 1u << 3);
    bench.memory.store(kHandler, 4, kMret);
    bench.core.step();
    bench.core.step();
    bench.core.set_interrupts(Rv32Core::kExternal);
    bench.core.step();
    CHECK(bench.core.pc() == kHandler);
    bench.core.set_interrupts(0);
    for (int i = 0; i < 3; ++i) bench.core.step();
    CHECK(bench.core.reg(5) == 2);
}

TEST_CASE("wfi waits for an interrupt that mie enables, whatever mstatus says", "[vp][rv32]") {
    Bench bench({csrrw(0, kMie, 2), kWfi, addi(5, 5, 1)});
    bench.core.set_reg(2, Rv32Core::kExternal);
    bench.core.step();
    bench.core.step();
    CHECK(bench.core.waits());
    bench.core.set_interrupts(Rv32Core::kTimer);
    CHECK(bench.core.waits());
    bench.core.step();
    CHECK(bench.core.reg(5) == 0);
    bench.core.set_interrupts(Rv32Core::kExternal);
    CHECK_FALSE(bench.core.waits());
    bench.core.step();
    CHECK(bench.core.reg(5) == 1);  // mstatus.MIE is off: no trap
}

#ifdef SWITCHYARD_RISCV_TESTS
/// The official tests of RISC-V International, built from a checkout of them (-DSWITCHYARD_RISCV_TESTS=FOLDER).
TEST_CASE("riscv-tests pass", "[vp][rv32]") {
    std::string names = SWITCHYARD_RISCV_TESTS;
    for (std::size_t begin = 0, end; begin < names.size(); begin = end + 1) {
        end = std::min(names.find('|', begin), names.size());
        const std::string name = names.substr(begin, end - begin);
        const ElfFile elf = read_elf(SWITCHYARD_VP_PROGRAMS "/" + name);
        FlatMemory memory(kBase, 1 << 20);
        memory.put(elf);
        Rv32Core core(memory);
        core.reset(elf.entry);
        const std::uint32_t outcome = elf.symbols.at("tohost");
        while (memory.word(outcome) == 0 && core.instructions() < 1'000'000) core.step();
        INFO(name);
        CHECK(memory.word(outcome) == 1);
    }
}
#endif
