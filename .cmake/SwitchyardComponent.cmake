# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)

# Headers are included as "switchyard/<folder>/<file>.h", in the tree and when installed: a plain "tlm/..."
# would collide with SystemC's own <tlm>.
set(SWITCHYARD_INCLUDE_ROOT ${PROJECT_BINARY_DIR}/include)
if(IS_SYMLINK ${SWITCHYARD_INCLUDE_ROOT}/switchyard)
  file(REMOVE ${SWITCHYARD_INCLUDE_ROOT}/switchyard)  # as older build folders have it
endif()
file(MAKE_DIRECTORY ${SWITCHYARD_INCLUDE_ROOT}/switchyard)
foreach(folder sw_scheduler tlm hw rtl platform testbenches)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${SWITCHYARD_INCLUDE_ROOT}/switchyard/${folder} SYMBOLIC)
endforeach()
# The target that integrators link has the shortest name.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/platform/systems/adyna/accelerator.h ${SWITCHYARD_INCLUDE_ROOT}/switchyard/accelerator.h SYMBOLIC)

# Headers that sy-regs makes in the build, found under the same names as those of the tree.
set(SWITCHYARD_GENERATED_ROOT ${PROJECT_BINARY_DIR}/generated)

# Everything that is made before the first source is compiled: what clang-tidy needs beside the sources.
add_custom_target(switchyard_made_headers)

# switchyard_cold(<target>...): they read, compose and report: neither simulated time passes in them nor a search. -O3 takes
# twice as long to compile as -Og, and profiles of whole runs do not show them.
function(switchyard_cold)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
    set_target_properties(${target} PROPERTIES SWITCHYARD_COLD ON)
  endforeach()
endfunction()

# switchyard_library(<name> [COLD] [SOURCES ...] [DEPENDS ...] [SOURCES_DEPEND ...] [PRECOMPILED <kind>]): library
# Switchyard::<name>, shared if BUILD_SHARED_LIBS says so. COLD: as switchyard_cold(). PRECOMPILED: as for
# switchyard_precompile(). SOURCES_DEPEND: headers alone, which no header of ours includes; who links it need not have them.
function(switchyard_library name)
  cmake_parse_arguments(ARG "COLD" "PRECOMPILED" "SOURCES;DEPENDS;SOURCES_DEPEND" ${ARGN})
  add_library(switchyard_${name} ${ARG_SOURCES})
  add_library(Switchyard::${name} ALIAS switchyard_${name})
  set_target_properties(switchyard_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(switchyard_${name} PUBLIC cxx_std_17)
  target_include_directories(switchyard_${name} PUBLIC
    $<BUILD_INTERFACE:${SWITCHYARD_INCLUDE_ROOT}> $<BUILD_INTERFACE:${SWITCHYARD_GENERATED_ROOT}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_SOURCES_DEPEND REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(switchyard_${name} PUBLIC ${ARG_DEPENDS}
    PRIVATE ${ARG_SOURCES_DEPEND} $<BUILD_INTERFACE:switchyard_build_flags>)
  set_property(GLOBAL APPEND PROPERTY SWITCHYARD_LIBRARIES switchyard_${name})
  if(ARG_COLD)
    switchyard_cold(switchyard_${name})
  endif()
  if(ARG_PRECOMPILED)
    switchyard_precompile(switchyard_${name} ${ARG_PRECOMPILED})
  endif()
endfunction()

# switchyard_interface(<name>): Switchyard::<name>, which has no sources: whoever links it gets what it links.
function(switchyard_interface name)
  add_library(switchyard_${name} INTERFACE)
  add_library(Switchyard::${name} ALIAS switchyard_${name})
  set_target_properties(switchyard_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY SWITCHYARD_INTERFACES switchyard_${name})
endfunction()

# switchyard_component(<name> [FOLDER <folder>] SOURCES ... [DEPENDS ...]): library Switchyard::<name> from a folder of hw/,
# which has its name unless FOLDER says otherwise; Switchyard::hw links it as well.
function(switchyard_component name)
  cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}/)
  switchyard_library(${name} SOURCES ${ARG_SOURCES} DEPENDS Switchyard::tlm ${ARG_DEPENDS} PRECOMPILED models)
  target_link_libraries(switchyard_hw INTERFACE switchyard_${name})
  set_property(GLOBAL APPEND PROPERTY SWITCHYARD_PARTS ${name})
endfunction()

# switchyard_system(<name> [OF_SYSTEMS] SOURCES ... [DEPENDS ...]): library Switchyard::<name> from the folder of this
# name, registered with the programs: it defines std::unique_ptr<System> switchyard::platform::make_<name>_system().
# OF_SYSTEMS: that takes a SystemRegistry of the others, of which its devices are. It is COLD, as switchyard_library(): the
# time of a run passes in the components that it composes.
function(switchyard_system name)
  cmake_parse_arguments(ARG "OF_SYSTEMS" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${name}/)
  switchyard_library(${name} COLD SOURCES ${ARG_SOURCES} DEPENDS Switchyard::system ${ARG_DEPENDS} PRECOMPILED models)
  if(ARG_OF_SYSTEMS)
    set_property(GLOBAL APPEND PROPERTY SWITCHYARD_SYSTEMS_OF_SYSTEMS ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY SWITCHYARD_SYSTEMS ${name})
  endif()
endfunction()

# switchyard_program(<name> SOURCES ... [DEPENDS ...]): a command-line program, built in bin/ and installed.
function(switchyard_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} switchyard_build_flags)
  set_property(GLOBAL APPEND PROPERTY SWITCHYARD_PROGRAMS ${name})
endfunction()

# A test is a hang after ten times what it takes on a free core; unoptimised and instrumented builds take longer.
set(SWITCHYARD_TEST_LIMIT_FACTOR 10)
if(SWITCHYARD_SANITIZE OR SWITCHYARD_COVERAGE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(SWITCHYARD_TEST_LIMIT_FACTOR 60)
endif()

# switchyard_ctest(<name> COMMAND ... [LABELS ...] [SECONDS <n>] [WORKING_DIRECTORY <folder>]): every ctest of the tree, so
# that none is without a limit. SECONDS: what it takes on a free core where that is more than a minute; ctest starts such
# tests first.
function(switchyard_ctest name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SECONDS;WORKING_DIRECTORY" "COMMAND;LABELS")
  set(cost "")
  if(ARG_SECONDS)
    set(cost COST ${ARG_SECONDS})
  else()
    set(ARG_SECONDS 60)
  endif()
  if(NOT ARG_WORKING_DIRECTORY)
    set(ARG_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  math(EXPR limit "${ARG_SECONDS} * ${SWITCHYARD_TEST_LIMIT_FACTOR}")
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${ARG_WORKING_DIRECTORY})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${limit} ${cost})
endfunction()

# switchyard_test(<name> SOURCES ... [DEPENDS ...] [LABELS ...] [SECONDS <n>] [BY_SOURCE]): one Catch2 executable, one ctest.
# The target tests_<label> builds all of a label.
# BY_SOURCE: a ctest <name>_<x> for each source test_<x>.cpp with tests that are not hidden, which run side by side.
# Cases with the tag [.ci-long] are in a ctest <name>_ci_long, BY_SOURCE <name>_<x>_ci_long, of label ci-long.
function(switchyard_test name)
  cmake_parse_arguments(ARG "BY_SOURCE" "SECONDS" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${ARG_DEPENDS} switchyard_test_main switchyard_test_flags)
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} test_${name})
  endforeach()
  if("cosim" IN_LIST ARG_LABELS)
    switchyard_precompile(test_${name} cosim)
  else()
    switchyard_precompile(test_${name} tests)
  endif()
  set(options LABELS ${ARG_LABELS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} SECONDS ${ARG_SECONDS})
  set(has_long_cases OFF)
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(GET source STEM stem)
    if(NOT stem MATCHES "^test_(.+)$")
      continue()
    endif()
    set(of_source ${name}_${CMAKE_MATCH_1})
    file(READ ${source} text)
    string(REPLACE ";" "," text "${text}")
    string(REGEX MATCHALL "\n(TEST_CASE|SIM_TEST)\\([^{]*{" cases "${text}")
    set(long_cases ${cases})
    list(FILTER cases EXCLUDE REGEX "\\[\\.")
    list(FILTER long_cases INCLUDE REGEX "\\[\\.ci-long\\]")
    if(long_cases)
      set(has_long_cases ON)
    endif()
    if(ARG_BY_SOURCE AND cases)
      switchyard_ctest(${of_source} COMMAND test_${name} --filenames-as-tags -w NoTests "[#${stem}]~[.]" ${options})
    endif()
    if(ARG_BY_SOURCE AND long_cases)
      switchyard_ctest(${of_source}_ci_long COMMAND test_${name} --filenames-as-tags -w NoTests "[#${stem}][.ci-long]"
        LABELS ci-long WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
  endforeach()
  if(NOT ARG_BY_SOURCE)
    switchyard_ctest(${name} COMMAND test_${name} ${options})
    if(has_long_cases)
      switchyard_hidden_test(${name}_ci_long test_${name} "[.ci-long]" LABELS ci-long)
    endif()
  endif()
endfunction()

# switchyard_hidden_test(<name> <program> <tag> [LABELS ...] [SECONDS <n>]): the tests of a Catch2 executable that carry <tag>.
function(switchyard_hidden_test name program tag)
  switchyard_ctest(${name} COMMAND ${program} -w NoTests ${tag} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ${ARGN})
endfunction()

# switchyard_benchmark(<name> [DEPENDS ...]): bench_<name> from bench_<name>.cpp, a Google Benchmark program. The target
# `benchmarks` builds all of them, which no test runs.
function(switchyard_benchmark name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(bench_${name} bench_${name}.cpp)
  target_link_libraries(bench_${name} PRIVATE ${ARG_DEPENDS} benchmark::benchmark switchyard_build_flags)
  set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(benchmarks bench_${name})
endfunction()
