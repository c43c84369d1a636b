# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} -S ${SUPERPROJECT} -B ${SCRATCH} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_UNITY_BUILD=ON -DSWITCHYARD_SOURCE=${SOURCE} -DSWITCHYARD_RTL=OFF -DSystemCLanguage_DIR=${SUPERPROJECT}/systemc
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
must(${CMAKE_COMMAND} --build ${SCRATCH} --target ${WANTED})
if(WANTED STREQUAL "soc")
  must(${SCRATCH}/soc ${SOURCE}/configs/platforms/mini.yaml)
  if(NOT output MATCHES "accelerator.chip.host.config")
    message(FATAL_ERROR "soc:\n${output}")
  endif()
endif()
