// SPDX-License-Identifier: Apache-2.0
// flit_buffer: what is pushed can be read once for each slot, in order, until it is dropped. The data pushed are their own
// number, so any loss, double or swap shows; DEPTH is less than what WIDTH can number.
`include "switchyard_assert.svh"

module buffer_properties #(
    parameter int unsigned WIDTH = 4,
    parameter int unsigned DEPTH = 3,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1)
) (
    input logic clk_i,
    input logic push_i,
    input logic drop_i,
    input logic [CountWidth-1:0] place_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [WIDTH-1:0] pushed_q, dropped_q, flit;
    logic [CountWidth-1:0] held;
    logic push, drop;
    assign push = push_i && held != CountWidth'(DEPTH);
    assign drop = drop_i && held != '0;
    flit_buffer #(
        .FLIT_BITS(WIDTH),
        .DEPTH(DEPTH)
    ) u_buffer (
        .clk_i,
        .rst_ni,
        .push_i(push),
        .flit_i(pushed_q),
        .drop_i(drop),
        .place_i,
        .flit_o(flit),
        .held_o(held)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            pushed_q <= '0;
            dropped_q <= '0;
        end else begin
            if (push) pushed_q <= pushed_q + 1'b1;
            if (drop) dropped_q <= dropped_q + 1'b1;
        end
    end

    `SWITCHYARD_ASSERT(reads_in_order, place_i >= held || flit == dropped_q + WIDTH'(place_i))
    `SWITCHYARD_ASSERT(holds_what_was_not_dropped, WIDTH'(held) == pushed_q - dropped_q)

endmodule
