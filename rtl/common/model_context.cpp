// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/common/model_context.h"

#include <verilated.h>
#include <verilated_cov.h>

#include <fstream>
#include <stdexcept>

namespace switchyard::rtl {
namespace {

/// A context that does not become that of the thread, as Verilator's constructor makes it.
std::unique_ptr<VerilatedContext> make_context() {
    VerilatedContext* const before = Verilated::threadContextp();
    auto context = std::make_unique<VerilatedContext>();
    Verilated::threadContextp(before);
    return context;
}

}  // namespace

ModelContext::Current::Current(ModelContext& context)
    : context_before_(Verilated::threadContextp()), messages_before_(ModelMessages::receive(&context.messages_)) {
    Verilated::threadContextp(context.get());
}

ModelContext::Current::~Current() {
    Verilated::threadContextp(context_before_);
    ModelMessages::receive(messages_before_);
}

ModelContext::ModelContext() : context_(make_context()) {
    // A failing assertion is for the caller to report, at a place and time that it knows.
    context_->fatalOnError(false);
    VerilatedContext& defaults = *Verilated::defaultContextp();
    if (defaults.randReset() == 0) return;
    context_->randReset(defaults.randReset());
    context_->randSeed(defaults.randSeed());
}

ModelContext::~ModelContext() = default;

void ModelContext::save_coverage(const std::string& file) const {
    // Verilator itself would end the process.
    if (!std::ofstream(file)) throw std::runtime_error("cannot write coverage to " + file);
    context_->coveragep()->write(file.c_str());
}

}  // namespace switchyard::rtl
