// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/gemm.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/gemm_graph.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

std::uint32_t narrow(const char* option, std::uint64_t size) {
    if (size > std::numeric_limits<std::uint32_t>::max())
        throw InputError(option, 0, "",
                         fmt::format("expected at most {}, found {}", std::numeric_limits<std::uint32_t>::max(), size));
    return static_cast<std::uint32_t>(size);
}

}  // namespace

ordered_json run_gemm(const PlatformConfig& platform, const GemmSize& size) {
    if (size.tiles > platform.tiles())
        throw InputError("--tiles", 0, "",
                         fmt::format("expected at most the {} tiles of platform {}, found {}", platform.tiles(),
                                     platform.chip.name, size.tiles));
    const unsigned tiles = size.tiles == 0 ? platform.tiles() : size.tiles;
    const sched::HardwareDescription hardware = make_hardware_description(platform);
    sched::CompileOptions options;
    options.tiles = tiles;
    const sched::DynGraph graph =
        sched::build_gemm_graph(narrow("--m", size.m), narrow("--n", size.n), narrow("--k", size.k), hardware, tiles);
    const NetworkImage compiled = accepted_image(sched::compile(graph, hardware, options), platform, "gemm");
    const Image& image = compiled.image;
    const std::vector<BatchRouting> routing{{image.meta.batch_samples, {}}};
    const RunResult result = run_simulation(platform, image, compiled.bytes, routing);
    const ordered_json report = make_report(platform, image, routing, {"none", 0}, result);

    const double macs = static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
    const std::uint64_t cycles = result.host.batches.front().chip_cycles;
    const double pes = static_cast<double>(tiles) * platform.pe_array.rows * platform.pe_array.columns;
    const ordered_json& use = report.at("utilisation");
    const double hbm_bytes = use.at("hbm_read_bytes").get<double>() + use.at("hbm_write_bytes").get<double>();
    const double hbm_peak = platform.hbm.interfaces() * platform.hbm.peak_bytes_per_cycle();
    return {{"format", "switchyard-gemm"},
            {"version", 1},
            {"ok", report.at("ok")},
            {"platform", platform.chip.name},
            {"m", size.m},
            {"n", size.n},
            {"k", size.k},
            {"tiles", tiles},
            {"cycles", cycles},
            {"macs", size.m * size.n * size.k},
            {"utilisation", macs / (pes * static_cast<double>(cycles))},
            {"hbm_bytes", static_cast<std::uint64_t>(hbm_bytes)},
            {"hbm_bandwidth", hbm_bytes / (hbm_peak * static_cast<double>(cycles))},
            {"hbm_gb_per_s", hbm_bytes / static_cast<double>(cycles) * platform.chip.clock_ghz},
            {"energy_mj", report.at("energy").at("total_mj")},
            {"fidelity", report.at("fidelity")},
            {"validation", report.at("validation")},
            {"load", report.at("load")},
            {"conservation", report.at("conservation")}};
}

}  // namespace switchyard::platform
