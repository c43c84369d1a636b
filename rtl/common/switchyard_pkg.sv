// SPDX-License-Identifier: Apache-2.0
// Types and constants that the blocks share.
package switchyard_pkg;

    // Values: operands are IEEE 754 binary16, accumulators binary16 or binary32 (docs/numerics.md).
    typedef logic [15:0] fp16_t;
    typedef logic [31:0] fp32_t;

    typedef enum logic {
        ACC_FP32 = 1'b0,  // exact product added in binary32
        ACC_FP16 = 1'b1   // fused multiply-add in binary16
    } acc_format_e;

endpackage
