// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "switchyard/testbenches/cosim/dispatcher/pin_bench.h"

namespace switchyard::testing {

/// Directed and constrained-random commands to a dispatcher, every port stalled at random, each answer compared with
/// the models'. Returns "" or the first difference, with the seed that replays it.
/// `inspect`: called with the model at the end (coverage). `brief`: only the first commands behind a reset.
std::string dispatcher_regression(std::unique_ptr<rtl::DispatcherModel> model, FunctionalCoverage& coverage,
                                  unsigned seed, const std::function<void(rtl::DispatcherModel&)>& inspect = {},
                                  bool brief = false);

}  // namespace switchyard::testing
