// SPDX-License-Identifier: Apache-2.0
// Re-quantisation in integer arithmetic alone (Jacob et al., CVPR 2018): accumulator times m0 / 2^31 / 2^shift, added to a zero
// point or a residual and clamped. A result a cycle, three cycles after its accumulator.
//
// The product's high half is rounded with halves up; the shift to the right rounds halves away from zero.
module requantiser #(
    parameter int unsigned ACC_WIDTH = 32,
    parameter int unsigned WIDTH = 8,
    localparam int unsigned ShiftWidth = $clog2(ACC_WIDTH)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic valid_i,
    input logic [ACC_WIDTH-1:0] accumulator_i,  // signed
    input logic [ACC_WIDTH-1:0] multiplier_i,   // m0, signed, not negative
    input logic [ShiftWidth-1:0] shift_i,
    input logic [WIDTH-1:0] offset_i,           // signed: zero point or residual

    output logic valid_o,
    output logic [WIDTH-1:0] result_o           // signed
);

    localparam int unsigned ProductWidth = 2 * ACC_WIDTH;

    logic [2:0] valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) valid_q <= '0;
        else valid_q <= {valid_q[1:0], valid_i};
    end
    assign valid_o = valid_q[2];

    // The product, of sign-extended factors.
    logic [ProductWidth-1:0] product_q;
    logic [ShiftWidth-1:0] shift_q, shift2_q;
    logic [WIDTH-1:0] offset_q, offset2_q;
    always_ff @(posedge clk_i) begin
        product_q <= {{ACC_WIDTH{accumulator_i[ACC_WIDTH-1]}}, accumulator_i} *
            {{ACC_WIDTH{multiplier_i[ACC_WIDTH-1]}}, multiplier_i};
        shift_q <= shift_i;
        offset_q <= offset_i;
    end

    // Its high half, doubled and rounded.
    logic [ProductWidth-1:0] rounded;
    logic [ACC_WIDTH:0] high_q;
    assign rounded = product_q + (ProductWidth'(1) << (ACC_WIDTH - 2));
    always_ff @(posedge clk_i) begin
        high_q <= (ACC_WIDTH + 1)'(rounded >> (ACC_WIDTH - 1));
        shift2_q <= shift_q;
        offset2_q <= offset_q;
    end

    // The shift of the magnitude, the sign, the offset; the clamp looks at the bits above the result's.
    logic negative;
    logic [ACC_WIDTH:0] magnitude, half, shifted;
    logic [ACC_WIDTH+1:0] value;
    assign negative = high_q[ACC_WIDTH];
    assign magnitude = negative ? ~high_q + 1'b1 : high_q;
    assign half = shift2_q == '0 ? '0 : (ACC_WIDTH + 1)'(1) << (shift2_q - 1'b1);
    assign shifted = (magnitude + half) >> shift2_q;
    assign value = (negative ? ~{1'b0, shifted} + 1'b1 : {1'b0, shifted}) +
        {{(ACC_WIDTH + 2 - WIDTH){offset2_q[WIDTH-1]}}, offset2_q};
    always_ff @(posedge clk_i) begin
        if (!value[ACC_WIDTH+1] && value[ACC_WIDTH:WIDTH-1] != '0) result_o <= {1'b0, {(WIDTH - 1){1'b1}}};
        else if (value[ACC_WIDTH+1] && value[ACC_WIDTH:WIDTH-1] != '1) result_o <= {1'b1, {(WIDTH - 1){1'b0}}};
        else result_o <= value[WIDTH-1:0];
    end

endmodule
