# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB, cpack -G TGZ.
set(CPACK_PACKAGE_VENDOR "Switchyard")
set(CPACK_PACKAGE_CONTACT "Switchyard maintainers <maintainers@switchyard.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# The libraries of the programs, and the headers that ours include.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libsystemc-dev, libyaml-cpp-dev, libfmt-dev, libboost-dev, libsqlite3-dev, nlohmann-json3-dev, zlib1g-dev, pkg-config")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, verilator")
include(CPack)
