// SPDX-License-Identifier: Apache-2.0
// The arithmetic of fp16_pkg in one model: both units and narrow().
module fp_units (
    input  logic [15:0] a_i,
    input  logic [15:0] b_i,
    input  logic [15:0] c16_i,
    input  logic [31:0] c32_i,
    output logic [15:0] y16_o,
    output logic [31:0] y32_o,
    output logic [15:0] narrow_o
);

    fp16_fma u_fma (.a_i, .b_i, .c_i(c16_i), .y_o(y16_o));
    fp16_mac32 u_mac32 (.a_i, .b_i, .c_i(c32_i), .y_o(y32_o));
    always_comb narrow_o = fp16_pkg::narrow(c32_i);

endmodule
