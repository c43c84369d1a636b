// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/rv32_core.h"

namespace switchyard::testing {

namespace {

constexpr std::uint32_t kMie = 1u << 3, kMpie = 1u << 7, kMpp = 3u << 11;  // of mstatus
constexpr std::uint32_t kInterruptCause = 1u << 31;
constexpr std::uint32_t kMisa = 1u << 30 | 1u << ('I' - 'A') | 1u << ('M' - 'A');

enum Csr : std::uint32_t {
    kMstatus = 0x300,
    kMisaCsr = 0x301,
    kMieCsr = 0x304,
    kMtvec = 0x305,
    kMstatush = 0x310,
    kMscratch = 0x340,
    kMepc = 0x341,
    kMcause = 0x342,
    kMtval = 0x343,
    kMip = 0x344,
    kMcycle = 0xB00,
    kMinstret = 0xB02,
    kMcycleh = 0xB80,
    kMinstreth = 0xB82,
    kMvendorid = 0xF11,
    kMconfigptr = 0xF15,
};

std::uint32_t bits(std::uint32_t instruction, unsigned high, unsigned low) {
    return instruction << (31 - high) >> (31 - high + low);
}
std::int32_t as_signed(std::uint32_t value) {
    return static_cast<std::int32_t>(value);
}
std::uint32_t sign_extended(std::uint32_t value, unsigned width) {
    const unsigned shift = 32 - width;
    return static_cast<std::uint32_t>(as_signed(value << shift) >> shift);
}

std::uint32_t immediate_i(std::uint32_t instruction) {
    return sign_extended(bits(instruction, 31, 20), 12);
}
std::uint32_t immediate_s(std::uint32_t instruction) {
    return sign_extended(bits(instruction, 31, 25) << 5 | bits(instruction, 11, 7), 12);
}
std::uint32_t immediate_b(std::uint32_t instruction) {
    return sign_extended(bits(instruction, 31, 31) << 12 | bits(instruction, 7, 7) << 11 |
                             bits(instruction, 30, 25) << 5 | bits(instruction, 11, 8) << 1,
                         13);
}
std::uint32_t immediate_j(std::uint32_t instruction) {
    return sign_extended(bits(instruction, 31, 31) << 20 | bits(instruction, 19, 12) << 12 |
                             bits(instruction, 20, 20) << 11 | bits(instruction, 30, 21) << 1,
                         21);
}

/// Division as the ISA manual's table has it: by zero gives all ones and the dividend, overflow the dividend and zero.
std::uint32_t multiply_or_divide(std::uint32_t operation, std::uint32_t a, std::uint32_t b) {
    const std::int64_t sa = as_signed(a), sb = as_signed(b);
    const bool overflows = a == 0x8000'0000 && b == 0xFFFF'FFFF;
    switch (operation) {
        case 0:  // mul
            return a * b;
        case 1:  // mulh
            return static_cast<std::uint32_t>(static_cast<std::uint64_t>(sa * sb) >> 32);
        case 2:  // mulhsu
            return static_cast<std::uint32_t>(static_cast<std::uint64_t>(sa * std::int64_t{b}) >> 32);
        case 3:  // mulhu
            return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
        case 4:  // div
            if (b == 0) return 0xFFFF'FFFF;
            return overflows ? a : static_cast<std::uint32_t>(as_signed(a) / as_signed(b));
        case 5:  // divu
            return b == 0 ? 0xFFFF'FFFF : a / b;
        case 6:  // rem
            if (b == 0) return a;
            return overflows ? 0 : static_cast<std::uint32_t>(as_signed(a) % as_signed(b));
        default:  // remu
            return b == 0 ? a : a % b;
    }
}

/// Of register-register and register-immediate instructions; `alternative`: sub and sra.
std::uint32_t arithmetic(std::uint32_t operation, bool alternative, std::uint32_t a, std::uint32_t b) {
    switch (operation) {
        case 0:
            return alternative ? a - b : a + b;
        case 1:
            return a << (b & 31);
        case 2:
            return as_signed(a) < as_signed(b) ? 1 : 0;
        case 3:
            return a < b ? 1 : 0;
        case 4:
            return a ^ b;
        case 5:
            return alternative ? static_cast<std::uint32_t>(as_signed(a) >> (b & 31)) : a >> (b & 31);
        case 6:
            return a | b;
        default:
            return a & b;
    }
}

bool branches(std::uint32_t operation, std::uint32_t a, std::uint32_t b) {
    const bool less = (operation & 2) != 0 ? a < b : as_signed(a) < as_signed(b);
    return ((operation & 4) != 0 ? less : a == b) != ((operation & 1) != 0);
}

}  // namespace

void Rv32Core::reset(std::uint32_t pc) {
    x_.fill(0);
    csr_ = Csrs();
    csr_.mstatus = kMpp;
    pc_ = pc;
    waits_ = false;
    instructions_ = cycles_ahead_ = retired_ahead_ = 0;
}

void Rv32Core::set_interrupts(std::uint32_t lines) {
    lines_ = lines;
    if ((lines_ & csr_.mie) != 0) waits_ = false;
}

void Rv32Core::step() {
    if (waits_) return;
    const std::uint32_t due = lines_ & csr_.mie;
    if (due != 0 && (csr_.mstatus & kMie) != 0) {
        const unsigned number = (due & kExternal) != 0 ? 11 : (due & kSoftware) != 0 ? 3 : 7;
        enter_trap(kInterruptCause | number, 0);
        pc_ = next_pc_;
        return;
    }
    ++instructions_;
    try {
        std::uint32_t instruction = 0;
        if (!memory_.fetch(pc_, instruction)) throw Trap{kFetchFault, pc_};
        next_pc_ = pc_ + 4;
        execute(instruction);
    } catch (const Trap& trap) {
        --retired_ahead_;  // a trap retires nothing
        enter_trap(trap.cause, trap.value);
    }
    pc_ = next_pc_;
}

void Rv32Core::execute(std::uint32_t instruction) {
    const unsigned rd = bits(instruction, 11, 7);
    const std::uint32_t operation = bits(instruction, 14, 12), function = bits(instruction, 31, 25);
    const std::uint32_t a = x_[bits(instruction, 19, 15)], b = x_[bits(instruction, 24, 20)];
    const Trap illegal{kIllegal, instruction};
    switch (bits(instruction, 6, 0)) {
        case 0x37:  // lui
            set_reg(rd, instruction & 0xFFFFF000);
            return;
        case 0x17:  // auipc
            set_reg(rd, pc_ + (instruction & 0xFFFFF000));
            return;
        case 0x6F:  // jal
            branch_to(pc_ + immediate_j(instruction));
            set_reg(rd, pc_ + 4);
            return;
        case 0x67:  // jalr
            if (operation != 0) throw illegal;
            branch_to((a + immediate_i(instruction)) & ~1u);
            set_reg(rd, pc_ + 4);
            return;
        case 0x63:
            if (operation == 2 || operation == 3) throw illegal;
            if (branches(operation, a, b)) branch_to(pc_ + immediate_b(instruction));
            return;
        case 0x03:
            load(instruction);
            return;
        case 0x23:
            store(instruction);
            return;
        case 0x13: {
            const bool shift = operation == 1 || operation == 5;
            if (shift && function != 0 && !(operation == 5 && function == 0x20)) throw illegal;
            set_reg(rd, arithmetic(operation, shift && function == 0x20, a, immediate_i(instruction)));
            return;
        }
        case 0x33:
            if (function == 1)
                set_reg(rd, multiply_or_divide(operation, a, b));
            else if (function == 0 || (function == 0x20 && (operation == 0 || operation == 5)))
                set_reg(rd, arithmetic(operation, function == 0x20, a, b));
            else
                throw illegal;
            return;
        case 0x0F:  // fence, fence.i: accesses are in order
            if (operation > 1) throw illegal;
            return;
        case 0x73:
            system(instruction);
            return;
        default:
            throw illegal;
    }
}

void Rv32Core::load(std::uint32_t instruction) {
    const std::uint32_t operation = bits(instruction, 14, 12);
    const std::uint32_t address = x_[bits(instruction, 19, 15)] + immediate_i(instruction);
    if (operation == 3 || operation > 5) throw Trap{kIllegal, instruction};
    const unsigned bytes = 1u << (operation & 3);
    if (address % bytes != 0) throw Trap{kLoadMisaligned, address};
    std::uint32_t value = 0;
    if (!memory_.load(address, bytes, value)) throw Trap{kLoadFault, address};
    set_reg(bits(instruction, 11, 7), operation < 4 ? sign_extended(value, 8 * bytes) : value);
}

void Rv32Core::store(std::uint32_t instruction) {
    const std::uint32_t operation = bits(instruction, 14, 12);
    const std::uint32_t address = x_[bits(instruction, 19, 15)] + immediate_s(instruction);
    if (operation > 2) throw Trap{kIllegal, instruction};
    const unsigned bytes = 1u << operation;
    if (address % bytes != 0) throw Trap{kStoreMisaligned, address};
    if (!memory_.store(address, bytes, x_[bits(instruction, 24, 20)])) throw Trap{kStoreFault, address};
}

void Rv32Core::system(std::uint32_t instruction) {
    const std::uint32_t operation = bits(instruction, 14, 12), number = bits(instruction, 31, 20);
    const unsigned rd = bits(instruction, 11, 7), rs1 = bits(instruction, 19, 15);
    if (operation == 0) {
        switch (instruction) {
            case 0x00000073:
                throw Trap{kEnvironmentCall, 0};
            case 0x00100073:
                throw Trap{kBreakpoint, pc_};
            case 0x30200073:  // mret: there is machine mode only
                csr_.mstatus = kMpp | kMpie | ((csr_.mstatus & kMpie) != 0 ? kMie : 0);
                next_pc_ = csr_.mepc;
                return;
            case 0x10500073:  // wfi
                waits_ = (lines_ & csr_.mie) == 0;
                return;
            default:
                throw Trap{kIllegal, instruction};
        }
    }
    if (operation == 4) throw Trap{kIllegal, instruction};
    const std::uint32_t operand = operation < 4 ? x_[rs1] : rs1;  // csrrw and its like, or with an immediate
    const std::uint32_t old = read_csr(number, instruction);
    if ((operation & 3) == 1)
        write_csr(number, operand, instruction);
    else if (rs1 != 0)
        write_csr(number, (operation & 3) == 2 ? old | operand : old & ~operand, instruction);
    set_reg(rd, old);
}

void Rv32Core::branch_to(std::uint32_t target) {
    if (target % 4 != 0) throw Trap{kFetchMisaligned, target};
    next_pc_ = target;
}

std::uint32_t Rv32Core::read_csr(std::uint32_t number, std::uint32_t instruction) const {
    const std::uint64_t cycle = instructions_ + cycles_ahead_ - 1, retired = instructions_ + retired_ahead_ - 1;
    switch (number) {
        case kMstatus:
            return csr_.mstatus;
        case kMisaCsr:
            return kMisa;
        case kMieCsr:
            return csr_.mie;
        case kMtvec:
            return csr_.mtvec;
        case kMscratch:
            return csr_.mscratch;
        case kMepc:
            return csr_.mepc;
        case kMcause:
            return csr_.mcause;
        case kMtval:
            return csr_.mtval;
        case kMip:
            return lines_;
        case kMcycle:
            return static_cast<std::uint32_t>(cycle);
        case kMcycleh:
            return static_cast<std::uint32_t>(cycle >> 32);
        case kMinstret:
            return static_cast<std::uint32_t>(retired);
        case kMinstreth:
            return static_cast<std::uint32_t>(retired >> 32);
        default:
            // mvendorid, marchid, mimpid, mhartid, mconfigptr and mstatush read as zero.
            if ((number >= kMvendorid && number <= kMconfigptr) || number == kMstatush) return 0;
            throw Trap{kIllegal, instruction};
    }
}

void Rv32Core::write_csr(std::uint32_t number, std::uint32_t value, std::uint32_t instruction) {
    if (number >> 10 == 3) throw Trap{kIllegal, instruction};  // a read-only register
    const auto low = [value](std::uint64_t counter) { return (counter & ~0xFFFF'FFFFull) | value; };
    const auto high = [value](std::uint64_t counter) {
        return (counter & 0xFFFF'FFFFull) | std::uint64_t{value} << 32;
    };
    switch (number) {
        case kMstatus:
            csr_.mstatus = kMpp | (value & (kMie | kMpie));
            return;
        case kMieCsr:
            csr_.mie = value & (kSoftware | kTimer | kExternal);
            return;
        case kMtvec:
            csr_.mtvec = value & ~2u;
            return;
        case kMscratch:
            csr_.mscratch = value;
            return;
        case kMepc:
            csr_.mepc = value & ~3u;
            return;
        case kMcause:
            csr_.mcause = value;
            return;
        case kMtval:
            csr_.mtval = value;
            return;
        // The next instruction reads what is written here: this one does not count.
        case kMcycle:
            cycles_ahead_ = low(instructions_ + cycles_ahead_ - 1) - instructions_;
            return;
        case kMcycleh:
            cycles_ahead_ = high(instructions_ + cycles_ahead_ - 1) - instructions_;
            return;
        case kMinstret:
            retired_ahead_ = low(instructions_ + retired_ahead_ - 1) - instructions_;
            return;
        case kMinstreth:
            retired_ahead_ = high(instructions_ + retired_ahead_ - 1) - instructions_;
            return;
        case kMisaCsr:
        case kMip:
        case kMstatush:
            return;
        default:
            throw Trap{kIllegal, instruction};
    }
}

void Rv32Core::enter_trap(std::uint32_t cause, std::uint32_t value) {
    csr_.mepc = pc_;
    csr_.mcause = cause;
    csr_.mtval = value;
    csr_.mstatus = kMpp | ((csr_.mstatus & kMie) != 0 ? kMpie : 0);
    const bool vectored = (csr_.mtvec & 1) != 0 && (cause & kInterruptCause) != 0;
    next_pc_ = (csr_.mtvec & ~3u) + (vectored ? 4 * (cause & ~kInterruptCause) : 0);
}

}  // namespace switchyard::testing
