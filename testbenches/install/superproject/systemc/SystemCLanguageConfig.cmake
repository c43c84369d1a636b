# SPDX-License-Identifier: Apache-2.0
# What Accellera's own build installs, as far as a user sees it.
find_package(PkgConfig REQUIRED)
pkg_check_modules(systemc_files REQUIRED IMPORTED_TARGET GLOBAL systemc)
add_library(SystemC::systemc INTERFACE IMPORTED)
target_link_libraries(SystemC::systemc INTERFACE PkgConfig::systemc_files)
set(SystemCLanguage_FOUND TRUE)
