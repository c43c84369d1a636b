// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/pe_array/lockstep_core.h"

#include <fstream>

#include <fmt/format.h>

namespace switchyard::rtl {

LockstepCore::LockstepCore(std::string name, std::unique_ptr<hw::ArrayCore> model, std::unique_ptr<VerilatedCore> rtl,
                           unsigned columns)
    : name_(std::move(name)), model_(std::move(model)), rtl_(std::move(rtl)), rtl_out_(columns) {
    rtl_->keep_waveform(name_ + ".lockstep.fst");
}

void LockstepCore::step(const hw::ArrayInput& in, hw::ArrayOutput& out) {
    if (in.has_values) {
        model_->step(in, out);
    } else {
        hw::ArrayInput multiplied = in;
        multiplied.has_values = true;  // the RTL always multiplies
        model_->step(multiplied, out);
    }
    rtl_->step(in, rtl_out_);
    if (const std::string how = difference(out); !how.empty()) differ(how);
    ++cycle_;
}

std::string LockstepCore::difference(const hw::ArrayOutput& model) const {
    const auto differing = [](const std::string& port, std::uint32_t model_value, std::uint32_t rtl_value) {
        return fmt::format("{}: model {:#x}, RTL {:#x}", port, model_value, rtl_value);
    };
    if (model.in_ready != rtl_out_.in_ready) return differing("in_ready", model.in_ready, rtl_out_.in_ready);
    if (model.out_valid != rtl_out_.out_valid) return differing("out_valid", model.out_valid, rtl_out_.out_valid);
    for (std::size_t j = 0; j < model.lanes.size(); ++j) {
        if (model.lane_valid[j] != rtl_out_.lane_valid[j])
            return differing(fmt::format("lane_valid[{}]", j), model.lane_valid[j], rtl_out_.lane_valid[j]);
        if (model.lane_valid[j] != 0 && model.lanes[j] != rtl_out_.lanes[j])
            return differing(fmt::format("lane[{}]", j), model.lanes[j], rtl_out_.lanes[j]);
    }
    return "";
}

void LockstepCore::differ(const std::string& how) {
    const std::string states = name_ + ".lockstep.txt";
    std::ofstream(states) << fmt::format("cycle {} of the array, {}\n\nmodel\n{}\nRTL\n{}", cycle_, how,
                                         to_text(model_->state()), to_text(rtl_->state()));
    throw RtlFault(fmt::format("lockstep: cycle {} of the array: {}; states: {}{}", cycle_, how, states, evidence()));
}

}  // namespace switchyard::rtl
