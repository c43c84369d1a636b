// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/pe_array/lockstep_core.h"

#include <fstream>

#include <fmt/format.h>

namespace switchyard::rtl {

LockstepCore::LockstepCore(std::string name, std::unique_ptr<hw::ArrayCore> model, std::unique_ptr<VerilatedCore> rtl,
                           std::unique_ptr<VerilatedCore> follower, unsigned columns)
    : name_(std::move(name)),
      model_(std::move(model)),
      rtl_(std::move(rtl)),
      follower_(std::move(follower)),
      rtl_out_(columns),
      follower_out_(columns) {}

void LockstepCore::step(const hw::ArrayInput& in, hw::ArrayOutput& out) {
    window_.push_back(in);
    window_.back().has_values = true;  // the RTL always multiplies
    model_->step(window_.back(), out);
    rtl_->step(in, rtl_out_);
    if (const std::string how = difference(out); !how.empty()) differ(how);
    if (window_.size() == kWindowCycles) {
        follower_->step(window_.front(), follower_out_);
        window_.pop_front();
    }
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
    const std::string states = name_ + ".lockstep.txt", waves = name_ + ".lockstep.fst";
    std::ofstream(states) << fmt::format("cycle {} of the array, {}\n\nmodel\n{}\nRTL\n{}", cycle_, how,
                                         to_text(model_->state()), to_text(rtl_->state()));
    follower_->trace(waves);
    for (const hw::ArrayInput& in : window_) follower_->step(in, follower_out_);
    const std::size_t cycles = window_.size();
    follower_.reset();  // closes the file
    throw RtlFault(
        fmt::format("model and RTL differ in cycle {} of the array, {}; states in {}, the last {} cycles in {}", cycle_,
                    how, states, cycles, waves));
}

}  // namespace switchyard::rtl
