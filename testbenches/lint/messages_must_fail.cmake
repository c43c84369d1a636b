# SPDX-License-Identifier: Apache-2.0
# One message of each kind without `expected X, found Y` in a scratch tree: messages.py has to find each, and nothing in a
# good tree.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

set(violations
  "platform/apps/a.cpp=throw InputError(path, 0, \"key\", \"is not there\")"
  "platform/apps/b.cpp=throw InputError(path, 0, \"key\", \"expected a number here\")"
  "platform/system/c.cpp=reader.fail(\"key\", fmt::format(\"wants {} numbers\", count))"
  "platform/system/a.cpp=throw std::runtime_error(\"the file \" + path + \" is bad\")"
  "platform/chip/a.cpp=fail_at(line, \"key\", \"is a second one\")"
  "platform/characterisation/a.cpp=throw std::invalid_argument(\"not a good number\")"
  "sw_scheduler/base/a.h=throw Infeasible(file, 0, \"\", \"does not fit\")"
  "platform/system/b.cpp=SC_REPORT_ERROR(\"id\", \"a bad thing\")")

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/platform/apps/a.cpp
  "throw InputError(path, 0, \"key\", \"expected a number, found text\")\n"
  "throw InputError(path, 0, \"key\", not_one_of(word, known))\n"
  "throw InputError(path, 0, \"\", \"cannot be read: \" + reason)\n"
  "throw std::logic_error(\"a bad state\")\n"
  "throw InputError(path, 0, key, message)\n"
  "// throw InputError(\"is not there\")\n")
check_planted_faults(${MESSAGES} ${SCRATCH} "first" ${violations})
