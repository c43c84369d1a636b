// SPDX-License-Identifier: Apache-2.0
// stream_queue: what is pushed is popped once and in order. The data pushed are their own number, so any loss, double or
// swap shows; DEPTH is less than what WIDTH can number.
`include "switchyard_assert.svh"

module queue_properties #(
    parameter int unsigned WIDTH = 4,
    parameter int unsigned DEPTH = 2
) (
    input logic clk_i,
    input logic flush_i,
    input logic push_valid_i,
    input logic pop_ready_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [WIDTH-1:0] pushed_q, popped_q, popped;
    logic push_ready, pop_valid, empty;
    stream_queue #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
    ) u_queue (
        .clk_i,
        .rst_ni,
        .flush_i,
        .push_valid_i,
        .push_ready_o(push_ready),
        .push_data_i(pushed_q),
        .pop_valid_o(pop_valid),
        .pop_ready_i,
        .pop_data_o(popped),
        .empty_o(empty)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni || flush_i) begin
            pushed_q <= '0;
            popped_q <= '0;
        end else begin
            if (push_valid_i && push_ready) pushed_q <= pushed_q + 1'b1;
            if (pop_valid && pop_ready_i) popped_q <= popped_q + 1'b1;
        end
    end

    `SWITCHYARD_ASSERT(pops_in_order, !pop_valid || popped == popped_q)
    `SWITCHYARD_ASSERT(empty_means_all_popped, !empty || pushed_q == popped_q)
    `SWITCHYARD_ASSERT(takes_while_there_is_room, push_ready || pushed_q - popped_q == WIDTH'(DEPTH))
    `SWITCHYARD_ASSERT_NEXT(what_waits_stays, pop_valid && !pop_ready_i && !flush_i,
        pop_valid && popped == $past(popped))

endmodule
