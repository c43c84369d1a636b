# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

# PREFIX, or the scratch folder where BUILD is installed.
string(REPLACE "|" "\\;" search_path "|${SEARCH_PATH}")
set(build ${SCRATCH}/build)
file(REMOVE_RECURSE ${SCRATCH})
if(PREFIX)
  set(prefix ${PREFIX})
else()
  set(prefix ${SCRATCH}/prefix)
  must(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIGURATION} --prefix ${prefix})
endif()
# No installed header includes CLI11: who has it not can do without.
must(${CMAKE_COMMAND} -S ${CONSUMER} -B ${build} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIGURATION}
  "-DCMAKE_PREFIX_PATH=${prefix}${search_path}" -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  "-DCMAKE_CXX_FLAGS=${SANITIZE} ${COVERAGE}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
must(${CMAKE_COMMAND} --build ${build})
foreach(program read_formats use_tlm use_hw)
  must(${build}/${program})
  message(STATUS "${program}: ${output}")
endforeach()

# An installed header includes installed headers, and those of the packages that docs/integration.md lists. Compiling them
# all takes minutes: the test headers_long.
include(${CMAKE_CURRENT_LIST_DIR}/includes_of.cmake)
must_include_what_is_there(${prefix}/include)

# C++20 on a SystemC library of C++17: with the definition that docs/integration.md names.
must(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/cxx20 -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIGURATION}
  "-DCMAKE_PREFIX_PATH=${prefix}${search_path}" -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  "-DCMAKE_CXX_FLAGS=-DSC_DISABLE_API_VERSION_CHECK ${SANITIZE} ${COVERAGE}" -DCMAKE_CXX_STANDARD=20
  -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
must(${CMAKE_COMMAND} --build ${SCRATCH}/cxx20 --target use_hw)
must(${SCRATCH}/cxx20/use_hw)

# Parts alone: at most four of our archives on a link line, no other component in the program, 30 lines a program.
set(parts ${SCRATCH}/parts)
must(${CMAKE_COMMAND} -S ${CONSUMER}/../parts -B ${parts} -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=${CONFIGURATION}
  "-DCMAKE_PREFIX_PATH=${prefix}${search_path}" -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  "-DCMAKE_CXX_FLAGS=${SANITIZE} ${COVERAGE}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON)
must(${CMAKE_COMMAND} --build ${parts})
find_program(nm nm REQUIRED)
# A program that has all of them shows that the class is called so. That of a package has no symbols.
execute_process(COMMAND ${nm} -C ${prefix}/bin/sy-sim OUTPUT_VARIABLE output ERROR_QUIET)
if(NOT PREFIX AND NOT output MATCHES "switchyard::hw::PeArray::")
  message(FATAL_ERROR "sy-sim has no symbol of PeArray: the check of the parts finds nothing")
endif()
foreach(part noc dram link dot_product_array)
  must(${parts}/use_${part})
  string(STRIP "${output}" printed)
  file(READ ${parts}/CMakeFiles/use_${part}.dir/link.txt line)
  string(REGEX MATCHALL "[^ ]*libswitchyard_[a-z_]+[^ ]*" archives "${line}")
  list(REMOVE_DUPLICATES archives)
  list(LENGTH archives count)
  if(count GREATER 4 OR count EQUAL 0)
    message(FATAL_ERROR "use_${part} links ${count} of our libraries, expected 1 to 4: ${archives}")
  endif()
  must(${nm} -C ${parts}/use_${part})
  foreach(class PeArray PacketNetwork DramTarget MessageEngine DotProductArray)
    string(FIND "${output}" "switchyard::hw::${class}::" found)
    if((part STREQUAL "noc" AND class STREQUAL "PacketNetwork") OR (part STREQUAL "dram" AND class STREQUAL "DramTarget") OR
       (part STREQUAL "link" AND class STREQUAL "MessageEngine") OR
       (part STREQUAL "dot_product_array" AND class STREQUAL "DotProductArray"))
      if(found EQUAL -1)
        message(FATAL_ERROR "use_${part} has no symbol of ${class}")
      endif()
    elseif(NOT found EQUAL -1)
      message(FATAL_ERROR "use_${part} has symbols of ${class}")
    endif()
  endforeach()
  file(STRINGS ${CONSUMER}/../parts/use_${part}.cpp lines)
  list(LENGTH lines length)
  if(length GREATER 30)
    message(FATAL_ERROR "use_${part}.cpp has more than 30 lines")
  endif()
  message(STATUS "use_${part}: ${count} of our libraries: ${printed}")
endforeach()

# The installed programs work on the installed configurations.
foreach(program sy-sched sy-sim sy-sweep)
  must(${prefix}/bin/${program} --help)
endforeach()
must(${prefix}/bin/sy-sched compile ${prefix}/share/switchyard/workloads/digits_skipnet.yaml
  --platform ${prefix}/share/switchyard/platforms/mini.yaml --design adyna -o ${SCRATCH}/skipnet.syk)
must(${prefix}/bin/sy-sim run --platform ${prefix}/share/switchyard/platforms/mini.yaml --image ${SCRATCH}/skipnet.syk
  --trace ${prefix}/share/switchyard/workloads/digits/skipnet/routing.jsonl --batches 2 --report ${SCRATCH}/report)
if(NOT EXISTS ${SCRATCH}/report/report.json)
  message(FATAL_ERROR "the installed sy-sim wrote no report")
endif()

# A prototype of somebody else's runs the network on the accelerator: the same memory for every kind of initiator.
set(expected "")
foreach(style "lt;0" "lt;10" "lt;1000" "lt;10000" "at")
  must(${build}/soc ${prefix}/share/switchyard ${SCRATCH}/skipnet.syk ${style})
  string(REGEX MATCH "0 wrong labels of 128, [1-9][0-9]* interrupts, memory [0-9a-f]+" line "${output}")
  if(line STREQUAL "" OR NOT (expected STREQUAL "" OR line STREQUAL expected))
    message(FATAL_ERROR "soc ${style}: expected '${expected}', got:\n${output}")
  endif()
  set(expected ${line})
endforeach()
message(STATUS "soc: ${expected}")

# What docs/integration.md says, block by block.
include(${CMAKE_CURRENT_LIST_DIR}/extract_snippets.cmake)
set(page ${prefix}/share/doc/Switchyard/integration.md)
extract_snippets(${page} ${SCRATCH}/integration)
file(STRINGS ${page} promise REGEX "It prints `interrupt at ")
string(REGEX REPLACE "^It prints `([^`]*)`.*" "\\1" promise "${promise}")
must(${CMAKE_COMMAND} -E chdir ${SCRATCH}/integration ${CMAKE_COMMAND} -E env PREFIX=${prefix}
  "CXX=${COMPILER}" "CXXFLAGS=${SANITIZE} ${COVERAGE}" CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} CMAKE_GENERATOR=${GENERATOR}
  sh commands.sh)
string(FIND "${output}" "${promise}\n" found)
if(promise STREQUAL "" OR found EQUAL -1)
  message(FATAL_ERROR "docs/integration.md promises '${promise}', its program printed:\n${output}")
endif()
message(STATUS "docs/integration.md: ${promise}")

# The same of the page of the other devices.
extract_snippets(${prefix}/share/doc/Switchyard/integration_devices.md ${SCRATCH}/devices)
must(${CMAKE_COMMAND} -E chdir ${SCRATCH}/devices ${CMAKE_COMMAND} -E env PREFIX=${prefix}
  "CXX=${COMPILER}" "CXXFLAGS=${SANITIZE} ${COVERAGE}" CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} CMAKE_GENERATOR=${GENERATOR}
  sh commands.sh)
message(STATUS "docs/integration_devices.md: ${output}")

# What it lists is what find_package(Switchyard) finds, and the address span that the registers have.
file(READ ${page} text)
file(GLOB_RECURSE dependencies ${prefix}/SwitchyardDependencies.cmake)
file(STRINGS ${dependencies} packages REGEX "foreach\\(package ")
string(REGEX REPLACE ".*foreach\\(package ([^$]*) \\$.*" "\\1" packages "${packages}")
separate_arguments(packages)
foreach(package IN LISTS packages ITEMS SystemCLanguage)
  string(FIND "${text}" "| `${package}` |" found)
  string(FIND "${text}" "CMake package `${package}`" found_otherwise)
  if(found EQUAL -1 AND found_otherwise EQUAL -1)
    message(FATAL_ERROR "docs/integration.md does not list ${package}")
  endif()
endforeach()
file(STRINGS ${prefix}/include/switchyard/hw/host/host_registers.h span REGEX "kAddressSpan = ")
string(REGEX REPLACE ".*kAddressSpan = (0x[0-9a-f]+).*" "\\1" span "${span}")
math(EXPR span "${span} / 1048576")
string(FIND "${text}" "| `config_socket` | ${span} MiB" found)
if(found EQUAL -1)
  message(FATAL_ERROR "docs/integration.md does not say that the port has ${span} MiB")
endif()

# The same libraries through pkg-config.
find_program(pkg_config pkg-config)
if(pkg_config)
  must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/lib/pkgconfig:${prefix}/${LIBDIR}/pkgconfig
    ${pkg_config} --cflags --libs switchyard)
  separate_arguments(flags UNIX_COMMAND "${output} ${SANITIZE} ${COVERAGE}")
  must(${COMPILER} ${CONSUMER}/../superproject/mount.cpp -o ${SCRATCH}/mount ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
  must(${SCRATCH}/mount ${prefix}/share/switchyard/platforms/mini.yaml)
  if(NOT output MATCHES "accelerator.chip.host.config")
    message(FATAL_ERROR "mounted through pkg-config:\n${output}")
  endif()
  must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/lib/pkgconfig:${prefix}/${LIBDIR}/pkgconfig
    ${pkg_config} --cflags --libs switchyard-noc)
  separate_arguments(flags UNIX_COMMAND "${output} ${SANITIZE} ${COVERAGE}")
  must(${COMPILER} ${CONSUMER}/../parts/use_noc.cpp -o ${SCRATCH}/use_noc ${flags} -Wl,-rpath,${prefix}/${LIBDIR})
  must(${SCRATCH}/use_noc)
endif()

# The scheduler's library drags in no SystemC.
find_program(ldd ldd)
if(ldd)
  must(${ldd} ${build}/read_formats)
  if(output MATCHES "systemc")
    message(FATAL_ERROR "a program that links Switchyard::scheduler only needs SystemC:\n${output}")
  endif()
endif()
