// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include <boost/property_tree/xml_parser.hpp>

#include "switchyard/hw/host/host_register_definitions.h"
#include "switchyard/hw/host/host_register_document.h"
#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

const std::string kMade = SWITCHYARD_GENERATED_ROOT;

std::string contents(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What every output says of a register.
struct Row {
    std::uint64_t offset = 0;
    std::uint32_t reset = 0, writable = 0;
    std::map<std::string, std::uint32_t> fields;  ///< masks by name

    bool operator==(const Row& other) const {
        return offset == other.offset && reset == other.reset && writable == other.writable && fields == other.fields;
    }
};
using Rows = std::map<std::string, Row>;

/// Each chip has constants of its own: no output has a reset value for them.
bool is_configured(const std::string& name) {
    return name.rfind("PLATFORM_", 0) == 0 || name == "IMAGE_CAPACITY";
}

std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::stoull(text, nullptr, 0));
}

Rows rows_of_c_header() {
    const std::string text = contents(kMade + "/switchyard/platform/driver/switchyard_registers.h");
    const std::regex macro("#define SWITCHYARD_(\\w+) (0x[0-9a-f]+)u");
    std::vector<std::pair<std::string, std::uint32_t>> macros;
    for (std::sregex_iterator found(text.begin(), text.end(), macro), end; found != end; ++found)
        macros.emplace_back((*found)[1], number((*found)[2]));
    Rows rows;
    for (const auto& [name, value] : macros) {
        const auto ends = [name = name](const std::string& tail) {
            return name.size() > tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
        };
        if (ends("_OFFSET")) rows[name.substr(0, name.size() - 7)].offset = value;
    }
    std::string current;
    for (const auto& [name, value] : macros) {
        for (const auto& [register_name, row] : rows) {
            if (name == register_name + "_OFFSET") current = register_name;
        }
        if (name == "REGISTER_BYTES") break;
        Row& row = rows[current];
        const std::string rest = name.substr(current.size() + 1);
        if (rest == "RESET")
            row.reset = value;
        else if (rest == "WRITABLE")
            row.writable = value;
        else if (rest != "OFFSET" && rest.find("_SHIFT") == std::string::npos)
            row.fields[rest] = value;
    }
    return rows;
}

std::uint32_t from_verilog(const std::string& text) {
    REQUIRE(text.substr(0, 2) == "'h");
    return number("0x" + text.substr(2));
}

Rows rows_of_ip_xact() {
    boost::property_tree::ptree tree;
    read_xml(kMade + "/documents/switchyard_host.xml", tree);
    Rows rows;
    for (const auto& [tag, block] : tree.get_child("ipxact:component.ipxact:memoryMaps.ipxact:memoryMap")) {
        if (tag != "ipxact:addressBlock") continue;
        for (const auto& [element, r] : block) {
            if (element != "ipxact:register") continue;
            Row& row = rows[r.get<std::string>("ipxact:name")];
            row.offset = from_verilog(r.get<std::string>("ipxact:addressOffset"));
            for (const auto& [part, field] : r) {
                if (part != "ipxact:field") continue;
                const auto lsb = field.get<unsigned>("ipxact:bitOffset"), bits = field.get<unsigned>("ipxact:bitWidth");
                const std::uint32_t mask = (bits == 32 ? ~0u : (1u << bits) - 1) << lsb;
                row.reset |= from_verilog(field.get<std::string>("ipxact:resets.ipxact:reset.ipxact:value", "'h0"))
                             << lsb;
                if (field.get<std::string>("ipxact:access") != "read-only") row.writable |= mask;
                const auto name = field.get<std::string>("ipxact:name");
                if (bits < 32) row.fields[name] = mask;
            }
        }
    }
    return rows;
}

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> result;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
        cell.erase(0, cell.find_first_not_of(" `"));
        result.push_back(cell.substr(0, cell.find_last_not_of(" `") + 1));
    }
    return result;
}

Rows rows_of_markdown(const std::string& text) {
    Rows rows;
    std::istringstream lines(text);
    std::string section;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("## ", 0) == 0) section = line.substr(3);
        if (line.rfind("| ", 0) != 0 || line.rfind("| ---", 0) == 0) continue;
        const std::vector<std::string> cell = cells(line);
        if (section == "Registers" && cell[0] != "offset") {
            rows[cell[1]].offset = number(cell[0]);
            rows[cell[1]].reset = is_configured(cell[1]) ? 0 : number(cell[3]);
            rows[cell[1]].writable = number(cell[4]);
        } else if (section == "Fields" && cell[0] != "register") {
            const std::size_t colon = cell[1].find(':');
            const std::uint32_t high = number(cell[1].substr(0, colon));
            const std::uint32_t low = colon == std::string::npos ? high : number(cell[1].substr(colon + 1));
            rows[cell[0]].fields[cell[2]] = static_cast<std::uint32_t>((std::uint64_t{2} << high) - (1ull << low));
        }
    }
    return rows;
}

std::uint32_t word(const unsigned char* bytes) {
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | std::uint32_t{bytes[3]} << 24;
}

/// Through the socket: resets by plain reads, writable bits by debug writes, which start nothing.
Rows rows_of_model(HostRig& r) {
    Rows rows;
    for (const RegisterFile::Definition& definition : regs::kDefinitions) {
        Row& row = rows[definition.name];
        row.offset = definition.offset;
        if (!is_configured(definition.name)) row.reset = r.read(definition.offset);
    }
    for (std::uint64_t offset = 0; offset < regs::kRegisterBytes; offset += 4) {
        unsigned char bytes[4] = {0xFF, 0xFF, 0xFF, 0xFF}, zero[4] = {}, now[4], before[4];
        if (r.debug(::tlm::TLM_READ_COMMAND, offset, before, 4) == 0) continue;
        r.debug(::tlm::TLM_WRITE_COMMAND, offset, bytes, 4);
        r.debug(::tlm::TLM_READ_COMMAND, offset, now, 4);
        r.debug(::tlm::TLM_WRITE_COMMAND, offset, zero, 4);
        unsigned char cleared[4];
        r.debug(::tlm::TLM_READ_COMMAND, offset, cleared, 4);
        const std::uint32_t writable = word(now) ^ word(cleared);
        std::size_t owners = 0;
        for (auto& [name, row] : rows) {
            if (row.offset != offset) continue;
            ++owners;
            row.writable = writable;
        }
        CHECK(owners == 1);
    }
    return rows;
}

}  // namespace

SIM_TEST("C header, IP-XACT, document and the model's registers agree", "[host][register_map]") {
    const Rows c = rows_of_c_header(), xml = rows_of_ip_xact(),
               document = rows_of_markdown(contents("docs/registers.md"));
    CHECK(c.size() == 24);
    CHECK(c == xml);
    CHECK(c == document);
    CHECK(c.at("IRQ_ENABLE").fields.at("DMA_DONE") == regs::kIrqDmaDone);

    HostRig rig;
    Rows model;
    rig.run([&model](HostRig& r) { model = rows_of_model(r); });
    Rows without_fields = c;
    for (auto& [name, row] : without_fields) row.fields.clear();
    CHECK(model == without_fields);
}

SIM_TEST("C header, IP-XACT and the C++ constants agree about windows and codes", "[host][register_map]") {
    const std::string text = contents(kMade + "/switchyard/platform/driver/switchyard_registers.h");
    const auto macro = [&text](const std::string& name) {
        std::smatch found;
        REQUIRE(std::regex_search(text, found, std::regex("#define SWITCHYARD_" + name + " (0x[0-9a-f]+)u")));
        return number(found[1]);
    };
    CHECK(macro("REGISTER_BYTES") == regs::kRegisterBytes);
    CHECK(macro("IMAGE_WINDOW") == regs::kImageWindow);
    CHECK(macro("IMAGE_WINDOW_BYTES") == regs::kImageWindowBytes);
    CHECK(macro("PROFILE_WINDOW") == regs::kProfileWindow);
    CHECK(macro("ERROR_TEXT_WINDOW_BYTES") == regs::kErrorTextWindowBytes);
    CHECK(macro("ADDRESS_SPAN") == regs::kAddressSpan);
    CHECK(regs::kAddressSpan >= regs::kImageWindow + regs::kImageWindowBytes);
    CHECK(regs::kAddressSpan / 2 < regs::kImageWindow + regs::kImageWindowBytes);
    CHECK(macro("ERROR_PROFILE_REQUEST") == static_cast<std::uint32_t>(regs::ErrorCode::profile_request));

    boost::property_tree::ptree tree;
    read_xml(kMade + "/documents/switchyard_host.xml", tree);
    std::map<std::string, std::uint32_t> blocks;
    for (const auto& [tag, block] : tree.get_child("ipxact:component.ipxact:memoryMaps.ipxact:memoryMap")) {
        if (tag != "ipxact:addressBlock") continue;
        const auto name = block.get<std::string>("ipxact:name");
        blocks[name] = from_verilog(block.get<std::string>("ipxact:baseAddress"));
        blocks[name + "_BYTES"] = from_verilog(block.get<std::string>("ipxact:range"));
    }
    CHECK(blocks == std::map<std::string, std::uint32_t>{{"REGISTERS", 0},
                                                         {"REGISTERS_BYTES", macro("REGISTER_BYTES")},
                                                         {"IMAGE", macro("IMAGE_WINDOW")},
                                                         {"IMAGE_BYTES", macro("IMAGE_WINDOW_BYTES")},
                                                         {"PROFILE", macro("PROFILE_WINDOW")},
                                                         {"PROFILE_BYTES", macro("PROFILE_WINDOW_BYTES")},
                                                         {"ERROR_TEXT", macro("ERROR_TEXT_WINDOW")},
                                                         {"ERROR_TEXT_BYTES", macro("ERROR_TEXT_WINDOW_BYTES")}});
}

TEST_CASE("docs/registers.md is what sy-regs makes", "[host][register_map][docs]") {
    const std::string made = contents(kMade + "/documents/registers.md");
    CHECK(contents("docs/registers.md") == made);
    CHECK(made == regs::kDocument);
}

TEST_CASE("sy-regs refuses a bad map with one line and status 2, and writes nothing", "[register_map]") {
    const std::string folder = SWITCHYARD_SCRATCH, bad = folder + "/bad_map.yaml", out = folder + "/bad_map.h";
    std::string text = contents("configs/registers/host.yaml");
    const std::size_t place = text.find("access: w1c");
    text.replace(place, 11, "access: rw1");
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n') + 1;
    std::ofstream(bad) << text;
    std::remove(out.c_str());
    const int status =
        std::system((std::string(SY_REGS) + " " + bad + " --header " + out + " 2>" + bad + ".err").c_str());
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(contents(bad + ".err") ==
          "sy-regs: " + bad + ":" + std::to_string(line) +
              ": registers.IRQ_STATUS.access: expected one of ro, rw, wo, w1c, rc, found \"rw1\"\n");
    CHECK_FALSE(std::ifstream(out));
}
