// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::sched {

/// What a network routes (Brainstorm, OSDI 2023, section 3): `dims` are the dimensions of the tensor that cells count
/// along, `shape` is a cell's size in each dimension of the tensor, or in each of `dims`. A token of a [3, 768] tensor:
/// dims 0, shape [1, 768]; a patch of an image: dims 0 and 1, shape [32, 32].
struct CellAnnotation {
    std::vector<std::size_t> dims;
    std::vector<std::uint64_t> shape;

    /// Cells of a tensor. Throws InputError if the cells do not tile it.
    std::uint64_t cells_of(const std::vector<std::uint64_t>& tensor) const;
    /// The number of the cell that an element belongs to; cells count row by row along `dims`.
    std::uint64_t cell_of(const std::vector<std::uint64_t>& tensor, const std::vector<std::uint64_t>& element) const;
    /// A cell's size along a dimension of the tensor.
    std::uint64_t extent(const std::vector<std::uint64_t>& tensor, std::size_t dim) const;
};

/// `cell: {dims: [0], shape: [1, 768]}`. Throws InputError.
CellAnnotation read_cell(MappingReader cell);

/// How a router chooses (`router_fn` of the paper).
struct CellRouter {
    enum class Kind { top_k, threshold, switch_one, hash, task };
    /// What happens to a cell whose branch is full: it takes no branch (-1); or the next best one that has room.
    enum class Drop { drop, next_best };
    Kind kind = Kind::top_k;
    std::size_t branches = 1;
    std::size_t k = 1;           ///< top_k: branches of a cell
    double threshold = 0.5;      ///< threshold: a cell takes the branches whose score is at least that
    std::uint64_t capacity = 0;  ///< cells of a branch; 0: no limit
    Drop drop = Drop::drop;      ///< in the order of the cells
    std::uint64_t hash_seed = 1;
};

/// The name of a kind in files: "top_k".
const char* to_string(CellRouter::Kind kind);

/// Whether it chooses by the number of a cell or its task, which no gate computes.
bool routes_by_number(const CellRouter& router);

/// Branch of the cell with this number, by a hash function.
std::size_t hashed_branch(std::uint64_t number, std::uint64_t seed, std::size_t branches);

/// `router: {kind: top_k | threshold | switch | hash | task, branches: N, ...}`; `capacity`, if it is there, is 1 at
/// least. Throws InputError.
CellRouter read_cell_router(MappingReader router);

/// Branches of each cell, in the order in which the router prefers them; empty: the cell is dropped.
using CellRoutes = std::vector<std::vector<std::size_t>>;

/// `scores`: [cell][branch], of top_k, threshold and switch. `ids`: of the cells (tokens) for hash, tasks for task.
/// Equal scores: the lower branch. Throws InputError for sizes that do not fit and tasks without a branch.
CellRoutes route_cells(const CellRouter& router, const std::vector<std::vector<double>>& scores,
                       const std::vector<std::uint64_t>& ids);
std::vector<std::uint64_t> loads_of(const CellRoutes& routes, std::size_t branches);

/// What is kept of the decisions of routers in a row, by level: how many cells a branch got in each batch; how many
/// went from a branch of one router to one of the next; every decision.
class CellProfile {
public:
    enum class Level { loads, correlation, decisions };
    CellProfile(Level level, std::vector<std::size_t> branches);

    /// The decisions of all routers for one batch, the same cells in each.
    void add(const std::vector<CellRoutes>& batch);

    Level level() const { return level_; }
    std::size_t batches() const { return batches_; }
    std::size_t routers() const { return branches_.size(); }
    const std::vector<std::size_t>& branches() const { return branches_; }
    /// [batch] cells of a branch.
    const std::vector<std::uint64_t>& loads(std::size_t router, std::size_t branch) const {
        return loads_.at(router).at(branch);
    }
    /// Load that a share `percentile` (0 to 1) of the batches does not exceed; batches without cells do not count.
    std::uint64_t load_percentile(std::size_t router, double percentile) const;
    /// Cells from a branch of `router` to one of `router` + 1. Throws InputError at level `loads`.
    std::uint64_t moved(std::size_t router, std::size_t from, std::size_t to) const;
    const std::vector<std::vector<CellRoutes>>& decisions() const { return decisions_; }

    /// What recording costs, as if a GPU's kernel behind each router did it: an atomic addition for each count, and
    /// bytes of device memory, 4 a counter or a decision.
    std::uint64_t counter_updates() const { return updates_; }
    std::uint64_t bytes() const;

private:
    Level level_;
    std::vector<std::size_t> branches_;
    std::size_t batches_ = 0;
    std::vector<std::vector<std::vector<std::uint64_t>>> loads_;  ///< [router][branch][batch]
    std::vector<std::vector<std::uint64_t>> moved_;               ///< [router][from * branches of the next + to]
    std::vector<std::vector<CellRoutes>> decisions_;              ///< [batch][router]
    std::uint64_t updates_ = 0, recorded_ = 0;
};

}  // namespace switchyard::sched
