// SPDX-License-Identifier: Apache-2.0
// y = a * b + c: exact product of two binary16 values, added in binary32 with round to nearest even, subnormals,
// canonical NaN. Combinational.
module fp16_mac32 (
    input  logic [15:0] a_i,
    input  logic [15:0] b_i,
    input  logic [31:0] c_i,
    output logic [31:0] y_o
);

    always_comb y_o = fp16_pkg::mac32(a_i, b_i, c_i);

endmodule
