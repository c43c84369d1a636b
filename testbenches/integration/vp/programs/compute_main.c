// SPDX-License-Identifier: Apache-2.0
#include "compute.h"

uint32_t results[COMPUTE_RESULTS];

int main(void) {
    compute(results);
    return 0;
}
