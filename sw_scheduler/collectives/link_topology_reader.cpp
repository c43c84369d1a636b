// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::sched {
namespace {

constexpr double kMaxGbPerS = 1e6, kMaxLatencyNs = 1e9;
constexpr std::uint64_t kLargestTopology = 1024, kMaxCount = 1024, kMaxBytes = 65536;

LinkKind read_kind(MappingReader& reader, const std::string& name) {
    reader.allow({"gb_per_s", "latency_ns", "packet_bytes", "overhead_bytes", "kernel_gb_per_s", "pcie"});
    LinkKind kind;
    kind.name = name;
    if (!reader.has("gb_per_s")) reader.fail("gb_per_s", "missing");
    kind.gb_per_s = reader.number_or("gb_per_s", 0, kMaxGbPerS, 0);
    if (kind.gb_per_s <= 0) reader.fail("gb_per_s", "expected a rate above zero, found 0");
    kind.latency_ns = reader.number_or("latency_ns", 0, kMaxLatencyNs, 0);
    kind.packet_bytes = static_cast<unsigned>(reader.integer_or("packet_bytes", 1, kMaxBytes, kind.packet_bytes));
    kind.overhead_bytes = static_cast<unsigned>(reader.integer_or("overhead_bytes", 0, kMaxBytes, 0));
    kind.kernel_gb_per_s = reader.number_or("kernel_gb_per_s", 0, kMaxGbPerS, 0);
    kind.pcie = reader.choice_or("pcie", {"no", "yes"}) == "yes";
    reader.finish();
    return kind;
}

}  // namespace

LinkTopology parse_link_topology(const std::string& text, const std::string& file) {
    MappingReader reader(parse_yaml(text, file), file, "");
    reader.allow({"name", "devices", "device_prefix", "devices_forward", "nodes", "kinds", "links"});
    const std::string name = reader.text("name");
    const auto devices = static_cast<unsigned>(reader.integer("devices", 2, kLargestTopology));
    const std::string prefix = reader.text_or("device_prefix", "gpu");
    const bool forward = reader.choice_or("devices_forward", {"no", "yes"}) == "yes";

    std::vector<LinkTopology::Node> nodes;
    std::map<std::string, unsigned> numbers;
    for (unsigned i = 0; i < devices; ++i) nodes.push_back({fmt::format("{}{}", prefix, i), 0});
    if (reader.has("nodes"))
        for (const YAML::Node& element : reader.list("nodes")) {
            MappingReader node(element, file, fmt::format("nodes[{}]", nodes.size() - devices));
            node.allow({"name", "latency_ns"});
            nodes.push_back({node.text("name"), node.number_or("latency_ns", 0, kMaxLatencyNs, 0)});
            for (std::size_t other = 0; other + 1 < nodes.size(); ++other)
                if (nodes[other].name == nodes.back().name)
                    node.fail("name", "expected a name for each node, found this one twice");
            node.finish();
        }
    for (unsigned i = 0; i < nodes.size(); ++i) numbers[nodes[i].name] = i;

    std::map<std::string, LinkKind> kinds;
    MappingReader kind_list = reader.mapping("kinds");
    std::vector<std::string> kind_names;
    for (const auto& [kind, node] : kind_list.nodes()) kind_names.push_back(kind);
    for (const std::string& kind : kind_names) {
        MappingReader one = kind_list.mapping(kind);
        kinds[kind] = read_kind(one, kind);
    }
    kind_list.finish();

    std::vector<LinkTopology::Link> links;
    for (const YAML::Node& element : reader.list("links")) {
        MappingReader one(element, file, fmt::format("links[{}]", links.size()));
        one.allow({"between", "kind", "count"});
        const std::vector<std::string> ends = one.texts("between");
        if (ends.size() != 2) one.fail("between", fmt::format("expected two nodes, found {}", ends.size()));
        for (const std::string& end : ends)
            if (numbers.count(end) == 0) one.fail("between", fmt::format("expected a known node, found {}", end));
        if (ends[0] == ends[1]) one.fail("between", "expected two nodes, found the same twice");
        const std::string kind = one.text("kind");
        if (kinds.count(kind) == 0) one.fail("kind", fmt::format("expected a known kind, found {}", kind));
        links.push_back({numbers[ends[0]], numbers[ends[1]], kinds[kind],
                         static_cast<unsigned>(one.integer_or("count", 1, kMaxCount, 1))});
        one.finish();
    }
    reader.finish();
    try {
        return LinkTopology(name, devices, forward, std::move(nodes), std::move(links));
    } catch (const std::invalid_argument& error) {
        reader.fail("links", error.what());
    }
}

LinkTopology read_link_topology(const std::string& path) {
    return parse_link_topology(read_file(path, kMaxTextBytes), path);
}

}  // namespace switchyard::sched
