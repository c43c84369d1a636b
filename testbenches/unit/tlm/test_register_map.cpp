// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/register_map/register_map.h"

using namespace switchyard;
using namespace switchyard::register_map;

namespace {

/// Line 9 is the first behind "registers:".
std::string with_registers(const std::string& registers, const std::string& rest = "") {
    return "name: block\ntitle: A block\nvendor: v\nlibrary: l\nversion: 1.0\ntext: Of a test.\nregister_bytes: 0x40\n"
           "registers:\n" +
           registers + rest;
}

void check_refused(const std::string& text, const std::string& message) {
    INFO(text);
    try {
        parse_register_map(text, "block.yaml");
        FAIL_CHECK("was accepted, and should have been: " + message);
    } catch (const InputError& error) {
        CHECK(error.what() == "block.yaml:" + message);
    }
}

const char* const kTwo =
    "  A: {offset: 0x0, access: rw, reset: 0x12, text: first, fields: {LOW: {bits: '7:0', text: l}, TOP: {bits: 31, "
    "text: t}}}\n"
    "  B_LOW: {offset: 8, access: w1c, text: second}\n";

}  // namespace

TEST_CASE("a register map is read: masks, resets, windows, codes", "[register_map]") {
    const RegisterMap map =
        parse_register_map(with_registers(kTwo,
                                          "windows:\n  W: {offset: 0x100, bytes: 16, access: ro, text: w}\n"
                                          "errors:\n  late: {code: 7, text: too late, info: the time}\n"),
                           "block.yaml");
    REQUIRE(map.registers.size() == 2);
    const Register& a = map.registers[0];
    CHECK(a.mask() == 0x800000FF);
    CHECK(a.writable() == 0x800000FF);
    CHECK(a.reset == 0x12u);
    CHECK(a.fields[1].name == "TOP");
    CHECK(map.registers[1].writable() == 0xFFFFFFFF);
    CHECK(map.registers[1].reset == 0u);
    CHECK(map.windows.at(0).bytes == 16);
    CHECK(map.errors.at(0).info == "the time");
    CHECK(camel_case("B_LOW") == "BLow");
}

TEST_CASE("a register map with a mistake is refused with file, line and key", "[register_map]") {
    const std::string a = "  A: {offset: 0, access: rw, text: a";
    check_refused(with_registers(a + "}\n  B: {offset: 0, access: rw, text: b}\n"),
                  "10: registers.B.offset: expected no overlap with A, found 0");
    check_refused(with_registers("  A: {offset: 0, access: readwrite, text: a}\n"),
                  "9: registers.A.access: expected one of ro, rw, wo, w1c, rc, found \"readwrite\"");
    check_refused(with_registers(a + ", reset: 0x100, fields: {F: {bits: '7:0', text: f}}}\n"),
                  "9: registers.A.reset: expected bits of the fields, 0x000000ff, found 0x00000100");
    check_refused(with_registers("  A: {offset: 2, access: rw, text: a}\n"),
                  "9: registers.A.offset: expected a multiple of 4, found 0x2");
    check_refused(with_registers("  A: {offset: 0x40, access: rw, text: a}\n"),
                  "9: registers.A.offset: expected at most 0x3c, found 0x40");
    check_refused(with_registers("  A: {access: rw, text: a}\n"),
                  "9: registers.A.offset: expected a value, found nothing");
    check_refused(with_registers("  A: {offset: x, access: rw, text: a}\n"),
                  "9: registers.A.offset: expected a number, found \"x\"");
    check_refused(with_registers(a + ", constant: true}\n"),
                  "9: registers.A.access: expected ro for a constant, found rw");
    check_refused(with_registers(a + ", reset: configured}\n"),
                  "9: registers.A.access: expected ro for a constant, found rw");
    check_refused(with_registers(a + ", colour: red}\n"),
                  "9: registers.A.colour: expected one of access, constant, fields, offset, prefix, reset, text, found "
                  "colour");
    check_refused(with_registers(a + "}\n" + a + "}\n"), "10: registers.A: expected the key once, found it twice");
    check_refused(with_registers("  a: {offset: 0, access: rw, text: a}\n"),
                  "9: registers.a: expected a name of capital letters, digits and underscores, found \"a\"");
    check_refused(with_registers(a + ", fields: {F: {bits: '7:0', text: f}, G: {bits: 7, text: g}}}\n"),
                  "9: registers.A.fields.G.bits: expected bits that F does not have, found 7");
    check_refused(with_registers(a + ", fields: {F: {bits: '0:7', text: f}}}\n"),
                  "9: registers.A.fields.F.bits: expected HIGH:LOW, found 0:7");
    check_refused(with_registers(a + ", fields: {F: {bits: 32, text: f}}}\n"),
                  "9: registers.A.fields.F.bits: expected at most 0x1f, found 32");
    check_refused(with_registers("  A: {offset: 0, access: wo, reset: 1, text: a}\n"),
                  "9: registers.A.reset: expected 0, as a write-only register reads as zero, found 1");
    check_refused(
        with_registers(a + ", fields: {F: {bits: 0, text: f}}}\n"
                           "  B: {offset: 4, access: rw, text: b, fields: {F: {bits: 1, text: f}}}\n"),
        "10: registers.B: expected one constant kF in C++, found 0x1 and 0x2 of field F; give the register a prefix");
    check_refused(with_registers(a + "}\n", "windows:\n  W: {offset: 0x3c, bytes: 16, access: ro, text: w}\n"),
                  "11: windows.W.offset: expected 0x40 or more, the end of the registers, found 0x3c");
    check_refused(with_registers(a + "}\n",
                                 "windows:\n  W: {offset: 0x40, bytes: 16, access: ro, text: w}\n"
                                 "  X: {offset: 0x4c, bytes: 16, access: ro, text: w}\n"),
                  "12: windows.X.offset: expected no overlap with W, found 0x4c");
    check_refused(with_registers(a + "}\n", "errors:\n  e: {code: 1, text: e}\n  f: {code: 1, text: f}\n"),
                  "12: errors.f.code: expected no overlap with e, found 1");
    check_refused("name: [\n", "2: expected YAML, found a [ without ]");
}
