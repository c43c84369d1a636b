// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/workload/cell_router.h"

namespace switchyard::sched {

using Shape = std::vector<std::uint64_t>;
using Index = std::vector<std::uint64_t>;

/// Which elements of its input an element of an operator's output is made of: the tensor expression of the operator.
struct IndexMap {
    std::string name;
    std::function<Shape(const Shape& input)> output_shape;
    std::function<std::vector<Index>(const Shape& input, const Index& output)> inputs;
};

/// Tensor expressions of common operators. Sizes other than the input's are the operator's own.
IndexMap elementwise_map();
/// [..., k] times a constant [k, n].
IndexMap linear_map(std::uint64_t n);
/// A constant matrix, `nonzero`[m][k], times [k, n]: Fig. 8a of the paper.
IndexMap constant_times_map(std::vector<std::vector<bool>> nonzero);
IndexMap transpose_map(std::size_t a, std::size_t b);  ///< exchanges two dimensions
/// Each element of a dimension depends on all of it: softmax, mean and layer normalisation.
IndexMap reduce_along_map(std::size_t dim);
/// [sentences, tokens, hidden]: softmax(x x^T) x, each token of all tokens of its sentence.
IndexMap self_attention_map();
/// [height, width]: a window of `kernel` x `kernel` with stride 1, padded.
IndexMap window_map(std::uint64_t kernel);

/// What an operator does with cells (Brainstorm, section 5.1).
enum class CellRelation { keeps, reorders, mixes };
std::string to_string(CellRelation relation);

struct CellDataflow {
    CellRelation relation = CellRelation::keeps;
    Shape output;
    /// [cell of the output] cells of the input it is made of, sorted.
    std::vector<std::vector<std::uint64_t>> sources;
};

/// Symbolic execution: elements of one cell share a symbol; an element of the output holds the symbols of the elements
/// that it is made of. keeps: each output cell is made of the input cell at its place; reorders: of one other; mixes:
/// of several. `out`: cells of the output. Throws InputError if cells do not tile a tensor.
CellDataflow trace_cells(const IndexMap& op, const Shape& input, const CellAnnotation& in, const CellAnnotation& out);
/// A chain of operators; `cells` has one annotation more than there are operators.
CellDataflow trace_cells(const std::vector<IndexMap>& ops, const Shape& input,
                         const std::vector<CellAnnotation>& cells);

/// Cells that must be on one device for the operators to have all of their inputs there: cells that meet in an output
/// cell. Every input cell is in one group; groups by their lowest cell.
std::vector<std::vector<std::uint64_t>> cells_of_one_device(const CellDataflow& dataflow, std::uint64_t input_cells);

}  // namespace switchyard::sched
