// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind DotProductCore: the library's, and those of the tests, which
// have mutants.
#include <string>

#include "switchyard/hw/dot_product_array/dot_product_core.h"
#include "switchyard/rtl/common/pins.h"
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {

/// A DotProductCore of which there is a waveform.
class DotProductRtl : public hw::DotProductCore {
public:
    /// As RecordedModel. evidence() writes the waveform.
    virtual void keep_waveform(const std::string& file) = 0;
};

struct DotProductPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.kind_i);
        visit(top.row_i);
        visit(top.bytes_i);
    }
};

/// rtl/dot_product_array/dot_product_array.sv. `Top`: the Verilated class, with TRACE if `Traced`.
template <class Top, bool Traced>
class VerilatedDotProduct : public DotProductRtl, private RecordedModel<Top, DotProductPins, Traced> {
    using Model = RecordedModel<Top, DotProductPins, Traced>;

public:
    explicit VerilatedDotProduct(const sched::DotProductShape& shape) : rows_(shape.rows) {
        this->top_.kind_i = 0;
        this->reset();
    }

    void step(const hw::DotProductInput& in, hw::DotProductOutput& out) override {
        Top& top = this->top_;
        top.kind_i = static_cast<std::uint8_t>(in.kind);
        top.row_i = static_cast<std::uint8_t>(in.row);
        write_bytes(top.bytes_i, reinterpret_cast<const std::uint8_t*>(in.bytes.data()), in.bytes.size());
        Model::settle();
        for (unsigned row = 0; row < rows_; ++row) {
            out.valid[row] = bits_of(top.valid_o, row, 1) != 0;
            out.sums[row] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits_of(top.sums_o, 32 * row, 32)));
        }
        Model::clock();
    }
    void keep_waveform(const std::string& file) override { Model::keep_waveform(file); }
    std::string evidence() override { return Model::evidence(); }
    void save_coverage(const std::string& file) const { Model::save_coverage(file); }

private:
    unsigned rows_;
};

}  // namespace switchyard::rtl
