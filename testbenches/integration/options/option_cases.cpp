// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/options/option_cases.h"

#include <filesystem>

#include <fmt/format.h>

#include "switchyard/platform/apps/systems.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

namespace switchyard::testing {

using platform::Point;

namespace {

/// What `dynn-offload` needs.
const std::string& pilot() {
    static const std::string kPath = [] {
        const std::string trace = scratch("pilot.jsonl"), file = scratch("pilot.json");
        REQUIRE(sy_sched("pilot trace configs/workloads/dynn_offload/ugan.yaml --gpu configs/gpus/rtx6000.yaml "
                         "--set training.width=64 --samples 60 -o " +
                         trace)
                    .status == 0);
        REQUIRE(sy_sched("pilot train " + trace + " --neurons 8 --epochs 1 -o " + file).status == 0);
        return file;
    }();
    return kPath;
}

const std::string& chips() {
    static const std::string kPath = [] {
        const std::string file = scratch("chips.yaml");
        write_text(file,
                   fmt::format("system: expert_parallel\nchip_file: {}/{}\nlinks: {{devices: 2, family: switch}}\n",
                               std::filesystem::current_path().string(), kMini));
        return file;
    }();
    return kPath;
}

}  // namespace

const platform::SystemRegistry& registry() {
    static const platform::SystemRegistry kAll = platform::all_systems();
    return kAll;
}

const std::string& tiny_model() {
    static const std::string kPath = [] {
        const std::string file = scratch("tiny.yaml");
        write_text(file,
                   "name: tiny\n"
                   "batch: 16\n"
                   "input: {channels: 8, rows: 4, columns: 4}\n"
                   "layers:\n"
                   "  - {name: stem, kind: convolution, from: input, out_channels: 8, filter: 3, pad: 1}\n"
                   "  - {name: mean, kind: global_pool}\n"
                   "  - {name: gate, kind: matmul, out_channels: 1}\n"
                   "  - {name: skip, kind: switch, from: stem, gate: gate}\n"
                   "  - {name: body, kind: convolution, from: skip.1, out_channels: 8, filter: 3, pad: 1}\n"
                   "  - {name: out, kind: merge, from: [skip.0, body]}\n"
                   "routing: {seed: 3, probability: [0.5, 0.5]}\n");
        return file;
    }();
    return kPath;
}

const std::string& tiny_trace() {
    static const std::string kPath = [] {
        const std::string file = scratch("tiny.jsonl");
        REQUIRE(sy_sched("routes " + tiny_model() + " --batches 2 --seed 8 -o " + file).status == 0);
        return file;
    }();
    return kPath;
}

Point small_point(const std::string& design) {
    const std::string system = registry().system_of_design(design).name();
    Point point;
    point.design = design;
    if (system == "adyna" || system == "m_tenant") {
        point.workload = tiny_model();
        point.platform = kMini;
    } else if (system == "gpu_roofline") {
        point.workload = tiny_model();
        point.parameters["file"] = "configs/platforms/a100.yaml";
    } else if (system == "ace") {
        point.workload = "configs/workloads/ace/instanas.yaml";
        point.platform = "configs/platforms/ace_rtx3070.yaml";
    } else if (system == "brainstorm") {
        point.workload = "configs/workloads/brainstorm/exchange.yaml";
        point.platform = "configs/platforms/brainstorm_v100.yaml";
    } else if (system == "sushi") {
        point.workload = "configs/workloads/sushi/digits_supernet.yaml";
        point.platform = "configs/platforms/sushi_small.yaml";
        if (design == "sushi-table") point.parameters["file"] = scratch("table.json");
    } else if (system == "dynn_offload") {
        point.workload = design == "zero-offload" ? "configs/workloads/dynn_offload/fixed_lstm.yaml"
                                                  : "configs/workloads/dynn_offload/ugan.yaml";
        point.platform = "configs/platforms/training_rtx6000.yaml";
        if (design != "zero-offload") point.overrides["network.width"] = "64";
        if (design == "dynn-offload") point.overrides["training.pilot"] = pilot();
    } else if (system == "expert_parallel") {
        point.workload = "testbenches/data/experts.yaml";
        point.platform = chips();
    } else {
        FAIL("design " << design << " of system " << system << " has no small point: add one to option_cases.cpp");
    }
    return point;
}

std::string run_command(const Point& point) {
    const auto file = point.parameters.find("file");
    const bool own = point.platform.empty();
    std::string command = fmt::format("run --design {} --workload {} --platform {}", point.design, point.workload,
                                      own ? file->second : point.platform);
    for (const auto& [key, value] : point.overrides) command += fmt::format(" --set {}={}", key, value);
    if (!own && file != point.parameters.end()) command += " --set table.file=" + file->second;
    return command;
}

}  // namespace switchyard::testing
