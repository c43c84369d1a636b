// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/common/model_context.h"

#include <verilated.h>
#include <verilated_cov.h>

#include <fstream>
#include <stdexcept>

namespace switchyard::rtl {

ModelContext::ModelContext() : context_(std::make_unique<VerilatedContext>()) {
    // A failing assertion is for the caller to report, at a place and time that it knows.
    context_->fatalOnError(false);
    VerilatedContext& defaults = *Verilated::defaultContextp();
    if (defaults.randReset() == 0) return;
    context_->randReset(defaults.randReset());
    context_->randSeed(defaults.randSeed());
}

ModelContext::~ModelContext() {
    // Verilator 5.006 unregisters the scopes of a model, when that dies, from the context that this thread evaluated
    // last; that must not be one that is gone.
    if (Verilated::threadContextp() == context_.get()) Verilated::threadContextp(Verilated::defaultContextp());
}

bool ModelContext::assertion_failed() const {
    return context_->gotError();
}

void ModelContext::save_coverage(const std::string& file) const {
    // Verilator itself would end the process.
    if (!std::ofstream(file)) throw std::runtime_error("cannot write coverage to " + file);
    context_->coveragep()->write(file.c_str());
}

}  // namespace switchyard::rtl
