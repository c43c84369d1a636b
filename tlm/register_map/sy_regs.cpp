// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/tlm/register_map/register_map.h"

using namespace switchyard;

namespace {

/// Leaves a file that has the text already as it is, so that nothing is compiled again for it.
void write(const std::string& path, const std::string& text) {
    if (exists(path) && read_file(path, kMaxTextBytes) == text) return;
    write_file(text, path);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Reads a register map and writes what is made of it.", "sy-regs");
    std::string input, space, header, definitions, document, c_header, ip_xact, markdown;
    app.add_option("map", input, "register map (YAML)")->required();
    app.add_option("--namespace", space, "of the C++ files")->default_val("switchyard::hw::host_registers");
    app.add_option("--header", header, "C++ header: offsets, masks, windows, error codes");
    app.add_option("--definitions", definitions, "C++ header: definitions for a RegisterFile");
    app.add_option("--document", document, "C++ header: the Markdown as a constant");
    app.add_option("--c-header", c_header, "C99 header for drivers");
    app.add_option("--ip-xact", ip_xact, "component of IEEE 1685-2014");
    app.add_option("--markdown", markdown, "document for people");
    try {
        app.parse(argc, argv);
        const register_map::RegisterMap map = register_map::read_register_map(input);
        const std::vector<std::pair<std::string, std::string>> files{
            {header, register_map::cxx_header(map, space)},
            {definitions, register_map::cxx_definitions(map, space)},
            {document, register_map::cxx_document(map, space)},
            {c_header, register_map::c_header(map)},
            {ip_xact, register_map::ip_xact(map)},
            {markdown, register_map::markdown(map)},
        };
        for (const auto& [path, text] : files) {
            if (!path.empty()) write(path, text);
        }
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const std::exception& error) {
        fmt::print(stderr, "sy-regs: {}\n", error.what());
        return 2;
    }
    return 0;
}
