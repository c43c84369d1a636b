// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/kernel.h"

namespace switchyard::testing {

/// `bytes` with the checksum that goes with them.
KernelBytes sealed(KernelBytes bytes);

/// A kernel with 16-bit fields of any size that obeys the template's rules and makes few blocks: what toggles wires.
Kernel wide_kernel(std::mt19937& random);

/// `kernel`, made for one unit of samples, as a kernel of several units: as many as the field of n has room for, at
/// most.
void add_units(Kernel& kernel, std::mt19937& random);

/// Fields of any value that the format allows; hardly one obeys the template's rules.
Kernel wild_kernel(std::mt19937& random);

/// One kernel for each way in which the format can be broken, checksum aside.
std::vector<KernelBytes> malformed_kernels();
/// One kernel for each rule of the template, which it breaks.
std::vector<Kernel> faulty_kernels();

/// A kernel of `dyn_dim` samples with one output each.
Kernel smallest_kernel(unsigned dyn_dim);

}  // namespace switchyard::testing
