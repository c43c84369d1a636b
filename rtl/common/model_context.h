// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/rtl/common/model_messages.h"

class VerilatedContext;

namespace switchyard::rtl {

/// The simulation context of one Verilated model: its own time, random state, assertions and coverage, so that any
/// number of models live in one process. Outlives the model that was constructed with it. Registers without a reset
/// begin as Verilated::defaultContextp() says: with zeros, unless a test has chosen random values there.
///
/// Verilator takes time, errors and scopes from the context of the thread, whichever model runs. So whatever
/// constructs, evaluates, ends or destroys a model has an object of class Current meanwhile. ClockedModel does that for
/// all wrappers.
class ModelContext {
public:
    /// Makes a context that of this thread, and its messages those that are received, as long as it lives. Leaves both
    /// as they were.
    class Current {
    public:
        explicit Current(ModelContext& context);
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        VerilatedContext* context_before_;
        ModelMessages* messages_before_;
    };

    ModelContext();
    ~ModelContext();
    ModelContext(const ModelContext&) = delete;
    ModelContext& operator=(const ModelContext&) = delete;

    VerilatedContext* get() const { return context_.get(); }

    /// The first assertion of the RTL that failed, or its first $error, $stop or $finish; "" if none. Never an
    /// assertion of a model that was Verilated without ASSERT or COVERAGE.
    const std::string& error() const { return messages_.error(); }

    /// Writes the coverage counters collected so far to `file`, for verilator_coverage. Nothing but a header if the
    /// model was Verilated without COVERAGE. Throws std::runtime_error if the file cannot be written.
    void save_coverage(const std::string& file) const;

private:
    std::unique_ptr<VerilatedContext> context_;
    ModelMessages messages_;
};

}  // namespace switchyard::rtl
