// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/latency_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::sched::sushi {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr const char* kFormat = "switchyard-latency-table";
constexpr int kVersion = 1;

}  // namespace

std::string table_text(const LatencyTable& table) {
    ordered_json subgraphs = ordered_json::array();
    for (std::size_t g = 0; g < table.subgraphs.size(); ++g) {
        ordered_json slices = ordered_json::array();
        for (const WeightSlice& slice : table.subgraphs[g].slices) slices.push_back({slice.kernels, slice.channels});
        subgraphs.push_back({{"name", table.subgraphs[g].name}, {"fill_us", table.fill_us[g]}, {"slices", slices}});
    }
    const ordered_json document = {{"format", kFormat},          {"version", kVersion},
                                   {"platform", table.platform}, {"subnets", table.subnets},
                                   {"accuracy", table.accuracy}, {"without_us", table.without_us},
                                   {"subgraphs", subgraphs},     {"latency_us", table.latency_us}};
    return json_text(document, 1) + "\n";
}

LatencyTable read_table(const std::string& path, const Supernet& supernet, const std::string& platform) {
    const json document = parse_json(read_file(path, kMaxJsonBytes), path);
    const JsonReader file(document, path);
    file.check_format(kFormat, kVersion, "latency table");
    LatencyTable table;
    table.platform = file.member("platform").text();
    table.subnets = file.member("subnets").texts();
    table.accuracy = file.member("accuracy").numbers();
    table.without_us = file.member("without_us").numbers();
    for (const JsonReader& row : file.member("latency_us").list()) table.latency_us.push_back(row.numbers());
    for (const JsonReader& entry : file.member("subgraphs").list()) {
        SubGraph subgraph;
        subgraph.name = entry.member("name").text();
        for (const JsonReader& slice : entry.member("slices").list()) {
            const std::vector<JsonReader> sizes = slice.list();
            if (sizes.size() != 2)
                slice.fail(fmt::format("expected [kernels, channels], found {} numbers", sizes.size()));
            subgraph.slices.push_back({static_cast<std::uint32_t>(sizes[0].integer(0, UINT32_MAX)),
                                       static_cast<std::uint32_t>(sizes[1].integer(0, UINT32_MAX))});
        }
        table.subgraphs.push_back(std::move(subgraph));
        table.fill_us.push_back(entry.member("fill_us").number());
    }
    if (table.platform != platform)
        throw InputError(path, 0, "platform",
                         "the table was made for another platform or supernet: expected \"" + platform +
                             "\", found \"" + table.platform + "\"; make it again with sushi-table");
    bool fits = table.subnets.size() == supernet.subnets.size() && table.accuracy.size() == table.subnets.size() &&
                table.without_us.size() == table.subnets.size() && table.latency_us.size() == table.subnets.size() &&
                !table.subgraphs.empty();
    for (std::size_t s = 0; fits && s < table.subnets.size(); ++s)
        fits = table.subnets[s] == supernet.subnets[s].name && table.latency_us[s].size() == table.subgraphs.size();
    for (const SubGraph& subgraph : table.subgraphs) fits = fits && subgraph.slices.size() == supernet.tensors.size();
    if (!fits) throw InputError(path, 0, "subnets", "expected a table of this supernet, found one of another");
    return table;
}

}  // namespace switchyard::sched::sushi
