# SPDX-License-Identifier: Apache-2.0
# Installs BUILD and compiles each installed header in isolation, with the flags of pkg-config, as C++17 and C++20.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/includes_of.cmake)

file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)
must(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIGURATION} --prefix ${prefix})
must_include_what_is_there(${prefix}/include)
must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/lib/pkgconfig:${prefix}/${LIBDIR}/pkgconfig
  pkg-config --cflags switchyard)
string(STRIP "${output}" flags)
# A rule a header, which make runs side by side. Those that Verilator's headers need are of who has RTL.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/switchyard/*.h)
set(rules "all:")
set(bodies "")
foreach(standard 17 20)
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER "${header}_${standard}" rule)
    string(APPEND rules " ${rule}")
    string(APPEND bodies "${rule}:\n\t@echo '#include <${header}>' | ${COMPILER} -std=c++${standard} -Wall -Wextra -Werror "
      "-Wno-deprecated-enum-enum-conversion -fsyntax-only -isystem /usr/share/verilator/include ${flags} -x c++ -\n")
  endforeach()
endforeach()
file(WRITE ${SCRATCH}/Makefile "${rules}\n.PHONY: all\n${bodies}")
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
must(make -C ${SCRATCH} -j ${cores} -k all)
list(LENGTH headers count)
message(STATUS "${count} headers compile in isolation, as C++17 and as C++20")
