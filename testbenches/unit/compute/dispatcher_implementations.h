// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/testbenches/unit/compute/compute_bench.h"
#ifdef SWITCHYARD_TEST_RTL
#include "switchyard/rtl/dispatcher/make_kernel_dispatcher.h"
#endif

namespace switchyard::testing {

/// The dispatchers that the testbench runs against: those of hw/, or with SWITCHYARD_TEST_RTL those of rtl/.
inline std::vector<std::string> dispatcher_implementations() {
#ifdef SWITCHYARD_TEST_RTL
    return {"rtl", "lockstep"};
#else
    return {"analytic", "walk"};
#endif
}

inline ComputeConfig with_dispatcher(ComputeConfig config, const std::string& impl) {
    config.dispatcher.impl = impl;
#ifdef SWITCHYARD_TEST_RTL
    config.make_dispatcher = &rtl::make_kernel_dispatcher;
#endif
    return config;
}

}  // namespace switchyard::testing
