# SPDX-License-Identifier: Apache-2.0
# STANDARD: CMAKE_CXX_STANDARD of the project around it, or empty. SystemC's library is for another one: the project does
# without its check, as docs/integration.md says.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

set(standard "")
if(STANDARD)
  set(standard -DCMAKE_CXX_STANDARD=${STANDARD} -DCMAKE_CXX_FLAGS=-DSC_DISABLE_API_VERSION_CHECK)
endif()

file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} -S ${SUPERPROJECT} -B ${SCRATCH} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_UNITY_BUILD=ON -DSWITCHYARD_SOURCE=${SOURCE} -DSWITCHYARD_RTL=OFF -DSystemCLanguage_DIR=${SUPERPROJECT}/systemc
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
  ${standard})
must(${CMAKE_COMMAND} --build ${SCRATCH} --target ${WANTED})
if(STANDARD)
  file(READ ${SCRATCH}/compile_commands.json commands)
  string(FIND "${commands}" "-std=c++17" older)
  if(NOT older EQUAL -1 OR NOT commands MATCHES "-std=c\\+\\+${STANDARD}")
    message(FATAL_ERROR "the library does not take CMAKE_CXX_STANDARD ${STANDARD} of the project around it")
  endif()
endif()
if(WANTED STREQUAL "soc")
  must(${SCRATCH}/soc ${SOURCE}/configs/platforms/mini.yaml)
  if(NOT output MATCHES "accelerator.chip.host.config")
    message(FATAL_ERROR "soc:\n${output}")
  endif()
endif()
