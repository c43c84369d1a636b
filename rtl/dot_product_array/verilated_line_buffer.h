// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind LineBufferCore: the library's, and those of the tests.
#include <string>

#include "switchyard/hw/dot_product_array/line_buffer.h"
#include "switchyard/rtl/common/pins.h"
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {

/// A LineBufferCore of which there is a waveform.
class LineBufferRtl : public hw::LineBufferCore {
public:
    /// As RecordedModel. evidence() writes the waveform.
    virtual void keep_waveform(const std::string& file) = 0;
};

struct LineBufferPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.valid_i);
        visit(top.first_i);
        visit(top.pixel_i);
        visit(top.width_i);
        visit(top.rows_i);
        visit(top.centre_i);
        visit(top.fill_i);
        visit(top.stride_i);
        visit(top.zero_i);
    }
};

/// rtl/dot_product_array/line_buffer.sv. `Top`: the Verilated class, with TRACE if `Traced`. Rows are at most
/// `max_width` pixels wide.
template <class Top, bool Traced>
class VerilatedLineBuffer : public LineBufferRtl, private RecordedModel<Top, LineBufferPins, Traced> {
    using Model = RecordedModel<Top, LineBufferPins, Traced>;

public:
    explicit VerilatedLineBuffer(std::uint32_t max_width) : max_width_(max_width) {
        this->top_.valid_i = 0;
        this->top_.width_i = 1;
        this->top_.stride_i = 1;
        this->reset();
    }

    void begin(const hw::LineBufferPass& pass) override {
        if (pass.width > max_width_)
            throw RtlFault("the line buffer has rows of " + std::to_string(max_width_) + " pixels, the layer of " +
                           std::to_string(pass.width));
        side_ = pass.side;
        Top& top = this->top_;
        top.width_i = pass.width;
        top.rows_i = pass.rows;
        top.centre_i = pass.centre;
        top.fill_i = pass.fill;
        top.stride_i = static_cast<std::uint8_t>(pass.stride);
        top.zero_i = static_cast<std::uint8_t>(pass.zero);
        first_ = true;
    }

    bool step(std::int8_t pixel, std::int8_t* window) override {
        Top& top = this->top_;
        top.valid_i = 1;
        top.first_i = first_;
        top.pixel_i = static_cast<std::uint8_t>(pixel);
        first_ = false;
        Model::settle();
        const bool valid = top.valid_o != 0;
        for (unsigned tap = 0; valid && tap < side_ * side_; ++tap)
            window[tap] = static_cast<std::int8_t>(bits_of(top.window_o, 8 * tap, 8));
        Model::clock();
        return valid;
    }
    /// A cycle without a pixel, in which nothing may leave.
    bool idle() {
        this->top_.valid_i = 0;
        Model::settle();
        const bool valid = this->top_.valid_o != 0;
        Model::clock();
        return valid;
    }
    void keep_waveform(const std::string& file) override { Model::keep_waveform(file); }
    std::string evidence() override { return Model::evidence(); }
    void save_coverage(const std::string& file) const { Model::save_coverage(file); }

private:
    std::uint32_t max_width_, side_ = 3;
    bool first_ = true;
};

}  // namespace switchyard::rtl
