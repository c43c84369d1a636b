// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/pe_array/make_pe_array.h"

#include <fmt/format.h>

#include "switchyard/hw/pe_array/cycle_core.h"
#include "switchyard/hw/pe_array/stepped_pe_array.h"
#include "switchyard/rtl/pe_array/lockstep_core.h"
#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::rtl {
namespace {

constexpr unsigned kRegisterBytes = 64;  // pe_array.sv's REGISTER_BYTES

std::unique_ptr<hw::ArrayCore> make_core(const std::string& name, const hw::PeArray::Config& config) {
    if (config.register_bytes != kRegisterBytes)
        throw InputError(fmt::format("pe_array.register_bytes: no RTL of a PE with {}, only with {}",
                                     config.register_bytes, kRegisterBytes));
    const bool fp16 = config.acc == "fp16";
    const auto verilated = [&] { return make_verilated_core(config.rows, config.columns, fp16); };
    if (config.impl == "rtl") {
        auto rtl = verilated();
        rtl->keep_waveform(name + ".rtl.fst");
        return rtl;
    }
    auto model = std::make_unique<hw::CycleCore>(config.rows, config.columns, hw::accumulators_of_a_pe(config), fp16);
    return std::make_unique<LockstepCore>(name, std::move(model), verilated(), config.columns);
}

}  // namespace

std::unique_ptr<hw::PeArray> make_pe_array(const char* name, const hw::PeArray::Config& config,
                                           SimulationRegistry& registry) {
    if (config.impl != "rtl" && config.impl != "lockstep") return hw::make_pe_array(name, config, registry);
    return std::make_unique<hw::SteppedPeArray>(
        name, config, registry, [&config](const std::string& full_name) { return make_core(full_name, config); });
}

}  // namespace switchyard::rtl
