# SPDX-License-Identifier: Apache-2.0
# merge_coverage.sh on coverage made up by hand: good data pass, each kind of gap is found.
string(ASCII 1 separator)
string(ASCII 2 equals)

# record(<variable> <file> <line> <page> <name> <hits>) appends a record in Verilator's format.
function(record variable file line page name hits)
  set(fields f${equals}${SCRATCH}/${file} l${equals}${line} n${equals}1 page${equals}${page}/m o${equals}${name} hTOP.m)
  list(TRANSFORM fields PREPEND ${separator})
  list(JOIN fields "" fields)
  set(${variable} "${${variable}}C '${fields}' ${hits}\n" PARENT_SCOPE)
endfunction()

function(merge expected_status expected_text data points)
  file(REMOVE_RECURSE ${SCRATCH}/coverage)
  file(WRITE ${SCRATCH}/coverage/test.dat "# SystemC::Coverage-3\n${data}")
  file(WRITE ${SCRATCH}/coverage/test.points "${points}")
  execute_process(COMMAND ${MERGE} ${SCRATCH} ${SCRATCH}/coverage
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${expected_text}" found)
  if(NOT status EQUAL expected_status OR found EQUAL -1)
    message(SEND_ERROR "expected status ${expected_status} and \"${expected_text}\", got ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/rtl/block/m.sv "module m;\nendmodule\n")
set(point "block\ttest: a point\t")

set(lines "")
set(toggles "")
foreach(i RANGE 1 50)
  record(lines rtl/block/m.sv ${i} v_line block 3)
  record(toggles rtl/block/m.sv ${i} v_toggle signal 3)
endforeach()
merge(0 "100.00 %" "${lines}${toggles}" "${point}1\n")

# One line of 51 may be missed, two not; five toggles of 55, six not.
record(lines rtl/block/m.sv 60 v_branch if 0)
merge(0 "98.04 %" "${lines}${toggles}" "${point}1\n")
foreach(i RANGE 60 64)
  record(toggles rtl/block/m.sv ${i} v_toggle signal 0)
endforeach()
merge(0 "90.91 %" "${lines}${toggles}" "${point}1\n")
set(few_lines "${lines}")
record(few_lines rtl/block/m.sv 61 v_branch if 0)
merge(1 "FAIL block: lines below 98 %" "${few_lines}${toggles}" "${point}1\n")
set(few_toggles "${toggles}")
record(few_toggles rtl/block/m.sv 65 v_toggle signal 0)
merge(1 "FAIL block: toggles below 90 %" "${lines}${few_toggles}" "${point}1\n")

# What one instance or test misses, another may cover.
record(few_lines rtl/block/m.sv 61 v_branch if 1)
merge(0 "98.08 %" "${few_lines}${toggles}" "${point}0\n${point}2\n")

merge(1 "FAIL block: not reached: test: a point" "${lines}${toggles}" "${point}0\n")
file(WRITE ${SCRATCH}/rtl/block/n.sv "module n;\nendmodule\n")
merge(1 "FAIL rtl/block/n.sv was not simulated" "${lines}${toggles}" "${point}1\n")
