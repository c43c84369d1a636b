# SPDX-License-Identifier: Apache-2.0
# Two Verilated models built by make, from nothing.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH} -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DSWITCHYARD_BUILD_TESTS=OFF -DSWITCHYARD_INSTALL=OFF -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
must(${CMAKE_COMMAND} --build ${SCRATCH} --target rtl_packetiser rtl_merge_reorder --parallel 2)
foreach(model rtl_packetiser rtl_merge_reorder)
  if(NOT EXISTS ${SCRATCH}/rtl/lib${model}.a)
    message(FATAL_ERROR "no library of ${model}:\n${output}")
  endif()
endforeach()
