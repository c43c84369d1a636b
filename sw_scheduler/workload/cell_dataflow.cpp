// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/cell_dataflow.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

Shape same_shape(const Shape& input) {
    return input;
}

/// All elements of a shape, row by row.
template <class F>
void for_each_element(const Shape& shape, const F& body) {
    Index index(shape.size());
    const std::uint64_t count =
        std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, [](auto a, auto b) { return a * b; });
    for (std::uint64_t i = 0; i < count; ++i) {
        body(index);
        for (std::size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
    }
}

/// `index` with all values of one dimension.
std::vector<Index> line(Index index, std::size_t dim, std::uint64_t size) {
    std::vector<Index> result;
    for (index[dim] = 0; index[dim] < size; ++index[dim]) result.push_back(index);
    return result;
}

}  // namespace

IndexMap elementwise_map() {
    return {"elementwise", same_shape, [](const Shape&, const Index& out) { return std::vector<Index>{out}; }};
}

IndexMap linear_map(std::uint64_t n) {
    return {"linear",
            [n](Shape shape) {
                shape.back() = n;
                return shape;
            },
            [](const Shape& in, const Index& out) { return line(out, in.size() - 1, in.back()); }};
}

IndexMap constant_times_map(std::vector<std::vector<bool>> nonzero) {
    const std::uint64_t rows = nonzero.size();
    return {"constant_times",
            [rows](Shape shape) {
                shape.front() = rows;
                return shape;
            },
            [nonzero = std::move(nonzero)](const Shape& in, const Index& out) {
                const std::vector<bool>& row = nonzero.at(out[0]);
                if (row.size() != in[0])
                    throw InputError(fmt::format("constant_times: expected a column for each of {} rows, found {}",
                                                 in[0], row.size()));
                std::vector<Index> result;
                for (Index& element : line(out, 0, in[0]))
                    if (row[element[0]]) result.push_back(std::move(element));
                return result;
            }};
}

IndexMap transpose_map(std::size_t a, std::size_t b) {
    const auto exchange = [a, b](Shape shape) {
        std::swap(shape.at(a), shape.at(b));
        return shape;
    };
    return {"transpose", exchange,
            [exchange](const Shape&, const Index& out) { return std::vector<Index>{exchange(out)}; }};
}

IndexMap reduce_along_map(std::size_t dim) {
    return {"reduce_along", same_shape,
            [dim](const Shape& in, const Index& out) { return line(out, dim, in.at(dim)); }};
}

IndexMap self_attention_map() {
    return {"self_attention", same_shape, [](const Shape& in, const Index& out) {
                if (in.size() != 3)
                    throw InputError(fmt::format(
                        "self_attention: expected 3 dimensions, [sentences, tokens, hidden], found {}", in.size()));
                // Scores of a token need its query, all of its hidden values, and the keys of all tokens.
                std::vector<Index> result;
                for (const Index& token : line(out, 1, in[1]))
                    for (Index& element : line(token, 2, in[2])) result.push_back(std::move(element));
                return result;
            }};
}

IndexMap window_map(std::uint64_t kernel) {
    return {"window", same_shape, [kernel](const Shape& in, const Index& out) {
                std::vector<Index> result;
                const std::uint64_t half = kernel / 2;
                for (std::uint64_t y = out[0] < half ? 0 : out[0] - half; y <= std::min(in[0] - 1, out[0] + half); ++y)
                    for (std::uint64_t x = out[1] < half ? 0 : out[1] - half; x <= std::min(in[1] - 1, out[1] + half);
                         ++x)
                        result.push_back({y, x});
                return result;
            }};
}

std::string to_string(CellRelation relation) {
    switch (relation) {
        case CellRelation::keeps:
            return "keeps";
        case CellRelation::reorders:
            return "reorders";
        case CellRelation::mixes:
            return "mixes";
    }
    return "";
}

CellDataflow trace_cells(const IndexMap& op, const Shape& input, const CellAnnotation& in, const CellAnnotation& out) {
    return trace_cells(std::vector<IndexMap>{op}, input, {in, out});
}

CellDataflow trace_cells(const std::vector<IndexMap>& ops, const Shape& input,
                         const std::vector<CellAnnotation>& cells) {
    using Symbols = std::set<std::uint64_t>;
    if (ops.empty() || cells.size() != ops.size() + 1)
        throw InputError(fmt::format(
            "expected one operator or more and one annotation of cells more than operators, found {} operators and "
            "{} annotations",
            ops.size(), cells.size()));
    Shape shape = input;
    std::vector<Symbols> symbols;  // by cell of the present tensor
    for (std::uint64_t cell = 0; cell < cells[0].cells_of(input); ++cell) symbols.push_back({cell});
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const Shape output = ops[i].output_shape(shape);
        std::vector<Symbols> next(cells[i + 1].cells_of(output));
        for_each_element(output, [&](const Index& element) {
            Symbols& made_of = next[cells[i + 1].cell_of(output, element)];
            for (const Index& source : ops[i].inputs(shape, element)) {
                const Symbols& found = symbols[cells[i].cell_of(shape, source)];
                made_of.insert(found.begin(), found.end());
            }
        });
        symbols = std::move(next);
        shape = output;
    }
    CellDataflow result;
    result.output = shape;
    for (const Symbols& made_of : symbols) {
        if (made_of.size() > 1)
            result.relation = CellRelation::mixes;
        else if (result.relation == CellRelation::keeps &&
                 (made_of.empty() || *made_of.begin() != result.sources.size()))
            result.relation = CellRelation::reorders;
        result.sources.emplace_back(made_of.begin(), made_of.end());
    }
    return result;
}

std::vector<std::vector<std::uint64_t>> cells_of_one_device(const CellDataflow& dataflow, std::uint64_t input_cells) {
    std::vector<std::uint64_t> parent(input_cells);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::uint64_t cell) {
        while (parent.at(cell) != cell) cell = parent[cell] = parent[parent[cell]];
        return cell;
    };
    for (const std::vector<std::uint64_t>& made_of : dataflow.sources)
        for (const std::uint64_t cell : made_of) {
            const std::uint64_t a = root(cell), b = root(made_of.front());
            parent[std::max(a, b)] = std::min(a, b);
        }
    std::map<std::uint64_t, std::vector<std::uint64_t>> groups;
    for (std::uint64_t cell = 0; cell < input_cells; ++cell) groups[root(cell)].push_back(cell);
    std::vector<std::vector<std::uint64_t>> result;
    result.reserve(groups.size());
    for (auto& [lowest, group] : groups) result.push_back(std::move(group));
    return result;
}

}  // namespace switchyard::sched
