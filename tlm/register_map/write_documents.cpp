// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/xml_text.h"
#include "switchyard/tlm/register_map/register_map.h"

namespace switchyard::register_map {

namespace {

/// Lines of XML with their indentation.
class Xml {
public:
    void line(const std::string& name, const std::string& value) {
        text_ += fmt::format("{}<ipxact:{}>{}</ipxact:{}>\n", indent(), name, xml_escaped(value), name);
    }
    void open(const std::string& name, const std::string& attributes = "") {
        text_ += fmt::format("{}<ipxact:{}{}>\n", indent(), name, attributes);
        ++depth_;
    }
    void close(const std::string& name) {
        --depth_;
        text_ += fmt::format("{}</ipxact:{}>\n", indent(), name);
    }
    const std::string& text() const { return text_; }

private:
    std::string indent() const { return std::string(std::size_t{2} * depth_, ' '); }

    std::string text_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    unsigned depth_ = 0;
};

std::string hex(std::uint64_t value) {
    return fmt::format("'h{:x}", value);
}

const char* access_of(const std::string& access) {
    if (access == "ro" || access == "rc") return "read-only";
    return access == "wo" ? "write-only" : "read-write";
}

void write_register(Xml& xml, const Register& r) {
    std::vector<Field> fields = r.fields;
    if (fields.empty()) fields.push_back({"VALUE", 0, 32, r.text});
    xml.open("register");
    xml.line("name", r.name);
    xml.line("description", r.text);
    xml.line("addressOffset", hex(r.offset));
    xml.line("size", "32");
    xml.line("volatile", r.constant || r.access == "rw" || r.access == "wo" ? "false" : "true");
    xml.line("access", access_of(r.access));
    for (const Field& field : fields) {
        xml.open("field");
        xml.line("name", field.name);
        xml.line("description", field.text);
        xml.line("bitOffset", std::to_string(field.lsb));
        if (r.reset) {
            xml.open("resets");
            xml.open("reset");
            xml.line("value", hex((*r.reset & field.mask()) >> field.lsb));
            xml.close("reset");
            xml.close("resets");
        }
        xml.line("bitWidth", std::to_string(field.bits));
        xml.line("access", access_of(r.access));
        if (r.access == "w1c") xml.line("modifiedWriteValue", "oneToClear");
        if (r.access == "rc") xml.line("readAction", "clear");
        xml.close("field");
    }
    xml.close("register");
}

void open_block(Xml& xml, const std::string& name, const std::string& text, std::uint64_t base, std::uint64_t bytes) {
    xml.open("addressBlock");
    xml.line("name", name);
    xml.line("description", text);
    xml.line("baseAddress", hex(base));
    xml.line("range", hex(bytes));
    xml.line("width", "32");
}

std::string bits_text(const Field& field) {
    return field.bits == 1 ? std::to_string(field.lsb) : fmt::format("{}:{}", field.lsb + field.bits - 1, field.lsb);
}

}  // namespace

std::string ip_xact(const RegisterMap& map) {
    Xml xml;
    xml.open("component",
             " xmlns:ipxact=\"http://www.accellera.org/XMLSchema/IPXACT/1685-2014\""
             " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
             " xsi:schemaLocation=\"http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
             " http://www.accellera.org/XMLSchema/IPXACT/1685-2014/index.xsd\"");
    xml.line("vendor", map.vendor);
    xml.line("library", map.library);
    xml.line("name", map.name);
    xml.line("version", map.version);
    xml.open("memoryMaps");
    xml.open("memoryMap");
    xml.line("name", map.name);
    xml.line("description", map.title);
    open_block(xml, "REGISTERS", "the registers", 0, map.register_bytes);
    xml.line("usage", "register");
    for (const Register& r : map.registers) write_register(xml, r);
    xml.close("addressBlock");
    for (const Window& window : map.windows) {
        open_block(xml, window.name, window.text + (window.debug_only ? " (debug transport only)" : ""), window.offset,
                   window.bytes);
        xml.line("usage", "memory");
        xml.line("access", access_of(window.access));
        xml.close("addressBlock");
    }
    xml.line("addressUnitBits", "8");
    xml.close("memoryMap");
    xml.close("memoryMaps");
    xml.line("description", map.title);
    xml.close("component");
    return xml.text();
}

std::string markdown(const RegisterMap& map) {
    std::string text = fmt::format(
        "# {}\n\n{}\n\nMade by `sy-regs` from `configs/registers/{}.yaml`, like the constants of "
        "`hw/{}/{}_registers.h`, the "
        "drivers' C\nheader `switchyard_registers.h` and the IP-XACT component (IEEE 1685-2014); a test compares them. "
        "`sy-sim registers`\nprints this page.\n\n"
        "## Registers\n\n"
        "Reset: the value after a reset. Writable: the bits that a write changes, starts something with, or clears "
        "(`w1c`).\n\n"
        "| offset | name | access | reset | writable bits | |\n| --- | --- | --- | --- | --- | --- |\n",
        map.title, map.text, map.name, map.name, map.name);
    for (const Register& r : map.registers)
        text += fmt::format("| `{:#05x}` | {} | {} | {} | `{:#010x}` | {} |\n", r.offset, r.name, r.access,
                            r.reset ? fmt::format("`{:#010x}`", *r.reset) : "of the chip", r.writable(), r.text);
    text += "\n## Fields\n\n| register | bits | name | |\n| --- | --- | --- | --- |\n";
    for (const Register& r : map.registers) {
        for (const Field& field : r.fields)
            text += fmt::format("| {} | {} | {} | {} |\n", r.name, bits_text(field), field.name, field.text);
    }
    if (!map.windows.empty())
        text +=
            "\n## Windows\n\nPlain memory behind the registers.\n\n"
            "| offset | bytes | name | access | |\n| --- | --- | --- | --- | --- |\n";
    for (const Window& window : map.windows)
        text += fmt::format("| `{:#010x}` | `{:#010x}` | {} | {}{} | {} |\n", window.offset, window.bytes, window.name,
                            window.access, window.debug_only ? ", debug transport only" : "", window.text);
    text += fmt::format("\nA bus gives the port `{:#010x}` bytes, at a multiple of as many (`kAddressSpan`).\n",
                        map.address_span());
    if (!map.errors.empty())
        text += "\n## Codes in ERROR\n\n| code | name | | ERROR_INFO |\n| --- | --- | --- | --- |\n";
    for (const ErrorCode& error : map.errors)
        text += fmt::format("| {} | {} | {} | {} |\n", error.code, error.name, error.text,
                            error.info.empty() ? "0" : error.info);
    return text;
}

}  // namespace switchyard::register_map
