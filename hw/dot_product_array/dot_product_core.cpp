// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dot_product_array/dot_product_core.h"

#include <stdexcept>
#include <utility>

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {

using Kind = DotProductInput::Kind;

CycleDotProductCore::CycleDotProductCore(const sched::DotProductShape& shape) {
    for (std::uint32_t row = 0; row < shape.rows; ++row) rows_.emplace_back(shape);
}

void CycleDotProductCore::step(const DotProductInput& in, DotProductOutput& out) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        Row& row = rows_[r];
        out.valid[r] = row.row.valid ? 1 : 0;
        out.sums[r] = row.row.valid ? row.row.sum : 0;
        row.row = row.engine;
        row.engine = row.product;
        row.product = {};
        if (row.passing.kind == Kind::window) {
            std::int32_t sum = 0;
            for (std::size_t i = 0; i < row.weights.size(); ++i) sum += row.weights[i] * row.passing.bytes[i];
            row.product = {true, sum};
        } else if (row.passing.kind == Kind::weights && row.passing.row == r) {
            row.weights = row.passing.bytes;
        }
    }
    // What passes moves down a row; the last row's goes out, and its buffer comes in at the top.
    for (std::size_t r = rows_.size() - 1; r > 0; --r) std::swap(rows_[r].passing, rows_[r - 1].passing);
    DotProductInput& first = rows_.front().passing;
    first.kind = in.kind;
    first.row = in.row;
    if (in.kind != Kind::idle) first.bytes = in.bytes;
}

std::unique_ptr<DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                      const std::string&) {
    if (impl == "cycle") return std::make_unique<CycleDotProductCore>(shape);
    throw std::invalid_argument(
        not_made("array.impl", {"analytic", "cycle", "rtl", "lockstep"}, impl, "make_dot_product_core"));
}

}  // namespace switchyard::hw
