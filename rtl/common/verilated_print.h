/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What Verilator's run-time library prints with instead of printf() (VL_PRINTF). Included before its sources. */
int switchyard_verilated_print(const char* format, ...);
