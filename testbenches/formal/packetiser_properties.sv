// SPDX-License-Identifier: Apache-2.0
// packetiser, for packets of any length, any waiting and any credits: the flits hold header and payload byte by byte, zeros
// behind them, first flit and last flit are marked, there are as many as needed, never more on their way than slots, and
// none waits while there is a free slot.
`include "switchyard_assert.svh"

module packetiser_properties #(
    parameter int unsigned FLIT_BYTES = 4,
    parameter int unsigned HEADER_BYTES = 1,
    parameter int unsigned DEPTH = 2,
    parameter int unsigned LENGTH_WIDTH = 4,
    localparam int unsigned Vcs = 2,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1)
) (
    input logic clk_i,
    input logic packet_valid_i,
    input logic [LENGTH_WIDTH-1:0] packet_bytes_i,
    input logic packet_vc_i,
    input logic word_valid_i,
    input logic credit_valid_i,
    input logic credit_vc_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    // The payload's bytes are their own number, from 1; the header is made of 0x80.
    logic packet_ready, word_ready, flit_valid, flit_vc, head, tail, busy_q, vc_q, credit;
    logic [8*FLIT_BYTES-1:0] word, flit;
    logic [LENGTH_WIDTH:0] bytes_q, sent_q, fed_q;
    logic [Vcs*CountWidth-1:0] used_q;
    packetiser #(
        .FLIT_BYTES(FLIT_BYTES),
        .HEADER_BYTES(HEADER_BYTES),
        .VCS(Vcs),
        .DEPTH(DEPTH),
        .LENGTH_WIDTH(LENGTH_WIDTH)
    ) u_packetiser (
        .clk_i,
        .rst_ni,
        .packet_valid_i,
        .packet_ready_o(packet_ready),
        .packet_header_i({HEADER_BYTES{8'h80}}),
        .packet_bytes_i,
        .packet_vc_i,
        .word_valid_i,
        .word_ready_o(word_ready),
        .word_i(word),
        .flit_valid_o(flit_valid),
        .flit_vc_o(flit_vc),
        .flit_head_o(head),
        .flit_tail_o(tail),
        .flit_o(flit),
        .credit_valid_i(credit),
        .credit_vc_i
    );
    assign credit = credit_valid_i && (credit_vc_i ? used_q[CountWidth+:CountWidth] : used_q[0+:CountWidth]) != '0;

    logic [FLIT_BYTES-1:0] wrong;
    for (genvar b = 0; b < FLIT_BYTES; b++) begin : gen_byte
        logic [LENGTH_WIDTH:0] place;
        assign word[8*b+:8] = 8'(fed_q) + 8'(b + 1);
        assign place = sent_q + (LENGTH_WIDTH + 1)'(b);
        assign wrong[b] = flit[8*b+:8] != (place < (LENGTH_WIDTH + 1)'(HEADER_BYTES) ? 8'h80 :
            place < bytes_q + (LENGTH_WIDTH + 1)'(HEADER_BYTES) ? 8'(place) - 8'(HEADER_BYTES - 1) : 8'h00);
    end

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
            used_q <= '0;
        end else begin
            if (packet_valid_i && packet_ready) busy_q <= 1'b1;
            else if (flit_valid && tail) busy_q <= 1'b0;
            for (int unsigned v = 0; v < Vcs; v++)
                used_q[CountWidth*v+:CountWidth] <= used_q[CountWidth*v+:CountWidth] +
                    CountWidth'(flit_valid && flit_vc == 1'(v)) - CountWidth'(credit && credit_vc_i == 1'(v));
        end
        if (packet_valid_i && packet_ready) begin
            bytes_q <= {1'b0, packet_bytes_i};
            vc_q <= packet_vc_i;
            sent_q <= '0;
            fed_q <= '0;
        end else begin
            if (flit_valid) sent_q <= sent_q + (LENGTH_WIDTH + 1)'(FLIT_BYTES);
            if (word_valid_i && word_ready) fed_q <= fed_q + (LENGTH_WIDTH + 1)'(FLIT_BYTES);
        end
    end

    `SWITCHYARD_ASSERT(one_packet_at_a_time, packet_ready == !busy_q && (!flit_valid || busy_q))
    `SWITCHYARD_ASSERT(carries_every_byte, !flit_valid || wrong == '0)
    `SWITCHYARD_ASSERT(marks_head_and_tail, !flit_valid || (head == (sent_q == '0) && flit_vc == vc_q &&
        tail == (sent_q + (LENGTH_WIDTH + 1)'(FLIT_BYTES) >= bytes_q + (LENGTH_WIDTH + 1)'(HEADER_BYTES))))
    `SWITCHYARD_ASSERT(takes_the_whole_payload, !(flit_valid && tail) ||
        fed_q + (word_ready ? (LENGTH_WIDTH + 1)'(FLIT_BYTES) : '0) >= bytes_q)
    logic all_used;
    assign all_used = (vc_q ? used_q[CountWidth+:CountWidth] : used_q[0+:CountWidth]) == CountWidth'(DEPTH);
    `SWITCHYARD_ASSERT(uses_every_credit, !busy_q || flit_valid || all_used || (fed_q < bytes_q && !word_valid_i))
    `SWITCHYARD_ASSERT(sends_on_credit, used_q[0+:CountWidth] <= CountWidth'(DEPTH) &&
        used_q[CountWidth+:CountWidth] <= CountWidth'(DEPTH))

endmodule
