# SPDX-License-Identifier: Apache-2.0
# Verilated blocks: SystemVerilog of rtl/ as C++ libraries. Included when SWITCHYARD_RTL is on.
execute_process(COMMAND ${SWITCHYARD_VERILATOR} --getenv VERILATOR_ROOT
  OUTPUT_VARIABLE SWITCHYARD_VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(SWITCHYARD_RTL_FOLDER ${PROJECT_SOURCE_DIR}/rtl)
# Verilator runs in the root of the tree, so that no model holds a path of the machine and ccache shares the models of
# several checkouts.
set(SWITCHYARD_VERILATOR_FLAGS -Irtl/common)
# Where a test leaves the coverage of its Verilated models, and where it is merged.
set(SWITCHYARD_COVERAGE_FOLDER ${PROJECT_BINARY_DIR}/coverage)
file(MAKE_DIRECTORY ${SWITCHYARD_COVERAGE_FOLDER})

# Verilator's run-time library, once for all models.
set(runtime ${SWITCHYARD_VERILATOR_ROOT}/include)
add_library(switchyard_verilated STATIC
  ${runtime}/verilated.cpp ${runtime}/verilated_threads.cpp ${runtime}/verilated_fst_c.cpp ${runtime}/verilated_cov.cpp
  ${runtime}/verilated_save.cpp ${SWITCHYARD_RTL_FOLDER}/common/model_messages.cpp)
set_target_properties(switchyard_verilated PROPERTIES EXPORT_NAME verilated UNITY_BUILD OFF)
target_include_directories(switchyard_verilated SYSTEM PUBLIC $<BUILD_INTERFACE:${runtime}>
  $<BUILD_INTERFACE:${runtime}/vltstd>)
# Simulated time is the context's: the models need no sc_time_stamp().
target_compile_definitions(switchyard_verilated PUBLIC $<BUILD_INTERFACE:VL_TIME_CONTEXT>)
target_compile_options(switchyard_verilated PRIVATE -w)
# What it would print, stop or abort with goes to the wrapper of the model that runs.
target_include_directories(switchyard_verilated PRIVATE ${SWITCHYARD_INCLUDE_ROOT})
set_source_files_properties(${runtime}/verilated.cpp PROPERTIES
  COMPILE_DEFINITIONS "VL_USER_STOP;VL_USER_FINISH;VL_USER_FATAL;VL_PRINTF=switchyard_verilated_print"
  COMPILE_FLAGS "-include \"${SWITCHYARD_RTL_FOLDER}/common/verilated_print.h\"")
target_link_libraries(switchyard_verilated PUBLIC ZLIB::ZLIB Threads::Threads)
# Its headers take as long to read as most models to compile. g++ takes a precompiled header for one optimisation only.
foreach(optimisation O0 O1 O2)
  file(CONFIGURE OUTPUT verilated_headers.cpp CONTENT "// Nothing but the precompiled headers.\n")
  add_library(switchyard_verilated_${optimisation} OBJECT ${PROJECT_BINARY_DIR}/verilated_headers.cpp)
  set_target_properties(switchyard_verilated_${optimisation} PROPERTIES UNITY_BUILD OFF)
  target_compile_features(switchyard_verilated_${optimisation} PUBLIC cxx_std_17)
  target_compile_options(switchyard_verilated_${optimisation} PRIVATE -w -${optimisation})
  target_link_libraries(switchyard_verilated_${optimisation} PRIVATE switchyard_verilated)
  if(SWITCHYARD_PRECOMPILE)
    target_precompile_headers(switchyard_verilated_${optimisation} PRIVATE ${runtime}/verilated.h
      ${runtime}/verilated_cov.h ${runtime}/verilated_fst_c.h)
  endif()
endforeach()
unset(runtime)

# switchyard_verilate(<name> TOP <module> SOURCES <file.sv>... [PARAMETERS -G<X>=<value>...]
#                     [TRACE] [COVERAGE] [ASSERT] [INSTANTIATED <module>...] [CLASS <class>])
#
# Static library <name>: class V<name>, or CLASS, of the header of this name, the Verilated <module>. Relative sources are those of the
# calling folder, packages first. TRACE, not with COVERAGE: its state can be saved, and VerilatedFstC can trace it. COVERAGE: line and toggle coverage, and assertions.
# ASSERT: assertions alone (ModelContext::error()). Verilator 5.006
# reports no line coverage of a package's functions: what is to be measured belongs into a module. INSTANTIATED: each of
# these modules becomes a class of its own instead of code that is repeated for each instance.
# The header belongs behind a pimpl: only the source that wraps the model includes it.
function(switchyard_verilate name)
  cmake_parse_arguments(ARG "TRACE;COVERAGE;ASSERT" "TOP;CLASS" "SOURCES;PARAMETERS;INSTANTIATED" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_TOP OR NOT ARG_SOURCES)
    message(FATAL_ERROR "switchyard_verilate(${name}): needs TOP and SOURCES, unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_CLASS)
    set(ARG_CLASS V${name})
  endif()
  set(sources)
  set(relative_sources)
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    list(APPEND sources ${source})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND relative_sources ${source})
  endforeach()
  set(flags ${SWITCHYARD_VERILATOR_FLAGS} ${ARG_PARAMETERS})
  if(ARG_TRACE)
    list(APPEND flags --trace-fst --savable)
  endif()
  if(ARG_COVERAGE)
    list(APPEND flags --coverage --assert)
  elseif(ARG_ASSERT)
    list(APPEND flags --assert)
  endif()

  set(control)
  if(ARG_INSTANTIATED)
    list(TRANSFORM ARG_INSTANTIATED REPLACE "(.+)" "no_inline -module \"\\1\"\n")
    list(JOIN ARG_INSTANTIATED "" control_text)
    set(control ${CMAKE_CURRENT_BINARY_DIR}/verilated/${name}.vlt)
    file(CONFIGURE OUTPUT ${control} CONTENT "`verilator_config\n${control_text}" @ONLY)
  endif()

  set(gather ${PROJECT_SOURCE_DIR}/.cmake/SwitchyardVerilated.cmake)
  # Verilator makes the last folder of a path only, and not every generator makes those of outputs.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/verilated)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/verilated/${name})
  set(fast ${folder}/${ARG_CLASS}__fast.cpp)
  set(slow ${folder}/${ARG_CLASS}__slow.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${SWITCHYARD_RTL_FOLDER}/common/*.svh)
  add_custom_command(OUTPUT ${fast} ${slow} ${folder}/${ARG_CLASS}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${SWITCHYARD_VERILATOR} --cc --prefix ${ARG_CLASS} --top-module ${ARG_TOP} --Mdir ${folder} --threads 1
      -O3 --x-assign fast --x-initial fast --output-split 0 -Wno-lint -Wno-style ${flags} ${control} ${relative_sources}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DNAME=${ARG_CLASS} -P ${gather}
    DEPENDS ${sources} ${headers} ${control} ${gather}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Verilating ${name}" VERBATIM)

  add_custom_target(${name}_made DEPENDS ${fast} ${slow} ${folder}/${ARG_CLASS}.h)
  add_dependencies(switchyard_made_headers ${name}_made)
  # What is evaluated in each cycle at -O2, which beat -O3 here; construction and registration as they are. A model of a
  # test runs for a second or two, and -O2 takes twice as long to compile as -O1.
  set(optimisation O1)
  cmake_path(IS_PREFIX SWITCHYARD_RTL_FOLDER ${CMAKE_CURRENT_SOURCE_DIR} of_library)
  if(of_library)
    set(optimisation O2)
  endif()
  add_library(${name}_unoptimised OBJECT ${slow})
  add_library(${name} STATIC ${fast} ${folder}/${ARG_CLASS}.h $<TARGET_OBJECTS:${name}_unoptimised>)
  target_compile_options(${name}_unoptimised PRIVATE -w -O0)
  target_compile_options(${name} PRIVATE -w -${optimisation})
  target_link_libraries(${name}_unoptimised PRIVATE switchyard_verilated)
  target_link_libraries(${name} PUBLIC switchyard_verilated)
  foreach(target ${name}_unoptimised ${name})
    add_dependencies(${target} ${name}_made)
    target_compile_features(${target} PUBLIC cxx_std_17)
    target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${folder}>)
  endforeach()
  # Those of tests are built for the tests that link them.
  if(NOT of_library)
    set_target_properties(${name}_unoptimised ${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(SWITCHYARD_PRECOMPILE)
    target_precompile_headers(${name}_unoptimised REUSE_FROM switchyard_verilated_O0)
    target_precompile_headers(${name} REUSE_FROM switchyard_verilated_${optimisation})
  endif()
endfunction()

# switchyard_rtl_component(<folder> SOURCES ... MODELS ...): adds the wrappers of one rtl/ folder, and the Verilated
# models that they wrap, to Switchyard::rtl.
function(switchyard_rtl_component folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;MODELS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/)
  target_sources(switchyard_rtl PRIVATE ${ARG_SOURCES})
  target_link_libraries(switchyard_rtl PRIVATE ${ARG_MODELS})
  set_property(GLOBAL APPEND PROPERTY SWITCHYARD_LIBRARIES ${ARG_MODELS})
endfunction()
