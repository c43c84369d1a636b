// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dispatcher/dispatcher_model.h"

#include <Vrtl_dispatcher.h>

#include "switchyard/rtl/dispatcher/verilated_dispatcher.h"

namespace switchyard::rtl {

const char* state_name(DispatcherState state) {
    switch (state) {
        case DispatcherState::idle:
            return "idle";
        case DispatcherState::search:
            return "search";
        case DispatcherState::fetch:
            return "fetch";
        case DispatcherState::issue:
            return "issue";
        case DispatcherState::send:
            return "send";
        case DispatcherState::load:
            return "load";
        case DispatcherState::result:
            return "result";
    }
    return "?";
}

std::unique_ptr<DispatcherModel> make_dispatcher_model() {
    return std::make_unique<VerilatedDispatcher<Vrtl_dispatcher, true>>();
}

}  // namespace switchyard::rtl
