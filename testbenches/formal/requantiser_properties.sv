// SPDX-License-Identifier: Apache-2.0
// requantiser, of small widths, for all accumulators, multipliers, shifts and offsets: a result three cycles after each
// accumulator; it is the nearest integer to what the rounded high half of the product is over 2^shift, halves away from zero,
// plus the offset, clamped. Told by inequalities, not by shifts.
`include "switchyard_assert.svh"

module requantiser_properties #(
    parameter int unsigned ACC_WIDTH = 5,
    parameter int unsigned WIDTH = 3
) (
    input logic clk_i,
    input logic valid_i,
    input logic [ACC_WIDTH-1:0] accumulator_i,
    input logic [ACC_WIDTH-1:0] multiplier_i,
    input logic [$clog2(ACC_WIDTH)-1:0] shift_i,
    input logic [WIDTH-1:0] offset_i
);

    localparam int unsigned Wide = 2 * ACC_WIDTH + 10;
    localparam int unsigned ShiftWidth = $clog2(ACC_WIDTH);
    localparam logic signed [Wide-1:0] Half = Wide'(1) << (ACC_WIDTH - 2);
    localparam logic signed [Wide-1:0] Max = (Wide'(1) << (WIDTH - 1)) - 1;

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic valid;
    logic [WIDTH-1:0] result;
    requantiser #(
        .ACC_WIDTH(ACC_WIDTH),
        .WIDTH(WIDTH)
    ) u_requantiser (
        .clk_i,
        .rst_ni,
        .valid_i,
        .accumulator_i,
        .multiplier_i,
        .shift_i,
        .offset_i,
        .valid_o(valid),
        .result_o(result)
    );

    `SWITCHYARD_ASSUME(multiplier_is_positive, !multiplier_i[ACC_WIDTH-1])

    logic [2:0] valid_q;
    logic [3*ACC_WIDTH-1:0] accumulator_q, multiplier_q;
    logic [3*ShiftWidth-1:0] shift_q;
    logic [3*WIDTH-1:0] offset_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) valid_q <= '0;
        else valid_q <= {valid_q[1:0], valid_i};
        accumulator_q <= {accumulator_q[2*ACC_WIDTH-1:0], accumulator_i};
        multiplier_q <= {multiplier_q[2*ACC_WIDTH-1:0], multiplier_i};
        shift_q <= {shift_q[2*ShiftWidth-1:0], shift_i};
        offset_q <= {offset_q[2*WIDTH-1:0], offset_i};
    end
    logic signed [Wide-1:0] product, high, value, offset, unit, distance;
    logic [ShiftWidth-1:0] shift;
    assign shift = shift_q[2*ShiftWidth+:ShiftWidth];
    assign product = Wide'($signed(accumulator_q[2*ACC_WIDTH+:ACC_WIDTH])) * Wide'($signed(multiplier_q[2*ACC_WIDTH+:ACC_WIDTH]));
    assign high = (product + Half) >>> (ACC_WIDTH - 1);
    assign offset = Wide'($signed(offset_q[2*WIDTH+:WIDTH]));
    assign value = Wide'($signed(result)) - offset;
    assign unit = Wide'(1) << shift;
    // Twice the distance between the scaled result and the high half.
    assign distance = 2 * (value * unit - high);

    logic low_end, high_end;
    assign high_end = Wide'($signed(result)) == Max;
    assign low_end = Wide'($signed(result)) == -Max - 1;

    `SWITCHYARD_ASSERT(a_result_an_accumulator, valid == valid_q[2])
    `SWITCHYARD_ASSERT(not_too_low, !valid || high_end || distance > -unit || (distance == -unit && high < 0))
    `SWITCHYARD_ASSERT(not_too_high, !valid || low_end || distance < unit || (distance == unit && high > 0))

endmodule
