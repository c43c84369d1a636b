# SPDX-License-Identifier: Apache-2.0
# Finds what the libraries link. Included by our own build, where each is required, and by the installed
# SwitchyardConfig.cmake, where a missing one makes find_package(Switchyard) fail in the caller's terms.

# switchyard_find_dependencies([PARTS <component>...] [PACKAGES <package>...]): finds what installed headers and libraries
# need, and these packages as well. If find_package(Switchyard) names components, all of them PARTS, what only others need
# (SQLite3) is left out. Sets switchyard_missing to what was not found. A function, so that nothing else which the packages
# set reaches the caller: FindBoost empties Boost_LIBRARIES.
function(switchyard_find_dependencies)
  cmake_parse_arguments(ARG "" "" "PARTS;PACKAGES" ${ARGN})
  set(missing "")
  set(of_others ${Switchyard_FIND_COMPONENTS})
  list(REMOVE_ITEM of_others ${ARG_PARTS} "")
  if(NOT Switchyard_FIND_COMPONENTS OR of_others)
    list(APPEND ARG_PACKAGES SQLite3)
  endif()
  foreach(package Threads yaml-cpp fmt nlohmann_json Boost ZLIB ${ARG_PACKAGES})
    if(CMAKE_FIND_PACKAGE_NAME STREQUAL "Switchyard")
      find_package(${package} QUIET)
      if(NOT ${package}_FOUND)
        list(APPEND missing ${package})
      endif()
    else()
      find_package(${package} REQUIRED)
    endif()
  endforeach()

  # SystemC comes from the project around this one, as a CMake package (Accellera's own build), or through pkg-config
  # (Debian).
  if(NOT TARGET Switchyard::systemc)
    if(NOT TARGET SystemC::systemc)
      find_package(SystemCLanguage CONFIG QUIET)
    endif()
    if(TARGET SystemC::systemc)
      set(systemc SystemC::systemc)
    else()
      find_package(PkgConfig QUIET)
      if(PkgConfig_FOUND)
        pkg_check_modules(SWITCHYARD_SYSTEMC QUIET IMPORTED_TARGET GLOBAL systemc>=2.3.3)
      endif()
      set(systemc PkgConfig::SWITCHYARD_SYSTEMC)
    endif()
    if(TARGET ${systemc})
      add_library(Switchyard::systemc INTERFACE IMPORTED GLOBAL)
      target_link_libraries(Switchyard::systemc INTERFACE ${systemc} Threads::Threads)
    else()
      list(APPEND missing "SystemC 2.3.3 or newer (neither a CMake package SystemCLanguage nor a pkg-config module systemc)")
    endif()
  endif()
  set(switchyard_missing "${missing}" PARENT_SCOPE)
endfunction()
