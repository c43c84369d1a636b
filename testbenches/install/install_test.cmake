function(must)
  list(JOIN ARGN " " command)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${command}: status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${SCRATCH}/prefix)
string(REPLACE "|" "\\;" search_path "|${SEARCH_PATH}")
set(build ${SCRATCH}/build)
file(REMOVE_RECURSE ${SCRATCH})
must(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIGURATION} --prefix ${prefix})
must(${CMAKE_COMMAND} -S ${CONSUMER} -B ${build} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIGURATION}
  "-DCMAKE_PREFIX_PATH=${prefix}${search_path}" -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
  "-DCMAKE_CXX_FLAGS=${SANITIZE} ${COVERAGE}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
must(${CMAKE_COMMAND} --build ${build})
foreach(program read_formats use_tlm use_hw mount_chip)
  must(${build}/${program})
  message(STATUS "${program}: ${output}")
endforeach()

# The installed programs work on the installed configurations.
foreach(program sy-sched sy-sim)
  must(${prefix}/bin/${program} --help)
endforeach()
must(${prefix}/bin/sy-sched compile ${prefix}/share/switchyard/workloads/digits_skipnet.yaml
  --platform ${prefix}/share/switchyard/platforms/mini.yaml --design adyna -o ${SCRATCH}/skipnet.syk)
must(${prefix}/bin/sy-sim run --platform ${prefix}/share/switchyard/platforms/mini.yaml --image ${SCRATCH}/skipnet.syk
  --trace ${prefix}/share/switchyard/workloads/digits/skipnet/routing.jsonl --batches 2 --report ${SCRATCH}/report)
if(NOT EXISTS ${SCRATCH}/report/report.json)
  message(FATAL_ERROR "the installed sy-sim wrote no report")
endif()

# The scheduler's library drags in no SystemC.
find_program(ldd ldd)
if(ldd)
  must(${ldd} ${build}/read_formats)
  if(output MATCHES "systemc")
    message(FATAL_ERROR "a program that links Switchyard::scheduler only needs SystemC:\n${output}")
  endif()
endif()
