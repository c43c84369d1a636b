# SPDX-License-Identifier: Apache-2.0
# One include that breaks each rule of layering.sh in a scratch tree: each has to be found.
set(violations
  "sw_scheduler/base/a.h=\"switchyard/sw_scheduler/workload/graph.h\""
  "sw_scheduler/workload/a.h=\"switchyard/sw_scheduler/adyna/image/kernel.h\""
  "sw_scheduler/adyna/image/a.h=\"switchyard/sw_scheduler/adyna/compiler/stage.h\""
  "sw_scheduler/workload/a.h=\"switchyard/tlm/a.h\""
  "sw_scheduler/workload/a.cpp=<systemc>"
  "tlm/a.h=\"switchyard/hw/tile/tile.h\""
  "tlm/a.h=\"switchyard/sw_scheduler/workload/graph.h\""
  "hw/tile/a.h=\"switchyard/hw/noc/router.h\""
  "hw/tile/a.h=\"switchyard/platform/a.h\""
  "hw/tile/a.cpp=\"switchyard/sw_scheduler/workload/graph.h\""
  "hw/tile/a.cpp=\"tile.h\""
  "rtl/dispatcher/a.h=\"switchyard/hw/noc/router.h\""
  "rtl/router/a.h=\"switchyard/rtl/dispatcher/dispatcher.h\""
  "hw/noc/a.h=\"switchyard/rtl/noc/a.h\""
  "platform/a.cpp=\"switchyard/testbenches/catch.h\""
  "platform/a.cpp=\"switchyard/platform/experiment/chart.h\""
  "platform/stages/a.cpp=\"switchyard/platform/apps/command_line.h\""
  "platform/system/a.h=\"switchyard/platform/chip.h\"")

file(WRITE ${SCRATCH}/good/hw/tile/a.h "#include <systemc>\n#include \"switchyard/hw/tile/b.h\"\n"
  "#include \"switchyard/hw/numerics/fp16.h\"\n#include \"switchyard/tlm/a.h\"\n#include \"switchyard/sw_scheduler/adyna/image/kernel.h\"\n")
file(WRITE ${SCRATCH}/good/rtl/tile/a.h "#include <verilated.h>\n#include \"switchyard/hw/tile/a.h\"\n"
  "#include \"switchyard/rtl/common/a.h\"\n#include \"switchyard/hw/numerics/fp16.h\"\n")
execute_process(COMMAND ${LAYERING} ${SCRATCH}/good RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "a good tree is refused:\n${output}")
endif()

foreach(pair IN LISTS violations)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${pair}")
  set(file ${CMAKE_MATCH_1})
  set(include ${CMAKE_MATCH_2})
  file(REMOVE_RECURSE ${SCRATCH}/bad)
  file(WRITE ${SCRATCH}/bad/${file} "#pragma once\n#include ${include}\n")
  execute_process(COMMAND ${LAYERING} ${SCRATCH}/bad RESULT_VARIABLE status OUTPUT_VARIABLE output)
  string(FIND "${output}" "${file}:2: " found)
  if(status EQUAL 0 OR NOT found EQUAL 0)
    message(SEND_ERROR "${file} including ${include} is not refused: status ${status}, output \"${output}\"")
  endif()
endforeach()
