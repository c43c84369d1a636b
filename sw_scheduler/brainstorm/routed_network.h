// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/route_source.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"
#include "switchyard/sw_scheduler/workload/gpu_operator.h"

namespace switchyard::sched::brainstorm {

/// An operator for some of a network's cells.
struct CellOperator {
    GpuOperator one;          ///< of `cells` cells; as many times its batch for more, rounded up
    std::uint64_t cells = 1;  ///< 0: the same however many cells there are
    /// Units of `cells` cells are problems of their own, computed side by side: attention, sentence by sentence.
    std::uint64_t side_by_side = 0;  ///< problems of a unit; 0: rows of one problem
    unsigned elementwise = 0;        ///< element-wise operators behind it: launches, unless they are fused vertically
    bool weights = true;             ///< its second operand is weights: their bytes count
};

/// Operators that do not depend on each other.
using Wave = std::vector<CellOperator>;

struct Branch {
    std::vector<Wave> waves;  ///< one after another; none: the cells pass
    std::uint64_t weight_bytes() const;
};

/// A part of a network: what all of its cells go through, then a router with its branches, if it has one.
struct Stage {
    std::string name;
    std::vector<Wave> fixed;
    bool routed = false;
    std::vector<CellOperator> gate;  ///< scores; the choice itself follows from the router
    CellRouter router;
    /// One for all branches if they are alike (experts), otherwise one each.
    std::vector<Branch> branches;
    std::vector<Wave> common;         ///< before the branches, if a cell takes any
    std::uint64_t cell_bytes = 0;     ///< that dispatch and gather move
    std::uint64_t cell_elements = 1;  ///< of FP32
    unsigned read_backs = 1;          ///< of decisions, where the host must know them
    double host_us = 0;               ///< of the router itself on the host, for a decision
    bool host_decides = false;        ///< which branch runs is control flow of the host, whatever the design
    std::uint64_t cells_each = 1;     ///< one cell of this number is routed, for those beside it
    int last_branch = -1;             ///< the network ends with it
    bool loops_over_branches =
        false;  ///< serial: visits branches without cells too, each with two read-backs (Stage docs)
    /// Stages and branches, any of which leads here (branch -1: none was taken); empty: always reached.
    std::vector<std::pair<std::size_t, int>> reached_from;

    const Branch& branch(std::size_t index) const { return branches.size() == 1 ? branches[0] : branches.at(index); }
    std::uint64_t fixed_weight_bytes() const;
};

/// A network of cells and routers (Brainstorm, OSDI 2023, section 3), as its file in configs/workloads/brainstorm
/// describes it (docs/brainstorm.md).
struct RoutedNetwork {
    std::string name, file;
    std::uint64_t cells = 1;            ///< of a batch on a device
    std::uint64_t cells_per_input = 1;  ///< of a sentence or an image, whose cells come to a device together
    std::vector<Stage> stages;
    RouteDeclaration routes;
    RouteDeclaration profile_routes;  ///< of profiles; other than `routes` where the distribution has drifted
    /// Operators between two routers keep cells apart, so that a cell may stay on the device of its branch; otherwise
    /// all cells of an input return to its device. Derived by trace_cells().
    bool cells_stay = false;
    /// Routers decide whether or not a path leads to them; those that none leads to close all of theirs.
    bool all_routers = false;
    std::uint64_t activation_bytes = 0;  ///< of the largest layer, two buffers; 0: not counted

    std::vector<std::size_t> routed_stages() const;
    /// Branches of each routed stage.
    std::vector<std::size_t> branches() const;
    std::uint64_t fixed_weight_bytes() const;   ///< outside of branches
    std::uint64_t branch_weight_bytes() const;  ///< of all branches
    std::uint64_t decisions() const;            ///< read-backs of all routers: what the paper counts as routers
};

/// Reads a description. `overrides`: "network.KEY" -> value, with KEY of the file; those that are used are removed.
/// Throws InputError "file:line: key: message".
RoutedNetwork read_routed_network(const std::string& path, std::map<std::string, std::string>& overrides);

/// Linear layer of `rows` rows a unit of `cells` cells.
CellOperator linear_layer(std::uint64_t rows, std::uint64_t inputs, std::uint64_t outputs, unsigned elementwise = 0,
                          std::uint64_t cells = 1);
/// Square filter, padding that keeps the map divided by the stride; an image or a patch a cell.
CellOperator convolution_layer(std::uint64_t in, std::uint64_t out, std::uint64_t height, std::uint64_t width,
                               std::uint64_t kernel, std::uint64_t stride = 1, unsigned elementwise = 0);
CellOperator depthwise_layer(std::uint64_t channels, std::uint64_t height, std::uint64_t width, std::uint64_t kernel,
                             std::uint64_t stride = 1, unsigned elementwise = 0);
/// Reads and writes `elements` a cell.
CellOperator elementwise_layer(std::uint64_t elements, std::uint64_t cells = 1);

}  // namespace switchyard::sched::brainstorm
