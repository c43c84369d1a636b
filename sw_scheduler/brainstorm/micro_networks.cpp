// SPDX-License-Identifier: Apache-2.0
// Networks of the micro-benchmarks (Brainstorm, sections 7.2, 7.3 and 8).
#include "switchyard/sw_scheduler/brainstorm/network_generators.h"

namespace switchyard::sched::brainstorm {

/// Figs. 12 and 14: cells of `elements` binary32 values that come to their branches' devices and back.
void read_exchange(MappingReader& file, RoutedNetwork& network) {
    network.cells = file.integer("cells", 1, 1 << 24);
    Stage stage;
    stage.name = "exchange";
    stage.routed = true;
    stage.router = read_network_router(file, CellRouter::Kind::switch_one);
    stage.cell_elements = file.integer_or("elements", 1, 1 << 24, 512);
    stage.cell_bytes = 4 * stage.cell_elements;
    stage.branches = {Branch{}};
    network.stages.push_back(std::move(stage));
}

/// Figs. 13 and 24: branches of one 3 x 3 convolution on 32 x 32 patches; `patches_a_branch`: room for the largest
/// load.
void read_parallel_convolutions(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t channels = file.integer_or("channels", 1, 512, 8), side = file.integer_or("side", 1, 1024, 32);
    Stage stage;
    stage.name = "branches";
    stage.routed = true;
    stage.router = read_network_router(file, CellRouter::Kind::switch_one);
    network.cells = file.integer_or("patches_a_branch", 1, 65536, 9) * stage.router.branches;
    stage.gate = {elementwise_layer(stage.router.branches)};
    Branch branch;
    branch.waves = {{convolution_layer(channels, channels, side, side, 3, 1, 2)}};
    stage.branches = {branch};
    stage.cell_elements = channels * side * side;
    stage.cell_bytes = 4 * stage.cell_elements;
    network.stages.push_back(std::move(stage));
}

/// Fig. 15: a router in front of branches of `operators` matrix multiplications each; `router_us` of the host's time
/// for a decision, and `before` multiplications in front of the router.
void read_matrix_branches(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t rows = file.integer_or("rows", 1, 65536, 256), width = file.integer_or("width", 1, 65536, 1024);
    const std::uint64_t operators = file.integer_or("operators", 1, 4096, 20),
                        before = file.integer_or("before", 0, 4096, 20);
    Stage stage;
    stage.name = "branches";
    stage.routed = true;
    stage.router = read_network_router(file, CellRouter::Kind::switch_one);
    stage.host_decides = true;
    stage.host_us = file.number_or("router_us", 0, 1e6, 100);
    for (std::uint64_t i = 0; i < before; ++i) stage.fixed.push_back({linear_layer(rows, width, width)});
    stage.gate = {elementwise_layer(stage.router.branches)};
    Branch branch;
    for (std::uint64_t i = 0; i < operators; ++i) branch.waves.push_back({linear_layer(rows, width, width)});
    stage.branches = {branch};
    stage.cell_elements = rows * width;
    stage.cell_bytes = 4 * stage.cell_elements;
    network.cells = 1;
    network.stages.push_back(std::move(stage));
}

}  // namespace switchyard::sched::brainstorm
