// SPDX-License-Identifier: Apache-2.0
/* How many words compute() writes. */
#ifndef COMPUTE_H
#define COMPUTE_H

/* NOLINTBEGIN(modernize-*,readability-*): C, not C++. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COMPUTE_RESULTS = 8 + 1 + 200 + 1 };

void compute(uint32_t* results);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-*) */

#endif
