# SPDX-License-Identifier: Apache-2.0
# A function and a class that are too large, in a scratch tree: sizes.py has to find each, and nothing in a good tree.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

# Without semicolons, which would end elements of the list.
string(REPEAT "\n    if (x) {}" 78 body)
string(REPEAT "\n    int f(int x) const { return {x} }" 40 methods)
set(violations
  "hw/noc/a.cpp=int f(int x) {${body}\n    if (x) {}\n}"
  "platform/apps/a.h=struct A { explicit A(int x) : x_(x) {${body}\n    if (x) {}\n    }\n}"
  "sw_scheduler/base/a.h=class A : public B {${methods}\n    ~A() {}\n}")

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/hw/noc/a.cpp "int f(int x) {${body}\n}\nint g(int x) {${body}\n}\n")
file(WRITE ${SCRATCH}/good/sw_scheduler/base/a.h
  "class A : public B {${methods}\n    using H = int (*)(int);\n    int x = f(3);\n};\n")
check_planted_faults(${SIZES} ${SCRATCH} "#pragma once" ${violations})
