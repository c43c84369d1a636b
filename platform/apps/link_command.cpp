// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/link_command.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/collectives/measured_links.h"

namespace switchyard::platform {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;
constexpr unsigned kMaxDevices = 1024;

/// NVLink 2 of configs/topologies/dgx1v.yaml, where the sources are.
sched::LinkKind nvlink2() {
    sched::LinkKind kind;
    kind.name = "nvlink2";
    kind.kernel_gb_per_s = 20;
    return kind;
}

std::string link_table(const nlohmann::ordered_json& report) {
    std::string text = fmt::format("{}, {} devices, rate of {}s\n{:<18}{:>13}{:>13}{:>9}{:>10}  {}\n",
                                   report.at("topology").get<std::string>(), report.at("devices").get<unsigned>(),
                                   report.at("rate").get<std::string>() == "copy" ? "copy engine" : "kernel",
                                   "collective", "bytes", "us", "GB/s", "bus GB/s", "busiest link");
    for (const auto& row : report.at("rows"))
        text += fmt::format("{:<18}{:>13}{:>13.2f}{:>9.2f}{:>10.2f}  {}: {} bytes, busy {:.0f} %\n",
                            row.at("collective").get<std::string>(), row.at("bytes").get<std::uint64_t>(),
                            row.at("us").get<double>(), row.at("gb_per_s").get<double>(),
                            row.at("bus_gb_per_s").get<double>(), row.at("busiest_link").get<std::string>(),
                            row.at("busiest_link_bytes").get<std::uint64_t>(),
                            100 * row.at("busiest_link_busy").get<double>());
    const nlohmann::ordered_json& calibrated = report.at("calibrated");
    if (!calibrated.is_array())
        return text + "not calibrated: no measured links are like these (docs/models/link.md)\n";
    for (const auto& measured : calibrated)
        text += fmt::format("{} of {} bytes was measured: the model is within {:.0f} %\n",
                            measured.at("collective").get<std::string>(), measured.at("bytes").get<std::uint64_t>(),
                            100 * measured.at("largest_error").get<double>());
    return text;
}

}  // namespace

void LinkCommand::add_to(CLI::App& app) {
    given_.watch(app);
    run_.collectives = link_collectives();
    run_.bytes = {65536, 1048576, 16777216, 268435456};
    app.add_option("topology", file_, "topology file (YAML), or --family");
    app.add_option("--family", family_,
                   fmt::format("{}; each link an NVLink 2", fmt::join(sched::link_families(), ", ")))
        ->check(CLI::IsMember(sched::link_families()));
    app.add_option("--devices", devices_, "of the family, default 8; of a file the first N, default: all")
        ->check(whole_number(2, kMaxDevices));
    app.add_option("--rate-factor", rate_factor_, "multiplies the rates of all links")->check(positive_number());
    app.add_option("--collective", run_.collectives,
                   fmt::format("{}; default: all", fmt::join(link_collectives(), ", ")))
        ->delimiter(',')
        ->check(CLI::IsMember(link_collectives()));
    app.add_option("--bytes", run_.bytes, "sizes, for example 1024,1048576")
        ->delimiter(',')
        ->check(whole_number(1, kMaxBytes));
    app.add_option("--from", run_.from, "point_to_point: sending device")->check(whole_number(0, kMaxDevices));
    app.add_option("--to", run_.to, "point_to_point: receiving device")->check(whole_number(0, kMaxDevices));
    app.add_option("--cell-bytes", run_.cell_bytes, "all-to-all: bytes of a cell")->check(whole_number(1, kMaxBytes));
    app.add_option("--skew", run_.skew,
                   "all-to-all: cells to the device of rank r, counted from 1, go as r^-skew; 0: uniform")
        ->check(number(0, 10));
    app.add_option("--ranks", run_.ranks, "all-to-all: shared by all sources, or each source's own")
        ->check(CLI::IsMember({"shared", "own"}));
    app.add_option("--seed", run_.seed, "all-to-all: of the ranks and destinations")->check(whole_number(0));
    app.add_option("--nccl", run_.nccl, "all-gather, all-reduce: NCCL's costs on pascal or volta, by kernels")
        ->check(CLI::IsMember({"none", "pascal", "volta"}));
    app.add_option("--rate", rate_, "copy engines or kernels move the bytes; default: copy, kernel with --nccl")
        ->check(CLI::IsMember({"copy", "kernel"}));
    app.add_option("--switching", run_.engine.switching, "when a node passes on a chunk")
        ->check(CLI::IsMember({"cut_through", "store_and_forward"}));
    app.add_option("--chunk-bytes", run_.engine.chunk_bytes, "by which messages share links")
        ->check(whole_number(64, kMaxBytes));
    app.add_option("--buffer-chunks", run_.engine.buffer_chunks, "of an input of a node, for each layer of routes")
        ->check(whole_number(1, 1024));
    app.add_option("--json", json_, "file for the result");
}

sched::LinkTopology LinkCommand::topology() {
    if (file_.empty() == family_.empty())
        throw InputError("link", 0, "", "expected a topology file or --family, found neither or both");
    if (!family_.empty()) return sched::make_link_topology(family_, devices_ > 0 ? devices_ : 8, nvlink2());
    const sched::LinkTopology read = sched::read_link_topology(file_);
    if (rate_factor_ == 1) run_.file_contents = sched::contents_of(read);
    return devices_ > 0 ? read.first_devices(devices_) : read;
}

std::vector<UnusedParameter> LinkCommand::unused() const {
    const auto has = [this](const char* prefix) {
        return std::any_of(run_.collectives.begin(), run_.collectives.end(),
                           [prefix](const std::string& name) { return name.rfind(prefix, 0) == 0; });
    };
    const bool message = has("point_to_point"), cells = has("all_to_all");
    constexpr const char* kMessage = "goes with --collective point_to_point";
    constexpr const char* kCells = "goes with --collective all_to_all_padded or all_to_all_sparse";
    return given_.unused(
        {{"from", message, kMessage},
         {"to", message, kMessage},
         {"cell-bytes", cells, kCells},
         {"skew", cells, kCells},
         {"ranks", cells, kCells},
         {"seed", cells, kCells},
         {"nccl", has("all_gather") || has("all_reduce"), "goes with --collective all_gather or all_reduce"}});
}

nlohmann::ordered_json LinkCommand::report() {
    try {
        run_.topology = std::make_shared<sched::LinkTopology>(topology().scaled(rate_factor_));
        run_.engine.rate = !rate_.empty() ? rate_ : run_.nccl == "none" ? "copy" : "kernel";
        return link_report(run_);
    } catch (const std::invalid_argument& error) {
        throw InputError(file_.empty() ? "link" : file_, 0, "", error.what());
    }
}

int LinkCommand::run() {
    refuse(unused());
    const nlohmann::ordered_json result = report();
    if (!json_.empty()) write_json(result, json_);
    fmt::print("{}", link_table(result));
    return 0;
}

}  // namespace switchyard::platform
