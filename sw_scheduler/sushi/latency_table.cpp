// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/latency_table.h"

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
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
    LatencyTable table;
    try {
        if (document.at("format") != kFormat || document.at("version") != kVersion)
            throw InputError(path, 0, "format", "is no latency table of version 1");
        document.at("platform").get_to(table.platform);
        document.at("subnets").get_to(table.subnets);
        document.at("accuracy").get_to(table.accuracy);
        document.at("without_us").get_to(table.without_us);
        document.at("latency_us").get_to(table.latency_us);
        for (const json& entry : document.at("subgraphs")) {
            SubGraph subgraph;
            entry.at("name").get_to(subgraph.name);
            for (const json& slice : entry.at("slices"))
                subgraph.slices.push_back({slice.at(0).get<std::uint32_t>(), slice.at(1).get<std::uint32_t>()});
            table.subgraphs.push_back(std::move(subgraph));
            table.fill_us.push_back(entry.at("fill_us").get<double>());
        }
    } catch (const json::exception& error) {
        throw InputError(path, 0, "", std::string("is no latency table: ") + error.what());
    }
    if (table.platform != platform) throw InputError(path, 0, "platform", "the table was made for another platform");
    bool fits = table.subnets.size() == supernet.subnets.size() && table.accuracy.size() == table.subnets.size() &&
                table.without_us.size() == table.subnets.size() && table.latency_us.size() == table.subnets.size() &&
                !table.subgraphs.empty();
    for (std::size_t s = 0; fits && s < table.subnets.size(); ++s)
        fits = table.subnets[s] == supernet.subnets[s].name && table.latency_us[s].size() == table.subgraphs.size();
    for (const SubGraph& subgraph : table.subgraphs) fits = fits && subgraph.slices.size() == supernet.tensors.size();
    if (!fits) throw InputError(path, 0, "subnets", "the table was made for another supernet");
    return table;
}

}  // namespace switchyard::sched::sushi
