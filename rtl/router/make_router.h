// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/hw/noc/flit/external_router.h"
#include "switchyard/hw/noc/flit/flit_config.h"

namespace switchyard::rtl {

/// rtl/router/router.sv as router number `router` of a network whose routers have `ports` ports. `waveform`: an FST
/// file for its last cycles (ExternalRouter::evidence()), or "". Throws std::invalid_argument if no model was Verilated
/// with such parameters.
std::unique_ptr<hw::flit::ExternalRouter> make_router(const hw::flit::Config& network, unsigned router, unsigned ports,
                                                      const std::string& waveform = "");

}  // namespace switchyard::rtl
