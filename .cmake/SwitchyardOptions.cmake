# SPDX-License-Identifier: Apache-2.0
option(SWITCHYARD_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SWITCHYARD_INSTALL "Install rules, and packages of CPack" ${PROJECT_IS_TOP_LEVEL})
option(BUILD_SHARED_LIBS "Shared libraries instead of static ones" OFF)
option(SWITCHYARD_NATIVE "Compile for the build host's own processor" OFF)
option(SWITCHYARD_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(SWITCHYARD_COVERAGE "Instrument for gcov" OFF)
option(SWITCHYARD_FUZZ "Programs of libFuzzer from testbenches/fuzz; needs clang" OFF)

# The RTL blocks need Verilator; without it the models of hw/ are all there is.
find_program(SWITCHYARD_VERILATOR verilator)
string(COMPARE NOTEQUAL "${SWITCHYARD_VERILATOR}" "SWITCHYARD_VERILATOR-NOTFOUND" verilator_found)
option(SWITCHYARD_RTL "Build the RTL blocks with Verilator" ${verilator_found})
if(SWITCHYARD_RTL AND NOT verilator_found)
  message(FATAL_ERROR "SWITCHYARD_RTL needs verilator (Debian: verilator), which was not found.")
endif()
unset(verilator_found)

include(CheckLinkerFlag)
# The standard of the project around this one, from C++17 on: SystemC's libraries are for one standard each.
if(NOT DEFINED CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 17)
elseif(CMAKE_CXX_STANDARD LESS 17 OR CMAKE_CXX_STANDARD EQUAL 98)
  message(FATAL_ERROR "CMAKE_CXX_STANDARD: expected 17 or newer, found ${CMAKE_CXX_STANDARD}; Switchyard needs C++17.")
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# Installed programs find our shared libraries, and a SystemC that is not in a system folder.
include(GNUInstallDirs)
file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${lib_from_bin};$ORIGIN")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
unset(lib_from_bin)
# The Verilated models are static in any case, and become part of a shared library then.
if(BUILD_SHARED_LIBS)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
# What is found here is also found by the project that has added this one as a subdirectory.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(SWITCHYARD_CCACHE ccache)
if(SWITCHYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SWITCHYARD_CCACHE})
endif()

# GNU gold links the programs in half the time of GNU ld, whose output differs in layout only. -DSWITCHYARD_GOLD=OFF keeps
# the linker that the compiler or CMAKE_EXE_LINKER_FLAGS name.
if(PROJECT_IS_TOP_LEVEL)
  check_linker_flag(CXX -fuse-ld=gold SWITCHYARD_GOLD)
  if(SWITCHYARD_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()

# Flags of our own code only; never exported to the projects that link it.
add_library(switchyard_build_flags INTERFACE)
target_compile_options(switchyard_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow)
if(SWITCHYARD_NATIVE)
  target_compile_options(switchyard_build_flags INTERFACE -march=native)
endif()
if(SWITCHYARD_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  # g++ sees uninitialised values in the code that the sanitizers add to the standard library's templates.
  target_compile_options(switchyard_build_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(SWITCHYARD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SWITCHYARD_FUZZ needs clang (Debian: clang), whose library libFuzzer is.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(SWITCHYARD_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
