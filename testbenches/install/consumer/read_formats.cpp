// SPDX-License-Identifier: Apache-2.0
// Writes a kernel record and reads it back with nothing but the scheduler's library.
#include <switchyard/sw_scheduler/adyna/image/kernel.h>

#include <cstdio>

int main() {
    switchyard::Kernel kernel;
    kernel.total[static_cast<unsigned>(switchyard::Dim::n)] = 24;
    const switchyard::KernelBytes bytes = switchyard::encode(kernel);
    const auto dyn_dim = switchyard::decode_kernel(bytes.data()).dyn_dim();
    std::printf("dyn_dim %u\n", static_cast<unsigned>(dyn_dim));
    return dyn_dim == 24 ? 0 : 1;
}
