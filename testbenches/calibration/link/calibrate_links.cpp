// SPDX-License-Identifier: Apache-2.0
// calibrate_links page|check MEASURED.csv TOPOLOGIES: links and collectives beside what others measured, as a page, or
// as a check that fails when an error is above the bound of its row.
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <systemc>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/sw_scheduler/collectives/measured_links.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

struct Row {
    std::string topology, what, source;
    unsigned devices = 0, to = 0;
    std::uint64_t bytes = 0;
    double measured = 0, bound = 0;
};

std::vector<Row> read_rows(const std::string& path) {
    TextLines lines(path, "CSV");
    std::vector<Row> rows;
    std::string source;
    while (lines.next()) {
        if (lines.line()[0] == '#') continue;
        const int number = lines.number();
        std::istringstream text(lines.line());
        std::vector<std::string> cells(7);
        for (std::string& cell : cells) std::getline(text, cell, ',');
        Row row;
        std::getline(text, row.source);
        if (row.source == "the same")
            row.source = source;
        else if (row.source.size() > 2 && row.source[0] == '"')
            row.source = row.source.substr(1, row.source.size() - 2);
        source = row.source;
        try {
            row.topology = cells[0];
            row.devices = static_cast<unsigned>(std::stoul(cells[1]));
            row.what = cells[2];
            row.to = cells[3].empty() ? 0 : static_cast<unsigned>(std::stoul(cells[3]));
            row.bytes = std::stoull(cells[4]);
            row.measured = std::stod(cells[5]);
            row.bound = std::stod(cells[6]);
        } catch (const std::exception&) {
            throw InputError(path, number, "", "no row of seven numbers and a source");
        }
        rows.push_back(row);
    }
    return rows;
}

double modelled(const Row& row, const std::string& folder) {
    const auto topology = std::make_shared<LinkTopology>(
        read_link_topology(folder + "/" + row.topology + ".yaml").first_devices(row.devices));
    hw::MessageEngine::Config config;
    const auto bytes = static_cast<double>(row.bytes);
    const double n = row.devices;
    if (row.what == "copy" || row.what == "kernel") {
        config.rate = row.what;
        hw::MessageEngine engine(topology, config);
        engine.send(0, 0, row.to, row.bytes, 0);
        std::uint64_t ps = 0;
        while (!engine.idle()) engine.advance(ps = engine.next_event());
        return bytes / (static_cast<double>(ps) / 1000);
    }
    // NCCL runs in kernels.
    config.rate = "kernel";
    const bool gathers = row.what == "all_gather";
    const NcclCollective collective = gathers ? NcclCollective::all_gather : NcclCollective::all_reduce_ring;
    const std::uint64_t own = gathers ? row.bytes / row.devices : row.bytes;
    const bool volta = row.topology == "dgx1v";  // LL128 needs it
    const CollectiveCosts costs = nccl_costs(collective, nccl_protocol(collective, *topology, own, volta));
    const CollectiveProgram program =
        gathers ? all_gather(*topology, own, costs) : ring_all_reduce(*topology, own, costs);
    const double ns = hw::run_collective(topology, config, program).ns;
    if (row.what == "latency") return ns / 1000;
    return (gathers ? 1 : 2) * (n - 1) / n * bytes / ns;
}

/// Between the rows and measured_links(), by which sy-sim link says what was measured; "" for none.
std::string difference(const std::vector<Row>& rows, const std::string& folder) {
    if (rows.size() != measured_links().size())
        return fmt::format("{} rows, the file has {}", measured_links().size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const MeasuredLinks& known = measured_links()[i];
        const std::uint32_t contents = contents_of(read_link_topology(folder + "/" + row.topology + ".yaml"));
        const std::string what = row.what == "latency" ? "all_reduce" : row.what;
        if (known.topology != row.topology || known.devices != row.devices || known.what != what ||
            known.to != row.to || known.bytes != row.bytes || known.largest_error != row.bound)
            return fmt::format("row {} is not the file's", i);
        if (known.contents != contents)
            return fmt::format("row {}: contents {:#x}, those of {}.yaml are {:#x}", i, known.contents, row.topology,
                               contents);
    }
    return "";
}

}  // namespace

int sc_main(int argc, char** argv) {
    try {
        if (argc != 4) throw InputError("calibrate_links page|check MEASURED.csv TOPOLOGIES");
        const bool page = std::string(argv[1]) == "page";
        if (page)
            fmt::print(
                "# Links and collectives against measurements\n\nMeasured by others, and the model. Its parameters are "
                "data sheets' and NCCL's own constants (`configs/topologies/`, `nccl_costs`); none comes from a row "
                "here. Written by `./run results link_measurements`; the measured figures stand in "
                "`testbenches/calibration/link/measured.csv`. Bandwidths of collectives are bus bandwidths. The test "
                "`link_measurements` bounds each error.\n\n"
                "| topology | devices | what | bytes | measured | model | error, % | bound, % | source |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        bool good = true;
        const std::vector<Row> rows = read_rows(argv[2]);
        if (const std::string message = difference(rows, argv[3]); !message.empty() && !page) {
            fmt::print("measured_links(): {}\n", message);
            good = false;
        }
        for (const Row& row : rows) {
            const double model = modelled(row, argv[3]), error = 100 * (model / row.measured - 1);
            const bool within = std::abs(error) <= row.bound;
            good = good && within;
            const std::string what = row.to > 0 ? fmt::format("{} 0 to {}, GB/s", row.what, row.to)
                                                : row.what + (row.what == "latency" ? ", us" : ", GB/s");
            if (page || !within)
                fmt::print("| {} | {} | {} | {} | {} | {:.2f} | {:+.1f} | {} | {} |\n", row.topology, row.devices, what,
                           row.bytes, row.measured, model, error, row.bound, row.source);
        }
        return good || page ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
