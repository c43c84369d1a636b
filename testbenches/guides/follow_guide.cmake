# SPDX-License-Identifier: Apache-2.0
# Follows DOCUMENT from nothing: its files go to a tree of their own, where its commands run. The tree has the project's
# functions, presets and built libraries (tree.cmake.in), so that nothing but the document's files is compiled.
include(${CMAKE_CURRENT_LIST_DIR}/../install/must.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../install/extract_snippets.cmake)

set(prefix ${SCRATCH}/prefix)
set(tree ${SCRATCH}/tree)
string(REPLACE "|" ";" search_path "${SEARCH_PATH}")
string(REPLACE "|" ";" test_main "${TEST_MAIN}")
file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIGURATION} --prefix ${prefix})
extract_snippets(${DOCUMENT} ${tree})
configure_file(${CMAKE_CURRENT_LIST_DIR}/tree.cmake.in ${tree}/CMakeLists.txt @ONLY)
foreach(file .cmake CMakePresets.json)
  file(CREATE_LINK ${SOURCE}/${file} ${tree}/${file} SYMBOLIC)
endforeach()

set(commands ${CMAKE_COMMAND} -E chdir ${tree} ${CMAKE_COMMAND} -E env CXX=${COMPILER}
  CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} sh commands.sh)
must(${commands})
if(NOT output MATCHES "100% tests passed, 0 tests failed out of [1-9]")
  message(FATAL_ERROR "${DOCUMENT}: no test has passed:\n${output}")
endif()

# A document whose code is wrong would fail.
file(READ ${tree}/${FAULT_FILE} text)
string(FIND "${text}" "${FAULT_TEXT}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${DOCUMENT}: ${FAULT_FILE} has no '${FAULT_TEXT}'")
endif()
string(REPLACE "${FAULT_TEXT}" "${FAULT}" text "${text}")
file(WRITE ${tree}/${FAULT_FILE} "${text}")
execute_process(COMMAND ${commands} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "0% tests passed, 1 tests failed out of 1")
  message(FATAL_ERROR "${DOCUMENT}: with '${FAULT}' its test does not fail:\n${output}")
endif()
