# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: what most sources include of the standard library and of SystemC, nlohmann-json and Catch2, whose
# headers take longer to read than most of our sources. Off in a project that has added this one as a subdirectory, and
# for shared libraries, whose objects are compiled with other options than those of programs. ccache keeps such objects
# if CCACHE_SLOPPINESS says "pch_defines,time_macros", as ./run does.
set(precompile ${PROJECT_IS_TOP_LEVEL})
if(BUILD_SHARED_LIBS)
  set(precompile OFF)
endif()
option(SWITCHYARD_PRECOMPILE "Precompile the headers of libraries" ${precompile})
unset(precompile)
# g++ collects garbage when its memory has grown to 128 MiB, and whenever it has doubled after that. A precompiled header
# alone takes as much. With this limit most sources need no collection, which took a tenth of the time; objects are the same.
if(SWITCHYARD_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1048576)  # KiB
endif()

# The literals of nlohmann-json are functions but no templates: whoever reads the header instantiates the parser that they
# call, which takes each source half a second. Precompiled headers have a copy without them.
set(json <nlohmann/json.hpp>)
get_target_property(folders nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
find_file(SWITCHYARD_JSON_HEADER nlohmann/json.hpp HINTS ${folders})
mark_as_advanced(SWITCHYARD_JSON_HEADER)
if(SWITCHYARD_PRECOMPILE AND SWITCHYARD_JSON_HEADER)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SWITCHYARD_JSON_HEADER})
  file(READ ${SWITCHYARD_JSON_HEADER} text)
  string(REGEX REPLACE "inline namespace literals.*}  // namespace literals" "" text "${text}")
  string(REGEX REPLACE "using nlohmann::literals::[^;]*;" "" text "${text}")
  set(json ${PROJECT_BINARY_DIR}/precompiled/json_without_literals.hpp)
  file(CONFIGURE OUTPUT ${json} CONTENT "#pragma GCC system_header\n${text}" @ONLY)
  unset(text)
endif()
unset(folders)

set(standard <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <numeric>
  <optional> <random> <set> <stdexcept> <string> <utility> <vector> <fmt/format.h> <fmt/ranges.h>)
set(SWITCHYARD_PRECOMPILED_scheduler ${standard} ${json} <yaml-cpp/yaml.h>)
set(SWITCHYARD_PRECOMPILED_models ${standard} ${json} <systemc> <tlm> <tlm_utils/simple_initiator_socket.h>
  <tlm_utils/simple_target_socket.h>)
set(SWITCHYARD_PRECOMPILED_tests ${SWITCHYARD_PRECOMPILED_models} "${PROJECT_SOURCE_DIR}/testbenches/catch.h")
# Verilator's headers behave differently where SystemC's come before.
set(SWITCHYARD_PRECOMPILED_cosim ${standard} "${PROJECT_SOURCE_DIR}/testbenches/catch.h")
unset(standard)
unset(json)

# switchyard_precompile(<target> scheduler|models|tests|cosim): the target's C++ sources find these headers
# precompiled. The first target of each kind compiles them, and the first cold one (switchyard_cold()) once more, since
# g++ wants them compiled with the same optimisation; the other options of all targets must be the same.
function(switchyard_precompile target kind)
  if(NOT SWITCHYARD_PRECOMPILE)
    return()
  endif()
  get_target_property(cold ${target} SWITCHYARD_COLD)
  set(owner_property SWITCHYARD_PRECOMPILED_BY_${kind})
  if(cold)
    set(owner_property SWITCHYARD_PRECOMPILED_COLD_BY_${kind})
  endif()
  get_property(owner GLOBAL PROPERTY ${owner_property})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    return()
  endif()
  list(TRANSFORM SWITCHYARD_PRECOMPILED_${kind} REPLACE "^<(.+)>$" "<\\1$<ANGLE-R>")
  list(TRANSFORM SWITCHYARD_PRECOMPILED_${kind} REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${SWITCHYARD_PRECOMPILED_${kind}})
  set_property(GLOBAL PROPERTY ${owner_property} ${target})
endfunction()
