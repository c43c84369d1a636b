// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind a wrapper.
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/rtl/common/model_context.h"

namespace switchyard::rtl {

/// A Verilated module in the hand of the wrapper that derives from it: its clock clk_i, its reset rst_ni and a waveform
/// of all that it does. A cycle is settle(), where outputs depend on inputs and are to be seen, and clock().
///
/// `Top`: the Verilated class, built with TRACE if `Traced`.
template <class Top, bool Traced>
class ClockedModel {
public:
    /// Calls of clock() since the reset.
    std::uint64_t cycles() const { return cycles_; }
    bool assertion_failed() const { return context_.assertion_failed(); }
    /// As ModelContext::save_coverage().
    void save_coverage(const std::string& file) const { context_.save_coverage(file); }

protected:
    ClockedModel() : top_(context_.get()) {
        if constexpr (Traced) context_.get()->traceEverOn(true);
    }
    ~ClockedModel() {
        close_trace();
        trace_.reset();  // before what it traces
        top_.final();
    }

    /// Not in the constructor: inputs that stay as they are, and a waveform, are there before.
    void reset() {
        top_.rst_ni = 0;
        edge(false);
        edge(true);
        top_.rst_ni = 1;
        edge(false);
    }
    void settle() { edge(false); }
    void clock() {
        edge(true);
        ++cycles_;
    }
    /// An FST file for the cycles to come, complete after close_trace(); none if not `Traced`. Again for another file.
    void open_trace(const std::string& file) {
        if constexpr (Traced) {
            if (!trace_) {
                trace_ = std::make_unique<VerilatedFstC>();
                top_.trace(trace_.get(), 99);
            }
            trace_->open(file.c_str());
        }
    }
    void close_trace() {
        if constexpr (Traced) {
            if (trace_) trace_->close();
        }
    }

private:
    void edge(bool clock) {
        top_.clk_i = clock;
        top_.eval();
        context_.get()->timeInc(1);
        if constexpr (Traced) {
            if (trace_ && trace_->isOpen()) trace_->dump(context_.get()->time());
        }
    }

    ModelContext context_;  // outlives the model
    std::unique_ptr<VerilatedFstC> trace_;
    std::uint64_t cycles_ = 0;

protected:
    Top top_;
};

}  // namespace switchyard::rtl
