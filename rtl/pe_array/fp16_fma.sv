// SPDX-License-Identifier: Apache-2.0
// Binary16 fused multiply-add y = a * b + c: round to nearest even, subnormals, canonical NaN. Combinational.
module fp16_fma (
    input  logic [15:0] a_i,
    input  logic [15:0] b_i,
    input  logic [15:0] c_i,
    output logic [15:0] y_o
);

    always_comb y_o = fp16_pkg::fma16(a_i, b_i, c_i);

endmodule
