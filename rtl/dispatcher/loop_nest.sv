// SPDX-License-Identifier: Apache-2.0
// The template loop nest as a state machine: visits every block of the output box once, a block a cycle, in the kernel's
// order, and nothing beyond its bounds.
//
// Positions only grow along a loop, so the first one that reaches the real bound ends the loop: what the kernel has
// beyond it costs nothing. The bounds are those of kernel_fitting and stay while `busy_o`; with an extent of 0 the nest
// is done before it begins.
`include "switchyard_assert.svh"

module loop_nest #(
    parameter int unsigned WIDTH = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic stop_i,  // forget the rest
    input logic [dispatcher_pkg::Axes*WIDTH-1:0] extents_i,
    input logic [dispatcher_pkg::Axes*WIDTH-1:0] blocks_i,
    input logic [dispatcher_pkg::Axes*dispatcher_pkg::Axes-1:0] outer_i,
    output logic busy_o,
    // The block.
    output logic valid_o,
    input logic ready_i,
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] position_o,
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] extent_o,
    output logic first_o,
    output logic last_o
);

    localparam int unsigned Axes = dispatcher_pkg::Axes;

    logic busy_q;
    logic [Axes*WIDTH-1:0] position_q;
    logic [Axes-1:0] at_end, step, first;
    logic advance;

    for (genvar a = 0; a < Axes; a++) begin : gen_axis
        logic [WIDTH-1:0] position, left, block;
        logic [Axes-1:0] inner_done;
        assign position = position_q[WIDTH*a+:WIDTH];
        assign block = blocks_i[WIDTH*a+:WIDTH];
        assign left = extents_i[WIDTH*a+:WIDTH] - position;
        assign first[a] = position == '0;
        assign at_end[a] = left <= block;
        // A loop steps when all loops inside it are at their end.
        for (genvar b = 0; b < Axes; b++) begin : gen_other
            assign inner_done[b] = !outer_i[Axes*a+b] || at_end[b];
        end
        assign step[a] = inner_done == '1;
        assign extent_o[WIDTH*a+:WIDTH] = at_end[a] ? left : block;

        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) position_q[WIDTH*a+:WIDTH] <= '0;
            else if (start_i) position_q[WIDTH*a+:WIDTH] <= '0;
            else if (advance && step[a]) position_q[WIDTH*a+:WIDTH] <= at_end[a] ? '0 : position + block;
        end
    end

    assign busy_o = busy_q;
    assign valid_o = busy_q && extents_i != '0;
    assign position_o = position_q;
    assign first_o = first == '1;
    assign last_o = at_end == '1;
    assign advance = valid_o && ready_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) busy_q <= 1'b0;
        else if (stop_i) busy_q <= 1'b0;
        else if (start_i) busy_q <= 1'b1;
        else if (busy_q && (!valid_o || (advance && last_o))) busy_q <= 1'b0;
    end

    `SWITCHYARD_ASSERT_NEXT(block_waits, valid_o && !ready_i && !stop_i,
        valid_o && position_o == $past(position_o) && extent_o == $past(extent_o))

endmodule
