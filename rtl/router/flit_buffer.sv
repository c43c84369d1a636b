// SPDX-License-Identifier: Apache-2.0
// The buffer of a virtual channel: first in, first out. What leaves is read at any slot behind the front, since the copies
// of a multicast take a flit at different times; it is dropped when the last one has it.
`include "switchyard_assert.svh"

module flit_buffer #(
    parameter int unsigned FLIT_BITS = 32,
    parameter int unsigned DEPTH = 8,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic push_i,
    input logic [FLIT_BITS-1:0] flit_i,
    input logic drop_i,
    input logic [CountWidth-1:0] place_i,  // behind the front, less than what is held
    output logic [FLIT_BITS-1:0] flit_o,
    output logic front_is_head_o,
    output logic [CountWidth-1:0] held_o
);

    localparam int unsigned IndexWidth = DEPTH > 1 ? $clog2(DEPTH) : 1;
    logic [FLIT_BITS-1:0] data_q [DEPTH];
    logic [IndexWidth-1:0] front_q;
    logic [CountWidth-1:0] held_q;

    // Index of the slot `by` behind the front.
    function automatic logic [IndexWidth-1:0] index(input logic [IndexWidth-1:0] front, input logic [CountWidth-1:0] by);
        logic [CountWidth:0] sum;
        sum = (CountWidth + 1)'(front) + (CountWidth + 1)'(by);
        sum = sum >= (CountWidth + 1)'(DEPTH) ? sum - (CountWidth + 1)'(DEPTH) : sum;
        index = sum[IndexWidth-1:0];
    endfunction

    logic [IndexWidth-1:0] back, read;
    assign back = index(front_q, held_q);
    assign read = index(front_q, place_i);
    logic [FLIT_BITS-1:0] front;
    assign flit_o = data_q[read];
    assign front = data_q[front_q];
    assign front_is_head_o = front[router_pkg::FlitHead];
    logic unused;
    assign unused = ^front;
    assign held_o = held_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            front_q <= '0;
            held_q <= '0;
        end else begin
            if (drop_i) front_q <= index(front_q, CountWidth'(1));
            held_q <= held_q + CountWidth'(push_i) - CountWidth'(drop_i);
        end
    end

    always_ff @(posedge clk_i) begin
        if (push_i) data_q[back] <= flit_i;
    end

    `SWITCHYARD_ASSUME(push_has_room, !push_i || held_q != CountWidth'(DEPTH))
    `SWITCHYARD_ASSERT(drops_what_it_holds, !drop_i || held_q != '0)
    `SWITCHYARD_ASSERT(holds_what_it_has_room_for, held_q <= CountWidth'(DEPTH))

endmodule
