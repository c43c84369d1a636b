// SPDX-License-Identifier: Apache-2.0
// A virtual channel of an output: whether a packet holds it, and the slots of the buffer behind it that are free.
`include "switchyard_assert.svh"

module output_vc #(
    parameter int unsigned DEPTH = 8,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [CountWidth-1:0] places_i,  // of the buffer behind, at most DEPTH
    input logic alloc_i,
    input logic send_i,
    input logic tail_i,    // with send_i: the packet's last flit
    input logic credit_i,  // a slot is free again
    output logic free_o,
    output logic [CountWidth-1:0] credits_o
);

    logic held_q;
    logic [CountWidth-1:0] used_q;
    assign free_o = !held_q;
    assign credits_o = places_i - used_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            held_q <= 1'b0;
            used_q <= '0;
        end else begin
            held_q <= alloc_i || (held_q && !(send_i && tail_i));
            used_q <= used_q + CountWidth'(send_i) - CountWidth'(credit_i);
        end
    end

    `SWITCHYARD_ASSERT(taken_by_one, !alloc_i || !held_q)
    `SWITCHYARD_ASSERT(sends_for_its_packet, !send_i || held_q)
    `SWITCHYARD_ASSERT(sends_where_there_is_room, !send_i || used_q < places_i)
    `SWITCHYARD_ASSERT(used_within_the_buffer, used_q <= places_i)
    `SWITCHYARD_ASSUME(credit_for_a_place_in_use, !credit_i || used_q != '0)

endmodule
