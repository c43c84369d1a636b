// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The contract of a block of registers as it stands in a file of configs/registers/, and what is generated from it.
/// Plain C++: the tool `sy-regs` runs in the build, before there is a model.
namespace switchyard::register_map {

/// Bits of a register that belong together.
struct Field {
    std::string name;
    unsigned lsb = 0, bits = 1;
    std::string text;

    std::uint32_t mask() const { return (bits == 32 ? ~0u : (1u << bits) - 1) << lsb; }
};

struct Register {
    std::string name;
    std::uint64_t offset = 0;
    std::string access;                  ///< ro, rw, wo, w1c, rc, as in RegisterFile::Access
    std::optional<std::uint32_t> reset;  ///< none: another constant in each chip
    bool constant = false;               ///< ro, and never another value than after the reset
    std::string prefix;                  ///< of the names of its fields in C++, may be empty
    std::string text;
    std::vector<Field> fields;  ///< by bit; empty: one number of 32 bits

    /// Bits that mean something.
    std::uint32_t mask() const;
    /// Bits that a write can change or, w1c, clear; none of ro and rc.
    std::uint32_t writable() const;
};

/// A range of plain memory behind the registers.
struct Window {
    std::string name;
    std::uint64_t offset = 0, bytes = 0;
    std::string access;       ///< ro, rw
    bool debug_only = false;  ///< only for transport_dbg: a transport call gets an address error
    std::string text;
};

struct ErrorCode {
    std::string name;
    std::uint32_t code = 0;
    std::string text;
    std::string info;  ///< what stands beside the code; empty: 0
};

struct RegisterMap {
    std::string name, title, text;
    std::string vendor, library, version;  ///< IP-XACT's identifier, with `name`
    std::uint64_t register_bytes = 0;      ///< registers lie below
    std::vector<Register> registers;       ///< by offset
    std::vector<Window> windows;           ///< by offset
    std::vector<ErrorCode> errors;         ///< by code

    /// Bytes that a bus gives the block: the smallest power of two that holds registers and windows.
    std::uint64_t address_span() const;
};

/// Throws InputError (file, line, key) for an unknown, missing or repeated key, a value of the wrong kind, an unknown
/// access, a misaligned offset, registers, fields, windows or codes that overlap, reset bits outside of the fields, and
/// names that would be the same in C++.
RegisterMap read_register_map(const std::string& path);
/// The same of a text; `source` stands for the file.
RegisterMap parse_register_map(const std::string& text, const std::string& source);

/// C++: namespace `space` with offsets, field masks, windows, and `enum class ErrorCode`.
std::string cxx_header(const RegisterMap& map, const std::string& space);
/// C++: `kDefinitions` in the same namespace, for RegisterFile::add.
std::string cxx_definitions(const RegisterMap& map, const std::string& space);
/// C++: `kDocument` in the same namespace, the Markdown.
std::string cxx_document(const RegisterMap& map, const std::string& space);
/// C99 macros that begin with `SWITCHYARD_`: offsets, resets, writable bits, masks and shifts of fields, windows,
/// codes.
std::string c_header(const RegisterMap& map);
/// A component of IEEE 1685-2014 with one memory map.
std::string ip_xact(const RegisterMap& map);
std::string markdown(const RegisterMap& map);

/// "DMA_HOST_LOW" is "DmaHostLow".
std::string camel_case(const std::string& name);

}  // namespace switchyard::register_map
