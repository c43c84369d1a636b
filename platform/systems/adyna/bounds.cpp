// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

using Causes = std::array<double, kTimeUses>;

constexpr bool waits_for_operator(std::size_t use) {
    return use == static_cast<std::size_t>(TimeUse::operands) || use == static_cast<std::size_t>(TimeUse::output);
}

/// An operator over all images of the run.
struct StageOfRun {
    std::uint16_t op_id = 0, segment = 0;
    std::size_t tiles = 0;
    double cycles = 0;  ///< tile-cycles of its segment
    double others = 0;  ///< of these, of operators that have tiles in common with it
    OperatorTime<double> time;
    double active = 0;  ///< sum of `time`
};

double sum_of(const Causes& causes) {
    return std::accumulate(causes.begin(), causes.end(), 0.0);
}

double share_of(const Causes& causes, TimeUse use) {
    return causes[static_cast<std::size_t>(use)];
}

std::map<std::uint16_t, StageOfRun> stages_of(const RunResult& result) {
    std::map<std::uint16_t, StageOfRun> stages;
    std::map<std::pair<std::uint64_t, std::uint16_t>, double> cycles;
    for (const SegmentTime& segment : result.segments)
        cycles[{segment.image, segment.segment}] = static_cast<double>(segment.cycles);
    const auto active_on_tile = [&result](const TileOperator& op, const OperatorPlacement& placement) {
        const auto found = result.times.find(op.op_id);
        return found == result.times.end() ? 0.0
                                           : sum_of(found->second.used) / static_cast<double>(placement.tiles.size());
    };
    for (std::size_t phase = 0; phase < result.host.phases.size(); ++phase) {
        const Image& image = *result.host.phases[phase].image;
        for (const TileProgram& program : image.tiles) {
            for (const TileOperator& op : program.operators) {
                StageOfRun& stage = stages[op.op_id];
                stage.op_id = op.op_id;
                stage.segment = op.segment;
                stage.tiles = program.placement(op.op_id).tiles.size();
                stage.cycles += cycles[{phase + 1, op.segment}];
                for (const TileOperator& other : program.operators)
                    if (&other != &op && other.segment == op.segment)
                        stage.others += active_on_tile(other, program.placement(other.op_id));
            }
        }
    }
    for (auto& [op_id, stage] : stages) {
        if (const auto found = result.times.find(op_id); found != result.times.end()) stage.time = found->second;
        stage.active = sum_of(stage.time.used);
        stage.others = std::min(stage.others, std::max(0.0, stage.cycles - stage.active));
    }
    return stages;
}

/// By what an operator's time is absorbed, for each operator that had any.
std::map<std::uint16_t, Causes> causes_of(const std::map<std::uint16_t, StageOfRun>& stages) {
    constexpr unsigned kMaxRounds = 10000;
    constexpr double kEnough = 1e-9;  // of the time of any operator
    std::map<std::uint16_t, Causes> causes;
    std::map<std::uint16_t, std::vector<std::pair<std::uint16_t, double>>> peers;
    for (const auto& [op_id, stage] : stages) {
        if (stage.active <= 0) continue;
        Causes& own = causes[op_id];
        for (std::size_t use = 0; use < kTimeUses; ++use) own[use] = stage.time.used[use] / stage.active;
        const auto follow = [&, &id = op_id, &from = stage](const std::map<std::uint16_t, double>& waits, TimeUse use) {
            for (const auto& [peer, time] : waits) {
                const auto there = stages.find(peer);
                if (there == stages.end() || there->second.active <= 0) continue;  // a gate's mask: stays what it is
                peers[id].emplace_back(peer, time / from.active);
                own[static_cast<std::size_t>(use)] -= time / from.active;
            }
        };
        follow(stage.time.operands_from, TimeUse::operands);
        follow(stage.time.output_to, TimeUse::output);
    }
    const std::map<std::uint16_t, Causes> direct = causes;
    for (unsigned round = 0; round < kMaxRounds; ++round) {
        double change = 0;
        for (auto& [op_id, own] : causes) {
            Causes next = direct.at(op_id);
            for (const auto& [peer, share] : peers[op_id])
                for (std::size_t use = 0; use < kTimeUses; ++use) next[use] += share * causes.at(peer)[use];
            for (std::size_t use = 0; use < kTimeUses; ++use) change = std::max(change, std::abs(next[use] - own[use]));
            own = next;
        }
        if (change < kEnough) break;
    }
    return causes;
}

ordered_json waits_json(const RunResult& result, const StageOfRun& stage) {
    const Image& image = *result.host.phases.back().image;
    std::vector<std::pair<double, ordered_json>> waits;
    const auto add = [&](const std::map<std::uint16_t, double>& peers, TimeUse use) {
        for (const auto& [peer, time] : peers) {
            if (peer >= image.meta.operators.size() || stage.cycles <= 0) continue;
            waits.push_back({time,
                             {{"operator", image.meta.operators[peer].name},
                              {"for", kTimeUseNames[static_cast<std::size_t>(use)]},
                              {"share", time / stage.cycles}}});
        }
    };
    add(stage.time.operands_from, TimeUse::operands);
    add(stage.time.output_to, TimeUse::output);
    std::stable_sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    ordered_json list = ordered_json::array();
    for (auto& [time, wait] : waits) list.push_back(std::move(wait));
    return list;
}

}  // namespace

ordered_json bounds_json(const PlatformConfig& platform, const RunResult& result, double run_cycles) {
    const std::map<std::uint16_t, StageOfRun> stages = stages_of(result);
    const std::map<std::uint16_t, Causes> causes = causes_of(stages);
    const Image& last_image = *result.host.phases.back().image;

    Causes used{}, caused{};
    ordered_json list = ordered_json::array();
    for (const auto& [op_id, stage] : stages) {
        for (std::size_t use = 0; use < kTimeUses; ++use) used[use] += stage.time.used[use];
        if (const auto found = causes.find(op_id); found != causes.end())
            for (std::size_t use = 0; use < kTimeUses; ++use) caused[use] += found->second[use] * stage.active;
        const double total = stage.cycles;
        ordered_json shares = ordered_json::object();
        for (std::size_t use = 0; use < kTimeUses; ++use)
            shares[kTimeUseNames[use]] = total > 0 ? stage.time.used[use] / total : 0.0;
        shares["other_operators"] = total > 0 ? stage.others / total : 0.0;
        shares["barrier"] = total > 0 ? (total - stage.active - stage.others) / total : 0.0;
        list.push_back({{"operator", last_image.meta.operators.at(op_id).name},
                        {"segment", stage.segment},
                        {"tiles", stage.tiles},
                        {"tile_cycles", total},
                        {"shares", std::move(shares)},
                        {"waits_for", waits_json(result, stage)}});
    }

    double in_segments = 0, with_tiles = 0;
    for (const SegmentTime& segment : result.segments) {
        const Image& image = *result.host.phases.at(segment.image - 1).image;
        const auto cycles = static_cast<double>(segment.cycles);
        in_segments += cycles * platform.tiles();
        with_tiles += cycles * static_cast<double>(image.chip.segments.at(segment.segment).tiles.size());
    }
    const double all = run_cycles * platform.tiles();
    const double barrier = with_tiles - sum_of(used), idle = in_segments - with_tiles, host = all - in_segments;
    const auto shares_json = [&](Causes times, bool followed) {
        times[static_cast<std::size_t>(TimeUse::host)] += host;
        ordered_json shares = ordered_json::object();
        for (std::size_t use = 0; use < kTimeUses; ++use)
            if (!followed || !waits_for_operator(use) || times[use] / all > 1e-12)
                shares[kTimeUseNames[use]] = times[use] / all;
        shares["barrier"] = barrier / all;
        shares["idle"] = idle / all;
        return shares;
    };
    const std::vector<std::pair<std::string, double>> groups{
        {"compute", share_of(caused, TimeUse::compute)},
        {"network", share_of(caused, TimeUse::network)},
        {"memory", share_of(caused, TimeUse::memory) + share_of(caused, TimeUse::weights)},
        {"host", share_of(caused, TimeUse::host) + host},
        {"barrier", barrier}};
    const auto largest = std::max_element(groups.begin(), groups.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    return {{"bound", largest->first},
            {"share", largest->second / all},
            {"chip", shares_json(used, false)},
            {"causes", shares_json(caused, true)},
            {"stages", std::move(list)}};
}

}  // namespace switchyard::platform
