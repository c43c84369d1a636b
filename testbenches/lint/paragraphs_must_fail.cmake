# SPDX-License-Identifier: Apache-2.0
# A paragraph that is too long in a scratch tree: paragraphs.sh has to find it, and nothing in a good tree.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

string(REPEAT "word " 120 allowed)
file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/docs/a.md "${allowed}\n\n- ${allowed}\n- ${allowed}\n\n```\n${allowed}\n${allowed}\n```\n")
file(WRITE ${SCRATCH}/good/docs/results/a.md "${allowed}\n${allowed}\n")
check_planted_faults(${PARAGRAPHS} ${SCRATCH} "first"
  "docs/a.md=- ${allowed}\n  and more"
  "README.md=* ${allowed}too long"
  "docs/models/b.md=1. ${allowed}too long")
