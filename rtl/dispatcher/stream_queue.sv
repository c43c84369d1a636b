// SPDX-License-Identifier: Apache-2.0
// First-in first-out queue between two ready/valid ports. What is pushed into an empty queue can leave in the same
// cycle; `push_ready_o` does not depend on `pop_ready_i`, so that no path runs back through it.
`include "switchyard_assert.svh"

module stream_queue #(
    parameter int unsigned WIDTH = 8,
    parameter int unsigned DEPTH = 2,  // a power of two
    localparam int unsigned IndexWidth = $clog2(DEPTH)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic push_valid_i,
    output logic push_ready_o,
    input logic [WIDTH-1:0] push_data_i,
    output logic pop_valid_o,
    input logic pop_ready_i,
    output logic [WIDTH-1:0] pop_data_o,
    output logic empty_o
);

    logic [WIDTH-1:0] data_q [DEPTH];
    logic [IndexWidth-1:0] head_q, tail_q;
    logic [IndexWidth:0] used_q;
    logic push, pop, through;

    assign empty_o = used_q == '0;
    assign push_ready_o = used_q != (IndexWidth + 1)'(DEPTH);
    assign pop_valid_o = !empty_o || push_valid_i;
    assign pop_data_o = empty_o ? push_data_i : data_q[head_q];
    assign through = empty_o && push_valid_i && pop_ready_i;
    assign push = push_valid_i && push_ready_o && !through;
    assign pop = !empty_o && pop_ready_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            head_q <= '0;
            tail_q <= '0;
            used_q <= '0;
        end else if (flush_i) begin
            head_q <= '0;
            tail_q <= '0;
            used_q <= '0;
        end else begin
            if (push) tail_q <= tail_q + 1'b1;
            if (pop) head_q <= head_q + 1'b1;
            used_q <= used_q + (IndexWidth + 1)'(push) - (IndexWidth + 1)'(pop);
        end
    end

    always_ff @(posedge clk_i) begin
        if (push) data_q[tail_q] <= push_data_i;
    end

    `SWITCHYARD_ASSERT(queue_holds_what_it_has_room_for, used_q <= (IndexWidth + 1)'(DEPTH))

endmodule
