# SPDX-License-Identifier: Apache-2.0
# Mutants of the RTL, patched in by the tests (mutate.py).

# switchyard_mutants(<variable> <block> [SHARED] SOURCES <file.sv>... [ORIGINALS <file.sv>...]): copies of the sources with
# all of their mutants in them, packages first; <variable> has their paths, ORIGINALS stay as they are. The list of mutants
# is MUTANTS_OF_<block>, a path.
function(switchyard_mutants variable block)
  cmake_parse_arguments(ARG "SHARED" "" "SOURCES;ORIGINALS" ${ARGN})
  set(tool ${PROJECT_SOURCE_DIR}/testbenches/cosim/mutation)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mutants)
  set(shared)
  if(ARG_SHARED)
    set(shared --shared)
  endif()
  set(relative_sources)
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND relative_sources ${source})
  endforeach()
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${tool}/mutate.py ${folder} --selected ${tool}/selected.tsv ${shared}
      ${relative_sources}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_SOURCES} ${tool}/mutate.py ${tool}/sv_parser.py
    ${tool}/selected.tsv)
  set(sources)
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(GET source FILENAME name)
    list(APPEND sources ${folder}/${name})
  endforeach()
  set(${variable} ${folder}/mutation_pkg.sv ${ARG_ORIGINALS} ${sources} PARENT_SCOPE)
  set(MUTANTS_OF_${block} ${folder}/mutants.tsv PARENT_SCOPE)
endfunction()

# switchyard_verilate_mutants(<name> <switchyard_verilate options> [PARAMETERS ...]): of such sources. Registers begin with random values, so
# that a missing reset shows.
function(switchyard_verilate_mutants name)
  if(NOT PARAMETERS IN_LIST ARGN)
    list(APPEND ARGN PARAMETERS)
  endif()
  switchyard_verilate(${name} ASSERT ${ARGN} --x-initial unique -Wno-UNOPTFLAT)
endfunction()

# switchyard_mutant_test(<block> SOURCES ... DEPENDS ...): test cosim_<block>_mutants of a sample, and
# cosim_<block>_mutants_long of all mutants. Both as switchyard_ci_test().
function(switchyard_mutant_test block)
  switchyard_ci_test(cosim_${block}_mutants ${ARGN} LABELS cosim mutants)
  target_link_libraries(test_cosim_${block}_mutants PRIVATE switchyard_mutation)
  target_compile_definitions(test_cosim_${block}_mutants PRIVATE MUTANTS="${MUTANTS_OF_${block}}")
  switchyard_ctest(cosim_${block}_mutants_long COMMAND test_cosim_${block}_mutants "[.all-mutants]" LABELS long
    SECONDS 1200)
  set_tests_properties(cosim_${block}_mutants_long PROPERTIES FIXTURES_REQUIRED ci_models)
endfunction()

# switchyard_faulty(<variable> <source> <original> <fault>): a copy of the source with one expression replaced.
function(switchyard_faulty variable source original fault)
  file(READ ${source} text)
  string(FIND "${text}" "${original}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "switchyard_faulty: ${source} has no '${original}'")
  endif()
  string(REPLACE "${original}" "${fault}" text "${text}")
  cmake_path(GET source FILENAME name)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
  string(MD5 folder "${original}${fault}")
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/faulty/${folder}/${name})
  file(CONFIGURE OUTPUT ${copy} CONTENT "`line 1 \"${shown}\" 0\n${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  set(${variable} ${copy} PARENT_SCOPE)
endfunction()
