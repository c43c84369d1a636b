// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Instructions as numbers, for tests that need a few of them.
namespace switchyard::testing::rv32 {

constexpr std::uint32_t r_type(std::uint32_t function, unsigned rs2, unsigned rs1, std::uint32_t operation, unsigned rd,
                               std::uint32_t opcode = 0x33) {
    return function << 25 | rs2 << 20 | rs1 << 15 | operation << 12 | rd << 7 | opcode;
}
constexpr std::uint32_t i_type(std::uint32_t immediate, unsigned rs1, std::uint32_t operation, unsigned rd,
                               std::uint32_t opcode) {
    return immediate << 20 | rs1 << 15 | operation << 12 | rd << 7 | opcode;
}
constexpr std::uint32_t addi(unsigned rd, unsigned rs1, std::uint32_t immediate) {
    return i_type(immediate, rs1, 0, rd, 0x13);
}
constexpr std::uint32_t load(std::uint32_t operation, unsigned rd, unsigned rs1) {
    return i_type(0, rs1, operation, rd, 0x03);
}
constexpr std::uint32_t store(std::uint32_t operation, unsigned rs2, unsigned rs1) {
    return rs2 << 20 | rs1 << 15 | operation << 12 | 0x23;
}
constexpr std::uint32_t jalr(unsigned rd, unsigned rs1) {
    return i_type(0, rs1, 0, rd, 0x67);
}
constexpr std::uint32_t csrrw(unsigned rd, std::uint32_t csr, unsigned rs1) {
    return i_type(csr, rs1, 1, rd, 0x73);
}
constexpr std::uint32_t csrrs(unsigned rd, std::uint32_t csr, unsigned rs1) {
    return i_type(csr, rs1, 2, rd, 0x73);
}
inline constexpr std::uint32_t kEcall = 0x00000073, kEbreak = 0x00100073, kMret = 0x30200073, kWfi = 0x10500073;
inline constexpr std::uint32_t kMstatus = 0x300, kMie = 0x304, kMtvec = 0x305, kMepc = 0x341, kMcause = 0x342,
                               kMtval = 0x343, kMinstret = 0xB02;

}  // namespace switchyard::testing::rv32
