// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/characterisation/link_run.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/sw_scheduler/collectives/measured_links.h"

namespace switchyard::platform {
namespace {

using sched::NcclCollective;

constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 26;  ///< of all devices: a second to draw

sched::CollectiveCosts costs_of(const LinkRun& run, NcclCollective collective, std::uint64_t bytes) {
    if (run.nccl == "none") return {};
    const bool ll128 = run.nccl == "volta";  // Pascal cannot
    return sched::nccl_costs(collective, sched::nccl_protocol(collective, *run.topology, bytes, ll128));
}

sched::CollectiveProgram one_message(const LinkRun& run, std::uint64_t bytes) {
    sched::CollectiveProgram program;
    program.name = "point_to_point";
    program.devices = run.topology->devices();
    program.buffer_bytes = bytes;
    sched::Transfer transfer;
    transfer.from = run.from;
    transfer.to = run.to;
    transfer.bytes = bytes;
    program.transfers.push_back(transfer);
    return program;
}

sched::CellCounts cells_of(const LinkRun& run, std::uint64_t bytes) {
    if (bytes % run.cell_bytes != 0)
        throw std::invalid_argument(
            fmt::format("all-to-all: expected a multiple of cells of {} bytes, found {}", run.cell_bytes, bytes));
    if (bytes / run.cell_bytes > kMaxCells / run.topology->devices())
        throw std::invalid_argument(
            fmt::format("all-to-all of {} bytes on {} devices: expected at most {} cells of {} bytes, found more",
                        bytes, run.topology->devices(), kMaxCells, run.cell_bytes));
    return sched::skewed_cells(run.topology->devices(), bytes / run.cell_bytes, run.skew, run.seed, run.ranks == "own");
}

sched::CollectiveProgram program_of(const LinkRun& run, const std::string& collective, std::uint64_t bytes) {
    const sched::LinkTopology& topology = *run.topology;
    if (collective == "point_to_point") return one_message(run, bytes);
    if (collective == "all_to_all_padded")
        return sched::padded_all_to_all(topology, cells_of(run, bytes), run.cell_bytes);
    if (collective == "all_to_all_sparse")
        return sched::sparse_all_to_all(topology, cells_of(run, bytes), run.cell_bytes);
    if (collective == "all_gather") {
        const std::uint64_t own = (bytes + topology.devices() - 1) / topology.devices();
        return sched::all_gather(topology, own, costs_of(run, NcclCollective::all_gather, own));
    }
    if (collective == "all_reduce")
        return sched::ring_all_reduce(topology, bytes, costs_of(run, NcclCollective::all_reduce_ring, bytes));
    throw std::invalid_argument(not_among("--collective", link_collectives(), collective));
}

/// Of the bytes, what a device sends: nccl-tests' factor from bytes a time to bus bandwidth.
double bus_factor(const std::string& collective, double devices) {
    if (collective == "point_to_point") return 1;
    return (collective == "all_reduce" ? 2 : 1) * (devices - 1) / devices;
}

/// Whether the model was compared with what this run has of `collective` and `bytes`, half to double of them.
bool resembles(const LinkRun& run, const std::string& collective, std::uint64_t bytes,
               const sched::MeasuredLinks& measured) {
    const hw::MessageEngine::Config usual;
    const bool message = measured.what == "copy" || measured.what == "kernel";
    const std::string rate = message ? measured.what : "kernel";
    const bool same_run = message ? run.from == 0 && run.to == measured.to
                                  : run.nccl == (measured.topology == "dgx1v" ? "volta" : "pascal");
    return run.file_contents == measured.contents && run.topology->devices() == measured.devices && same_run &&
           collective == (message ? "point_to_point" : measured.what) && run.engine.rate == rate &&
           run.engine.switching == usual.switching && run.engine.chunk_bytes == usual.chunk_bytes &&
           run.engine.buffer_chunks == usual.buffer_chunks && bytes >= measured.bytes / 2 &&
           bytes / 2 <= measured.bytes;
}

/// The measured figures that the run resembles; false for none.
nlohmann::ordered_json calibration_of(const LinkRun& run) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const sched::MeasuredLinks& measured : sched::measured_links())
        for (const std::string& collective : run.collectives) {
            const bool any = std::any_of(run.bytes.begin(), run.bytes.end(), [&](std::uint64_t bytes) {
                return resembles(run, collective, bytes, measured);
            });
            if (any)
                list.push_back({{"collective", collective},
                                {"bytes", measured.bytes},
                                {"largest_error", measured.largest_error / 100}});
        }
    if (list.empty()) return false;
    return list;
}

nlohmann::ordered_json row_of(const LinkRun& run, const std::string& collective, std::uint64_t bytes) {
    const hw::CollectiveResult result =
        hw::run_collective(run.topology, run.engine, program_of(run, collective, bytes));
    const auto& sent = result.channel_bytes;
    const auto busiest = static_cast<unsigned>(std::max_element(sent.begin(), sent.end()) - sent.begin());
    const double rate = static_cast<double>(bytes) / result.ns;
    return {{"collective", collective},
            {"bytes", bytes},
            {"us", result.ns / 1000},
            {"gb_per_s", rate},
            {"bus_gb_per_s", rate * bus_factor(collective, run.topology->devices())},
            {"busiest_link", run.topology->channel_name(busiest)},
            {"busiest_link_bytes", sent[busiest]},
            {"busiest_link_busy", result.channel_busy[busiest]}};
}

}  // namespace

const std::vector<std::string>& link_collectives() {
    static const std::vector<std::string> kNames{"point_to_point", "all_to_all_padded", "all_to_all_sparse",
                                                 "all_gather", "all_reduce"};
    return kNames;
}

nlohmann::ordered_json link_report(const LinkRun& run) {
    const sched::LinkTopology& topology = *run.topology;
    if (run.from >= topology.devices() || run.to >= topology.devices() || run.from == run.to)
        throw std::invalid_argument(fmt::format("expected two of {} devices for a message, found {} and {}",
                                                topology.devices(), run.from, run.to));
    nlohmann::ordered_json report = {{"format", "switchyard-link"},
                                     {"topology", topology.name()},
                                     {"devices", topology.devices()},
                                     {"calibrated", calibration_of(run)},
                                     {"rate", run.engine.rate},
                                     {"switching", run.engine.switching},
                                     {"chunk_bytes", run.engine.chunk_bytes},
                                     {"buffer_chunks", run.engine.buffer_chunks},
                                     {"from", run.from},
                                     {"to", run.to},
                                     {"cell_bytes", run.cell_bytes},
                                     {"skew", run.skew},
                                     {"ranks", run.ranks},
                                     {"seed", run.seed},
                                     {"nccl", run.nccl}};
    for (const std::string& collective : run.collectives)
        for (const std::uint64_t bytes : run.bytes) report["rows"].push_back(row_of(run, collective, bytes));
    return report;
}

}  // namespace switchyard::platform
