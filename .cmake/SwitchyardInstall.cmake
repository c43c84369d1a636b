# lib/, include/switchyard/<folder>/, bin/, share/switchyard/<platforms, workloads, ...> and the CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY SWITCHYARD_LIBRARIES)
list(REMOVE_DUPLICATES libraries)
get_property(programs GLOBAL PROPERTY SWITCHYARD_PROGRAMS)
set(SWITCHYARD_INSTALL_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Switchyard)
set(SWITCHYARD_INSTALL_CONFIGS ${CMAKE_INSTALL_DATADIR}/switchyard)

install(TARGETS ${libraries} EXPORT Switchyard)
install(TARGETS ${programs})
install(EXPORT Switchyard NAMESPACE Switchyard:: FILE SwitchyardTargets.cmake DESTINATION ${SWITCHYARD_INSTALL_PACKAGE})
foreach(folder sw_scheduler tlm hw rtl platform)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH path)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/switchyard/${path})
  endforeach()
endforeach()
# What sy-regs has made, and the driver's sources: firmware compiles them itself.
install(DIRECTORY ${SWITCHYARD_GENERATED_ROOT}/switchyard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${SWITCHYARD_GENERATED_ROOT}/documents/switchyard_host.xml
  DESTINATION ${SWITCHYARD_INSTALL_CONFIGS}/registers)
install(FILES platform/driver/switchyard_driver.c platform/driver/switchyard_image.c platform/driver/switchyard_driver.h
  ${SWITCHYARD_GENERATED_ROOT}/switchyard/platform/driver/switchyard_registers.h
  DESTINATION ${SWITCHYARD_INSTALL_CONFIGS}/driver)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${SWITCHYARD_INSTALL_CONFIGS})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SwitchyardConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SwitchyardConfig.cmake
  INSTALL_DESTINATION ${SWITCHYARD_INSTALL_PACKAGE} PATH_VARS SWITCHYARD_INSTALL_CONFIGS)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SwitchyardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SwitchyardConfig.cmake ${PROJECT_BINARY_DIR}/SwitchyardConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/SwitchyardDependencies.cmake DESTINATION ${SWITCHYARD_INSTALL_PACKAGE})
