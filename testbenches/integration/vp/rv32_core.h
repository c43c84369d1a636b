// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace switchyard::testing {

/// What a core's loads, stores and fetches meet. False: a bus error, and nothing has happened.
class Rv32Memory {
public:
    virtual ~Rv32Memory() = default;
    virtual bool fetch(std::uint32_t address, std::uint32_t& instruction) = 0;
    /// `bytes` is 1, 2 or 4 and the address a multiple of it; the value comes without sign extension.
    virtual bool load(std::uint32_t address, unsigned bytes, std::uint32_t& value) = 0;
    virtual bool store(std::uint32_t address, unsigned bytes, std::uint32_t value) = 0;
};

/// Instruction-set simulator of one RISC-V hart: RV32I 2.1, M 2.0, Zicsr, Zifencei (which does nothing: there is no
/// instruction cache), machine mode of the privileged architecture 1.12 with direct and vectored traps.
///
/// Not modelled: other privilege modes, PMP, performance counters but mcycle and minstret (both count instructions),
/// misaligned accesses (they trap), pipelines and caches: an instruction is an instruction. Plain C++: no SystemC.
class Rv32Core {
public:
    enum Interrupt : std::uint32_t { kSoftware = 1u << 3, kTimer = 1u << 7, kExternal = 1u << 11 };
    enum Cause : std::uint32_t {
        kFetchMisaligned = 0,
        kFetchFault = 1,
        kIllegal = 2,
        kBreakpoint = 3,
        kLoadMisaligned = 4,
        kLoadFault = 5,
        kStoreMisaligned = 6,
        kStoreFault = 7,
        kEnvironmentCall = 11,
    };

    explicit Rv32Core(Rv32Memory& memory) : memory_(memory) {}

    void reset(std::uint32_t pc);
    /// Takes an interrupt that is pending and enabled, or else executes one instruction. Nothing while it waits.
    void step();
    /// Levels of the interrupt lines; ends a wfi if one of them is enabled in mie, whatever mstatus.MIE says.
    void set_interrupts(std::uint32_t lines);
    /// A wfi was executed and nothing has ended it.
    bool waits() const { return waits_; }

    std::uint32_t pc() const { return pc_; }
    std::uint32_t reg(unsigned index) const { return x_[index]; }
    void set_reg(unsigned index, std::uint32_t value) {
        if (index != 0) x_[index] = value;
    }
    std::uint64_t instructions() const { return instructions_; }

private:
    struct Trap {
        std::uint32_t cause, value;
    };
    struct Csrs {
        std::uint32_t mstatus = 0, mie = 0, mtvec = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
    };

    void execute(std::uint32_t instruction);
    void load(std::uint32_t instruction);
    void store(std::uint32_t instruction);
    void system(std::uint32_t instruction);
    void branch_to(std::uint32_t target);
    std::uint32_t read_csr(std::uint32_t number, std::uint32_t instruction) const;
    void write_csr(std::uint32_t number, std::uint32_t value, std::uint32_t instruction);
    void enter_trap(std::uint32_t cause, std::uint32_t value);

    Rv32Memory& memory_;
    std::array<std::uint32_t, 32> x_{};
    std::uint32_t pc_ = 0, next_pc_ = 0;
    Csrs csr_;
    std::uint32_t lines_ = 0;
    bool waits_ = false;
    std::uint64_t instructions_ = 0, cycles_ahead_ = 0, retired_ahead_ = 0;  ///< counters as software set them
};

}  // namespace switchyard::testing
