# SPDX-License-Identifier: Apache-2.0
# lib/, include/switchyard/<folder>/, bin/, share/switchyard/<platforms, workloads, ...>, share/doc/, the CMake package and
# the pkg-config module.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY SWITCHYARD_LIBRARIES)
list(REMOVE_DUPLICATES libraries)
get_property(interfaces GLOBAL PROPERTY SWITCHYARD_INTERFACES)
get_property(SWITCHYARD_PARTS GLOBAL PROPERTY SWITCHYARD_PARTS)
get_property(programs GLOBAL PROPERTY SWITCHYARD_PROGRAMS)
set(SWITCHYARD_INSTALL_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Switchyard)
set(SWITCHYARD_INSTALL_CONFIGS ${CMAKE_INSTALL_DATADIR}/switchyard)

install(TARGETS ${libraries} ${interfaces} switchyard EXPORT Switchyard)
install(TARGETS ${programs})
install(EXPORT Switchyard NAMESPACE Switchyard:: FILE SwitchyardTargets.cmake DESTINATION ${SWITCHYARD_INSTALL_PACKAGE})
include(${CMAKE_CURRENT_LIST_DIR}/SwitchyardPublic.cmake)
get_cmake_property(lists VARIABLES)
list(FILTER lists INCLUDE REGEX "^SWITCHYARD_PUBLIC_")
set(public "")
foreach(list IN LISTS lists)
  string(REPLACE SWITCHYARD_PUBLIC_ switchyard_ target ${list})
  if(NOT TARGET ${target})
    continue()  # onnx_import without ONNX, rtl without Verilator
  endif()
  list(APPEND public ${${list}})
endforeach()
switchyard_installed_headers(headers ${public})
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH path)
  if(header STREQUAL "platform/systems/adyna/accelerator.h")
    set(path "")
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/switchyard/${path})
endforeach()
# What sy-regs has made, and the driver's sources: firmware compiles them itself.
install(DIRECTORY ${SWITCHYARD_GENERATED_ROOT}/switchyard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${SWITCHYARD_GENERATED_ROOT}/documents/switchyard_host.xml
  DESTINATION ${SWITCHYARD_INSTALL_CONFIGS}/registers)
install(FILES platform/driver/switchyard_driver.c platform/driver/switchyard_image.c platform/driver/switchyard_driver.h
  platform/driver/switchyard_package.h
  ${SWITCHYARD_GENERATED_ROOT}/switchyard/platform/driver/switchyard_registers.h
  DESTINATION ${SWITCHYARD_INSTALL_CONFIGS}/driver)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${SWITCHYARD_INSTALL_CONFIGS})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SwitchyardConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SwitchyardConfig.cmake
  INSTALL_DESTINATION ${SWITCHYARD_INSTALL_PACKAGE} PATH_VARS SWITCHYARD_INSTALL_CONFIGS)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SwitchyardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SwitchyardConfig.cmake ${PROJECT_BINARY_DIR}/SwitchyardConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/SwitchyardDependencies.cmake DESTINATION ${SWITCHYARD_INSTALL_PACKAGE})

# switchyard_libraries_of(<variable> <target>): the target and the libraries of ours that it links, each before those that
# it needs.
function(switchyard_libraries_of variable target)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  set(found ${target})
  get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS linked)
    if(TARGET ${library} AND library MATCHES "^(Switchyard::|switchyard_)" AND NOT library STREQUAL "Switchyard::systemc")
      switchyard_libraries_of(of_library ${library})
      list(REMOVE_ITEM found ${of_library})
      list(APPEND found ${of_library})
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# switchyard_pkg_config(<module> <requires> <library>...): a pkg-config module. What a dependency's own module says is not
# repeated. The archives of the whole may need each other in any order.
function(switchyard_pkg_config module SWITCHYARD_PC_REQUIRES)
  set(SWITCHYARD_PC_NAME ${module})
  set(SWITCHYARD_PC_LIBRARIES "")
  foreach(library IN LISTS ARGN)
    string(APPEND SWITCHYARD_PC_LIBRARIES " -l$<TARGET_FILE_BASE_NAME:${library}>")
  endforeach()
  file(RELATIVE_PATH SWITCHYARD_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/switchyard.pc.in ${PROJECT_BINARY_DIR}/${module}.pc.configured @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${module}.pc INPUT ${PROJECT_BINARY_DIR}/${module}.pc.configured)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
switchyard_pkg_config(switchyard "systemc yaml-cpp fmt sqlite3 zlib" ${libraries})
foreach(part IN ITEMS tlm ${SWITCHYARD_PARTS})
  switchyard_libraries_of(of_part switchyard_${part})
  switchyard_pkg_config(switchyard-${part} "systemc yaml-cpp fmt zlib" ${of_part})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
