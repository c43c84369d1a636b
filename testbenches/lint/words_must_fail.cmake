# SPDX-License-Identifier: Apache-2.0
# One old word of each kind in a scratch tree: words.sh has to find each, and nothing in a good tree.
set(violations
  "hw/tile/a.h=/// The doors of a tile."
  "docs/a.md=A hand-over unit of four samples."
  "sw_scheduler/adyna/a.cpp=int lane = 0"
  "platform/a.cpp=const unsigned kMostThings = 3"
  "rtl/router/a.sv=// as many flits as the twin"
  "configs/a.yaml=most_split_k: 3"
  "testbenches/a.cpp=std::string complaint"
  "README.md=the kernels that were picked")

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/hw/tile/a.h "/// At most four sockets, at least one doorbell; SIMD lanes.\n")
execute_process(COMMAND ${WORDS} ${SCRATCH}/good RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "a good tree is refused:\n${output}")
endif()

foreach(pair IN LISTS violations)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${pair}")
  set(file ${CMAKE_MATCH_1})
  file(REMOVE_RECURSE ${SCRATCH}/bad)
  file(WRITE ${SCRATCH}/bad/${file} "first\n${CMAKE_MATCH_2}\n")
  execute_process(COMMAND ${WORDS} ${SCRATCH}/bad RESULT_VARIABLE status OUTPUT_VARIABLE output)
  string(FIND "${output}" "${file}:2:" found)
  if(status EQUAL 0 OR NOT found EQUAL 0)
    message(SEND_ERROR "${file} with \"${CMAKE_MATCH_2}\" is not refused: status ${status}, output \"${output}\"")
  endif()
endforeach()
