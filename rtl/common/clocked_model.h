// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind a wrapper.
#include <verilated.h>

#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/rtl/common/model_context.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {

/// A Verilated class with a context of its own, which is current whenever the model is constructed, evaluated, ended or
/// destroyed. The one place in which all wrappers do these.
template <class Top>
class ContextModel {
public:
    ContextModel() {
        const ModelContext::Current current(context_);
        top_ = std::make_unique<Top>(context_.get());
    }
    ~ContextModel() {
        const ModelContext::Current current(context_);
        top_->final();
        top_.reset();
    }
    ContextModel(const ContextModel&) = delete;
    ContextModel& operator=(const ContextModel&) = delete;

    Top& top() { return *top_; }
    const Top& top() const { return *top_; }
    ModelContext& context() { return context_; }
    const ModelContext& context() const { return context_; }

    /// Evaluates the pins as they are. Throws RtlFault with the first error of the RTL, once it has one.
    void eval() {
        {
            const ModelContext::Current current(context_);
            top_->eval();
        }
        context_.get()->timeInc(1);
        if (!context_.error().empty()) throw RtlFault(context_.error());
    }

private:
    ModelContext context_;  // outlives the model
    std::unique_ptr<Top> top_;
};

/// A Verilated module in the hand of the wrapper that derives from it: its clock clk_i and its reset rst_ni. A cycle is
/// settle(), where outputs depend on inputs and are to be seen, and clock(). Each throws RtlFault with the first error
/// of the RTL.
template <class Top>
class ClockedModel {
public:
    /// Calls of clock() since the reset.
    std::uint64_t cycles() const { return cycles_; }
    /// As ModelContext::save_coverage().
    void save_coverage(const std::string& file) const { model_.context().save_coverage(file); }

protected:
    /// Resets the module. A wrapper calls it after it has set the inputs that stay as they are.
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

private:
    void edge(bool clock) {
        top_.clk_i = clock;
        model_.eval();
    }

    ContextModel<Top> model_;
    std::uint64_t cycles_ = 0;

protected:
    Top& top_ = model_.top();
};

}  // namespace switchyard::rtl
