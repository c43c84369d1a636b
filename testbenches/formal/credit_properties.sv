// SPDX-License-Identifier: Apache-2.0
// output_vc, a link and flit_buffer in a loop, with any latency of the link and of the credits up to what they hold: a
// flit finds a free slot, and no credit is lost or doubled. What the two blocks assume of each other is asserted here.
`include "switchyard_assert.svh"

module credit_properties #(
    parameter int unsigned DEPTH = 3,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1)
) (
    input logic clk_i,
    input logic [CountWidth-1:0] places_i,  // of the buffer that are used; taken in the first cycle
    input logic alloc_i,
    input logic send_i,
    input logic tail_i,
    input logic arrive_i,         // one of the flits on the link
    input logic drop_i,
    input logic credit_arrive_i,  // one of the credits on their wire
    input logic flit_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [CountWidth-1:0] places_q, credits, held, flits_q, returning_q;
    always_ff @(posedge clk_i) if (!rst_ni) places_q <= places_i > CountWidth'(DEPTH) ? CountWidth'(DEPTH) : places_i;

    logic free, alloc, send, arrive, drop, credit_arrive, flit;
    assign alloc = alloc_i && free;
    assign send = send_i && !free && credits != '0;
    assign arrive = arrive_i && flits_q != '0;
    assign drop = drop_i && held != '0;
    assign credit_arrive = credit_arrive_i && returning_q != '0;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            flits_q <= '0;
            returning_q <= '0;
        end else begin
            flits_q <= flits_q + CountWidth'(send) - CountWidth'(arrive);
            returning_q <= returning_q + CountWidth'(drop) - CountWidth'(credit_arrive);
        end
    end

    output_vc #(
        .DEPTH(DEPTH)
    ) u_output (
        .clk_i,
        .rst_ni,
        .places_i(places_q),
        .alloc_i(alloc),
        .send_i(send),
        .tail_i,
        .credit_i(credit_arrive),
        .free_o(free),
        .credits_o(credits)
    );
    flit_buffer #(
        .FLIT_BITS(1),
        .DEPTH(DEPTH)
    ) u_buffer (
        .clk_i,
        .rst_ni,
        .push_i(arrive),
        .flit_i,
        .drop_i(drop),
        .place_i('0),
        .flit_o(flit),
        .held_o(held)
    );

    // Each slot of the buffer is a credit, a flit on the link, a flit held or a credit on its way back.
    `SWITCHYARD_ASSERT(places_are_conserved,
        32'(credits) + 32'(flits_q) + 32'(held) + 32'(returning_q) == 32'(places_q))

endmodule
