// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "switchyard/tlm/register_map/register_map.h"

namespace switchyard::register_map {

namespace {

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::string first_line(const RegisterMap& map) {
    return fmt::format("// Made by sy-regs from configs/registers/{}.yaml: change that.\n", map.name);
}

std::string sentence(const std::string& text, const std::string& info) {
    return info.empty() ? text : fmt::format("{}; info: {}", text, info);
}

/// The masks of a register's fields, each constant once in a header.
std::string field_constants(const Register& r, std::set<std::string>& written) {
    std::string lines;
    const auto add = [&](const std::string& name, std::uint32_t value, const std::string& text) {
        if (written.insert(name).second) lines += fmt::format("    k{} = {:#x},  ///< {}\n", name, value, text);
    };
    const std::string prefix = camel_case(r.prefix);
    for (const Field& field : r.fields) add(prefix + camel_case(field.name), field.mask(), field.text);
    if (!r.prefix.empty() && r.fields.size() > 1) add(prefix + "All", r.mask(), "all of them");
    return lines;
}

}  // namespace

std::string cxx_header(const RegisterMap& map, const std::string& space) {
    std::string text =
        first_line(map) + fmt::format(
                              "#pragma once\n\n#include <cstdint>\n\n/// {}: what a driver sees.\nnamespace {} {{\n\n"
                              "enum Offset : std::uint64_t {{\n",
                              map.title, space);
    for (const Register& r : map.registers)
        text += fmt::format("    k{} = {:#05x},  ///< {}: {}\n", camel_case(r.name), r.offset, r.access, r.text);
    text += "};\n\n";
    for (const Register& r : map.registers) {
        if (r.constant && r.reset)
            text += fmt::format("inline constexpr std::uint32_t k{}Value = {:#010x};\n", camel_case(r.name), *r.reset);
    }
    std::set<std::string> written;
    for (const Register& r : map.registers) {
        const std::string fields = field_constants(r, written);
        if (!fields.empty())
            text += fmt::format("\nenum {} : std::uint32_t {{\n{}}};\n", camel_case(r.name) + "Field", fields);
    }
    text += fmt::format("\ninline constexpr std::uint64_t kRegisterBytes = {:#x};\n", map.register_bytes);
    for (const Window& window : map.windows) {
        const std::string name = camel_case(window.name);
        text += fmt::format(
            "inline constexpr std::uint64_t k{}Window = {:#x};  ///< {}\n"
            "inline constexpr std::uint64_t k{}WindowBytes = {:#x};\n",
            name, window.offset, window.text, name, window.bytes);
    }
    text += fmt::format("inline constexpr std::uint64_t kAddressSpan = {:#x};  ///< bytes that a bus gives the port\n",
                        map.address_span());
    text += "\nenum class ErrorCode : std::uint32_t {\n";
    for (const ErrorCode& error : map.errors)
        text += fmt::format("    {} = {},  ///< {}\n", error.name, error.code, sentence(error.text, error.info));
    return text + fmt::format("}};\n\n}}  // namespace {}\n", space);
}

std::string cxx_definitions(const RegisterMap& map, const std::string& space) {
    std::string text = first_line(map) + fmt::format(
                                             "#pragma once\n\n#include \"switchyard/tlm/register_file.h\"\n\n"
                                             "namespace {} {{\n\n"
                                             "inline constexpr RegisterFile::Definition kDefinitions[] = {{\n",
                                             space);
    for (const Register& r : map.registers)
        text +=
            fmt::format("    {{{:#05x}, \"{}\", RegisterFile::Access::{}, {:#010x}, {:#010x}, R\"text({})text\"}},\n",
                        r.offset, r.name, r.access, r.reset.value_or(0), r.writable(), r.text);
    return text + fmt::format("}};\n\n}}  // namespace {}\n", space);
}

std::string cxx_document(const RegisterMap& map, const std::string& space) {
    return first_line(map) + fmt::format(
                                 "#pragma once\n\nnamespace {0} {{\n\n"
                                 "inline constexpr char kDocument[] = R\"text({1})text\";\n\n"
                                 "}}  // namespace {0}\n",
                                 space, markdown(map));
}

std::string c_header(const RegisterMap& map) {
    std::string text = fmt::format(
        "/* {}.\n * Made by sy-regs from configs/registers/{}.yaml: change that. C99. */\n"
        "#ifndef SWITCHYARD_REGISTERS_H\n#define SWITCHYARD_REGISTERS_H\n",
        map.title, map.name);
    const auto define = [&text](const std::string& name, std::uint64_t value, const std::string& comment = "") {
        text += fmt::format("#define SWITCHYARD_{} {:#x}u{}\n", name, value,
                            comment.empty() ? "" : " /* " + comment + " */");
    };
    for (const Register& r : map.registers) {
        text += "\n";
        define(r.name + "_OFFSET", r.offset, r.access + ": " + r.text);
        if (r.reset) define(r.name + "_RESET", *r.reset);
        define(r.name + "_WRITABLE", r.writable());
        for (const Field& field : r.fields) {
            define(r.name + "_" + field.name, field.mask(), field.text);
            if (field.bits > 1) define(r.name + "_" + field.name + "_SHIFT", field.lsb);
        }
    }
    text += "\n";
    define("REGISTER_BYTES", map.register_bytes);
    for (const Window& window : map.windows) {
        define(window.name + "_WINDOW", window.offset, window.text);
        define(window.name + "_WINDOW_BYTES", window.bytes);
    }
    define("ADDRESS_SPAN", map.address_span(), "bytes that a bus gives the port");
    text += "\n/* Codes in ERROR. */\n";
    for (const ErrorCode& error : map.errors)
        define("ERROR_" + upper(error.name), error.code, sentence(error.text, error.info));
    return text + "\n#endif\n";
}

}  // namespace switchyard::register_map
