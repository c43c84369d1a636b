// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/scheduling_window/make_window_core.h"

#include <Vrtl_scheduling_window_16.h>
#include <Vrtl_scheduling_window_32.h>
#include <Vrtl_scheduling_window_4.h>
#include <Vrtl_scheduling_window_64.h>
#include <stdexcept>

#include "switchyard/rtl/scheduling_window/lockstep_window.h"
#include "switchyard/rtl/scheduling_window/verilated_window.h"

namespace switchyard::rtl {

namespace {

std::unique_ptr<WindowRtl> make_window_rtl(const hw::WindowShape& shape) {
    const std::string message = validation_error(shape);
    if (!message.empty()) throw std::invalid_argument(message);
    switch (shape.slots) {
        case 4:
            return std::make_unique<VerilatedWindow<Vrtl_scheduling_window_4, true>>(shape);
        case 16:
            return std::make_unique<VerilatedWindow<Vrtl_scheduling_window_16, true>>(shape);
        case 32:
            return std::make_unique<VerilatedWindow<Vrtl_scheduling_window_32, true>>(shape);
        case 64:
            return std::make_unique<VerilatedWindow<Vrtl_scheduling_window_64, true>>(shape);
        default:
            throw std::invalid_argument("no RTL scheduling window of " + std::to_string(shape.slots) +
                                        " slots; there is, of 4, 16, 32 and 64");
    }
}

}  // namespace

std::unique_ptr<hw::WindowCore> make_window_core(const std::string& impl, const hw::WindowShape& shape,
                                                 const std::string& module) {
    if (impl == "rtl") {
        auto rtl = make_window_rtl(shape);
        rtl->keep_waveform(module + ".rtl.fst");
        return rtl;
    }
    if (impl == "lockstep") return std::make_unique<LockstepWindow>(shape, module, make_window_rtl(shape));
    return hw::make_window_core(impl, shape, module);
}

}  // namespace switchyard::rtl
