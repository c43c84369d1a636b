# Finds what the libraries link. Included by our own build, where each is required, and by the installed
# SwitchyardConfig.cmake, where a missing one makes find_package(Switchyard) fail in the caller's terms.
include(CMakeFindDependencyMacro)
macro(switchyard_find_dependency)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "Switchyard")
    find_dependency(${ARGV})
  else()
    find_package(${ARGV} REQUIRED)
  endif()
endmacro()

switchyard_find_dependency(Threads)
switchyard_find_dependency(yaml-cpp)
switchyard_find_dependency(fmt)
switchyard_find_dependency(nlohmann_json)
switchyard_find_dependency(Boost)
switchyard_find_dependency(CLI11)

# SystemC comes from the project around this one, as a CMake package (Accellera's own build), or through pkg-config
# (Debian).
if(NOT TARGET Switchyard::systemc)
  if(NOT TARGET SystemC::systemc)
    find_package(SystemCLanguage CONFIG QUIET)
  endif()
  if(TARGET SystemC::systemc)
    set(switchyard_systemc SystemC::systemc)
  else()
    switchyard_find_dependency(PkgConfig)
    pkg_check_modules(SWITCHYARD_SYSTEMC QUIET IMPORTED_TARGET GLOBAL systemc>=2.3.3)
    if(NOT SWITCHYARD_SYSTEMC_FOUND)
      message(FATAL_ERROR "Switchyard needs SystemC 2.3.3 or newer: neither a CMake package SystemCLanguage nor a "
                          "pkg-config module systemc was found (Debian: libsystemc-dev).")
    endif()
    set(switchyard_systemc PkgConfig::SWITCHYARD_SYSTEMC)
  endif()
  add_library(Switchyard::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(Switchyard::systemc INTERFACE ${switchyard_systemc} Threads::Threads)
  unset(switchyard_systemc)
endif()
