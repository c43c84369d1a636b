#pragma once

// Only for the sources that put Verilated classes behind these wrappers.
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "switchyard/rtl/common/model_context.h"

namespace switchyard::rtl {

/// Whether a port waits in this cycle.
using Stall = std::function<bool()>;
inline bool never_stall() {
    return false;
}

/// A Verilated block with its clock, out of reset when constructed. Outputs may depend on inputs: settle() shows them.
/// `Traced`: built with TRACE.
template <class Top, bool Traced>
class ClockedBlock {
public:
    /// `waveform`: an FST file for all that it does, or "".
    explicit ClockedBlock(const std::string& waveform) : top_(context_.get()) {
        if constexpr (Traced) {
            if (!waveform.empty()) {
                context_.get()->traceEverOn(true);
                trace_ = std::make_unique<VerilatedFstC>();
                top_.trace(trace_.get(), 99);
                trace_->open(waveform.c_str());
            }
        }
        top_.rst_ni = 0;
        edge(false);
        edge(true);
        top_.rst_ni = 1;
        edge(false);
    }
    ~ClockedBlock() {
        if (trace_) trace_->close();
        trace_.reset();  // before what it traces
        top_.final();
    }
    /// The last call got all that belongs to what it was given.
    bool finished() const { return finished_; }
    std::uint64_t cycles() const { return cycles_; }
    bool assertion_failed() const { return context_.assertion_failed(); }
    void save_coverage(const std::string& file) const { context_.save_coverage(file); }

protected:
    void settle() { edge(false); }
    void clock() {
        edge(true);
        ++cycles_;
    }

private:
    ModelContext context_;  // outlives the model
    std::unique_ptr<VerilatedFstC> trace_;
    std::uint64_t cycles_ = 0;

protected:
    bool finished_ = true;
    Top top_;

private:
    void edge(bool clock) {
        top_.clk_i = clock;
        top_.eval();
        context_.get()->timeInc(1);
        if constexpr (Traced) {
            if (trace_) trace_->dump(context_.get()->time());
        }
    }
};

}  // namespace switchyard::rtl
