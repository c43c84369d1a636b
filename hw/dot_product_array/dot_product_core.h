// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/weight_tiles.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

/// The inputs of the array in one cycle (rtl/dot_product_array/dot_product_array.sv has the same ports): nine bytes for
/// each column, which are weights that row `row` keeps, or a window's values.
struct DotProductInput {
    enum class Kind : std::uint8_t { idle, weights, window };
    Kind kind = Kind::idle;
    std::uint32_t row = 0;
    std::vector<std::int8_t> bytes;  ///< [column][9]

    explicit DotProductInput(const sched::DotProductShape& shape)
        : bytes(std::size_t{sched::kEngineInputs} * shape.columns) {}
};

/// A window's sum over all columns leaves row r in the cycle r + 4 after the one in which it came in.
struct DotProductOutput {
    std::vector<std::uint8_t> valid;  ///< by row
    std::vector<std::int32_t> sums;   ///< 0 where there is none

    explicit DotProductOutput(const sched::DotProductShape& shape) : valid(shape.rows), sums(shape.rows) {}
    bool operator==(const DotProductOutput& o) const { return valid == o.valid && sums == o.sums; }
};

/// The array itself, cycle by cycle. Implementations of RTL throw RtlFault.
class DotProductCore : public RtlPart {
public:
    /// One cycle: what leaves the rows in it does not depend on what comes in.
    virtual void step(const DotProductInput& in, DotProductOutput& out) = 0;
};

/// The model: each row's register of the values that pass, its weights, and three registers behind them (products, sums
/// of the engines, sum of the row).
class CycleDotProductCore : public DotProductCore {
public:
    explicit CycleDotProductCore(const sched::DotProductShape& shape);
    void step(const DotProductInput& in, DotProductOutput& out) override;

private:
    struct Stage {
        bool valid = false;
        std::int32_t sum = 0;
    };
    struct Row {
        std::vector<std::int8_t> weights;
        DotProductInput passing;
        Stage product, engine, row;
        explicit Row(const sched::DotProductShape& shape)
            : weights(std::size_t{sched::kEngineInputs} * shape.columns), passing(shape) {}
    };
    std::vector<Row> rows_;
};

/// Makes the core that `impl` names (`cycle`; `rtl` and `lockstep` with Switchyard::rtl) for the module `name`. Throws
/// std::invalid_argument: there is none of this name or shape.
using DotProductCoreFactory = std::function<std::unique_ptr<DotProductCore>(
    const std::string& impl, const sched::DotProductShape& shape, const std::string& name)>;

/// DotProductCoreFactory of this library: the model alone.
std::unique_ptr<DotProductCore> make_dot_product_core(const std::string& impl, const sched::DotProductShape& shape,
                                                      const std::string& name);

}  // namespace switchyard::hw
