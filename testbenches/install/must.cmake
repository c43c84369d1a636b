# SPDX-License-Identifier: Apache-2.0
# must(command...): runs it; `output` is what it printed. A failure ends the test.
function(must)
  list(JOIN ARGN " " command)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${command}: status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
