# SPDX-License-Identifier: Apache-2.0
# One include that breaks each rule of layering.sh in a scratch tree: each has to be found.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

set(violations
  "sw_scheduler/base/a.h=\"switchyard/sw_scheduler/workload/graph.h\""
  "sw_scheduler/workload/a.h=\"switchyard/sw_scheduler/adyna/image/kernel.h\""
  "sw_scheduler/adyna/image/a.h=\"switchyard/sw_scheduler/adyna/compiler/stage.h\""
  "sw_scheduler/adyna/rules/a.h=\"switchyard/sw_scheduler/adyna/compiler/stage.h\""
  "sw_scheduler/workload/a.h=\"switchyard/tlm/a.h\""
  "sw_scheduler/workload/a.cpp=<systemc>"
  "sw_scheduler/ace/a.h=\"switchyard/sw_scheduler/adyna/image/kernel.h\""
  "hw/scheduling_window/a.h=\"switchyard/sw_scheduler/ace/dependence.h\""
  "tlm/a.h=\"switchyard/hw/tile/tile.h\""
  "tlm/a.h=\"switchyard/sw_scheduler/workload/graph.h\""
  "hw/tile/a.h=\"switchyard/hw/noc/router.h\""
  "hw/tile/a.h=\"switchyard/platform/a.h\""
  "hw/tile/a.cpp=\"switchyard/sw_scheduler/workload/graph.h\""
  "hw/tile/a.cpp=\"tile.h\""
  "rtl/dispatcher/a.h=\"switchyard/hw/noc/router.h\""
  "rtl/router/a.h=\"switchyard/rtl/dispatcher/dispatcher.h\""
  "hw/noc/a.h=\"switchyard/rtl/noc/a.h\""
  "hw/noc/a.h=\"switchyard/hw/messages/adyna_message.h\""
  "hw/memory/a.cpp=\"switchyard/hw/messages/tile_protocol.h\""
  "tlm/a.h=\"switchyard/sw_scheduler/adyna/image/kernel.h\""
  "tlm/a.h=\"switchyard/hw/messages/tile_protocol.h\""
  "rtl/router/a.h=\"switchyard/hw/messages/adyna_message.h\""
  "platform/a.cpp=\"switchyard/testbenches/catch.h\""
  "platform/chip/a.cpp=\"switchyard/platform/experiment/chart.h\""
  "platform/chip/a.cpp=\"switchyard/platform/driver/switchyard_driver.h\""
  "platform/systems/adyna/a.cpp=\"switchyard/platform/apps/command_line.h\""
  "platform/systems/adyna/a.cpp=\"switchyard/platform/experiment/chart.h\""
  "platform/systems/adyna/a.cpp=\"switchyard/platform/systems/m_tenant/m_tenant.h\""
  "platform/experiment/a.cpp=\"switchyard/platform/systems/adyna/report.h\""
  "platform/experiment/a.cpp=\"switchyard/platform/chip/platform_config.h\""
  "platform/experiment/a.cpp=\"switchyard/sw_scheduler/adyna/image/image.h\""
  "platform/system/a.h=\"switchyard/sw_scheduler/adyna/image/image.h\""
  "platform/system/a.h=\"switchyard/platform/chip/chip.h\"")

file(WRITE ${SCRATCH}/good/hw/tile/a.h "#include <systemc>\n#include \"switchyard/hw/tile/b.h\"\n"
  "#include \"switchyard/hw/numerics/fp16.h\"\n#include \"switchyard/tlm/a.h\"\n#include \"switchyard/sw_scheduler/adyna/image/kernel.h\"\n")
file(WRITE ${SCRATCH}/good/hw/host/a.h "#include \"switchyard/hw/messages/adyna_message.h\"\n")
file(WRITE ${SCRATCH}/good/hw/noc/a.h "#include \"switchyard/tlm/packet.h\"\n")
file(WRITE ${SCRATCH}/good/rtl/tile/a.h "#include <verilated.h>\n#include \"switchyard/hw/tile/a.h\"\n"
  "#include \"switchyard/rtl/common/a.h\"\n#include \"switchyard/hw/numerics/fp16.h\"\n")
list(TRANSFORM violations REPLACE "^([^=]*)=(.*)$" "\\1=#include \\2")
check_planted_faults(${LAYERING} ${SCRATCH} "#pragma once" ${violations})
