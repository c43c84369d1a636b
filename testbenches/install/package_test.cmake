# SPDX-License-Identifier: Apache-2.0
# Builds shared libraries, tests them as an installation, packs them as a Debian package, and tests what it unpacks to.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

file(REMOVE_RECURSE ${SCRATCH})
set(build ${SCRATCH}/build)
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${build} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON
  -DSWITCHYARD_BUILD_TESTS=OFF -DSWITCHYARD_RTL=OFF -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
must(${CMAKE_COMMAND} --build ${build})
set(settings -DCONSUMER=${CONSUMER} -DCONFIGURATION=Release -DGENERATOR=${GENERATOR} -DCOMPILER=${COMPILER}
  -DLAUNCHER=${LAUNCHER})
must(${CMAKE_COMMAND} -DBUILD=${build} -DSCRATCH=${SCRATCH}/shared -DLIBDIR=lib ${settings} -P ${INSTALL_TEST})
file(GLOB libraries ${SCRATCH}/shared/prefix/lib/*/libswitchyard_*.so ${SCRATCH}/shared/prefix/lib/libswitchyard_*.so)
list(LENGTH libraries count)
if(count LESS 5)
  message(FATAL_ERROR "${count} shared libraries: ${libraries}")
endif()

find_program(dpkg_deb dpkg-deb)
if(NOT dpkg_deb)
  message(STATUS "no dpkg-deb: no Debian package")
  return()
endif()
must(${CMAKE_COMMAND} -E chdir ${build} ${CPACK} -G DEB -B ${SCRATCH}/deb)
file(GLOB package ${SCRATCH}/deb/switchyard_*.deb)
must(${dpkg_deb} --field ${package} Depends)
foreach(dependency libsystemc-dev libyaml-cpp-dev libfmt-dev libc6)
  if(NOT output MATCHES "${dependency}")
    message(FATAL_ERROR "${package} depends on ${output}")
  endif()
endforeach()
must(${dpkg_deb} --extract ${package} ${SCRATCH}/unpacked)
foreach(page man/man1/sy-sched.1 man/man1/sy-sim.1 man/man1/sy-sweep.1 bash-completion/completions/sy-sim
    zsh/vendor-completions/_sy-sim)
  if(NOT EXISTS ${SCRATCH}/unpacked/usr/share/${page})
    message(FATAL_ERROR "${package} has no ${page}")
  endif()
endforeach()
must(${CMAKE_COMMAND} -DPREFIX=${SCRATCH}/unpacked/usr -DSCRATCH=${SCRATCH}/from_package -DLIBDIR=lib ${settings}
  -P ${INSTALL_TEST})
