# SPDX-License-Identifier: Apache-2.0
# Runs each hidden [must-fail] test of TEST by itself: each has to fail, and to say why.
set(expected
  "assertion in a child=answer == 42"
  "assertion in a child=with expansion: 41 == 42"
  "assertion in a child=an info"
  "assertion in a child=printed by cout"
  "assertion in a child=printed by printf"
  "assertion in a child=assertions: 2 | 1 passed | 1 failed"
  "assertion in an SC_THREAD=with expansion: 0 s > 0 s"
  "unexpected warning=nobody expects it"
  "unexpected error=nobody expects it"
  "expected report is missing=harness/missing"
  "exception=thrown by the body"
  "crash=SIGABRT"
  "exit=left with status 0"
  "generator in a child=GENERATE or more than one SECTION"
  "no assertion of two sections is lost=GENERATE or more than one SECTION"
  "second child of a loop=i == 0"
  "exception in in_child=thrown by the body")

foreach(pair IN LISTS expected)
  string(FIND "${pair}" "=" cut)
  string(SUBSTRING "${pair}" 0 ${cut} name)
  math(EXPR cut "${cut} + 1")
  string(SUBSTRING "${pair}" ${cut} -1 text)
  execute_process(COMMAND ${TEST} "fails: ${name}" RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # Catch wraps long lines, where depends on the length of the paths in them.
  string(REGEX REPLACE "[ \n]+" " " unwrapped "${output}")
  string(FIND "${unwrapped}" "${text}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(SEND_ERROR "\"fails: ${name}\": status ${status}, expected a failure with \"${text}\" in\n${output}")
  endif()
endforeach()
