// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind DotProductCore: the library's, and those of the tests, which
// have mutants.
#include <string>

#include "switchyard/hw/dot_product_array/dot_product_core.h"
#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/rtl/common/pins.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {

/// A DotProductCore of which waveforms can be had.
class DotProductRtl : public hw::DotProductCore {
public:
    /// An FST file for the cycles to come; complete after close_waveform().
    virtual void open_waveform(const std::string& file) = 0;
    virtual void close_waveform() = 0;
};

/// rtl/dot_product_array/dot_product_array.sv. `Top`: the Verilated class, with TRACE if `Traced`.
template <class Top, bool Traced>
class VerilatedDotProduct : public DotProductRtl, private ClockedModel<Top, Traced> {
    using Model = ClockedModel<Top, Traced>;

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
        if (Model::assertion_failed()) throw RtlFault("an assertion of the RTL failed");
    }
    void open_waveform(const std::string& file) override { this->open_trace(file); }
    void close_waveform() override { this->close_trace(); }
    void save_coverage(const std::string& file) const { Model::save_coverage(file); }

private:
    unsigned rows_;
};

}  // namespace switchyard::rtl
