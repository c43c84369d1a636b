// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

class VerilatedContext;

namespace switchyard::rtl {

/// The simulation context of one Verilated model: its own time, random state, assertions and coverage, so that any
/// number of models live in one process. Outlives the model that was constructed with it. Registers without a reset
/// begin as Verilated::defaultContextp() says: with zeros, unless a test has chosen random values there.
class ModelContext {
public:
    ModelContext();
    ~ModelContext();
    ModelContext(const ModelContext&) = delete;
    ModelContext& operator=(const ModelContext&) = delete;

    VerilatedContext* get() const { return context_.get(); }

    /// True once an assertion of the RTL has failed (its message went to standard output); never true of a model
    /// that was Verilated without ASSERT or COVERAGE.
    bool assertion_failed() const;

    /// Writes the coverage counters collected so far to `file`, for verilator_coverage. Nothing but a header if the
    /// model was Verilated without COVERAGE. Throws std::runtime_error if the file cannot be written.
    void save_coverage(const std::string& file) const;

private:
    std::unique_ptr<VerilatedContext> context_;
};

}  // namespace switchyard::rtl
