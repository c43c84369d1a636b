// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::platform {

/// Puts the heap of a program, and what its operator new gives out (program_memory.cpp), into huge pages where the C
/// library and the kernel have them (glibc, Linux): the state of hundreds of tiles lies all over it, and an event
/// touches that of a few. Nothing happens where the address space is limited.
void use_huge_pages();

}  // namespace switchyard::platform
