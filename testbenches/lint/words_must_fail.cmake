# SPDX-License-Identifier: Apache-2.0
# One old word of each kind in a scratch tree: words.sh has to find each, and nothing in a good tree.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

set(violations
  "hw/tile/a.h=/// The doors of a tile."
  "docs/a.md=A hand-over unit of four samples."
  "sw_scheduler/adyna/a.cpp=int lane = 0"
  "platform/a.cpp=const unsigned kMostThings = 3"
  "rtl/router/a.sv=// as many flits as the twin"
  "configs/a.yaml=most_split_k: 3"
  "testbenches/a.cpp=std::string complaint"
  "README.md=the kernels that were picked")

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/hw/tile/a.h "/// At most four sockets, at least one doorbell; SIMD lanes.\n")
check_planted_faults(${WORDS} ${SCRATCH} "first" ${violations})
