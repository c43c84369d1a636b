// SPDX-License-Identifier: Apache-2.0
// Cuts a packet into flits for a router's port: `header_i` first, then the payload bytes, a flit a word of FLIT_BYTES, as
// many as ceil((HEADER_BYTES + bytes) / FLIT_BYTES). The payload comes in words of FLIT_BYTES from its first byte on; the
// header shifts it, so that a flit has the end of one word and the beginning of the next. Bytes behind the last one are 0.
//
// One VC a packet, which the command names; a flit leaves while that VC has credits.
`include "switchyard_assert.svh"

module packetiser #(
    parameter int unsigned FLIT_BYTES = 8,
    parameter int unsigned HEADER_BYTES = 4,  // less than a flit
    parameter int unsigned VCS = 2,
    parameter int unsigned DEPTH = 8,  // slots of a VC's buffer in the router
    parameter int unsigned LENGTH_WIDTH = 16,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned VcWidth = VCS > 1 ? $clog2(VCS) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic packet_valid_i,
    output logic packet_ready_o,
    input logic [8*HEADER_BYTES-1:0] packet_header_i,
    input logic [LENGTH_WIDTH-1:0] packet_bytes_i,
    input logic [VcWidth-1:0] packet_vc_i,

    input logic word_valid_i,
    output logic word_ready_o,
    input logic [8*FLIT_BYTES-1:0] word_i,

    output logic flit_valid_o,
    output logic [VcWidth-1:0] flit_vc_o,
    output logic flit_head_o,
    output logic flit_tail_o,
    output logic [8*FLIT_BYTES-1:0] flit_o,
    input logic credit_valid_i,
    input logic [VcWidth-1:0] credit_vc_i
);

    localparam int unsigned RoomBytes = FLIT_BYTES - HEADER_BYTES;  // for payload in the first flit
    localparam int unsigned CarryBits = 8 * HEADER_BYTES;

    logic busy_q, head_q, needs_word, credit, send, last;
    logic [CarryBits-1:0] carry_q;               // what the next flit begins with: header, or the end of a word
    logic [LENGTH_WIDTH:0] left_q, word_left_q;  // bytes: of header and payload to be sent, of payload to come in
    logic [VcWidth-1:0] vc_q;
    logic [VCS*CountWidth-1:0] used_q;

    always_comb begin
        credit = 1'b0;
        for (int unsigned v = 0; v < VCS; v++)
            if (vc_q == VcWidth'(v)) credit = used_q[CountWidth*v+:CountWidth] != CountWidth'(DEPTH);
    end
    assign needs_word = word_left_q != '0;
    assign last = left_q <= (LENGTH_WIDTH + 1)'(FLIT_BYTES);
    assign send = busy_q && credit && (!needs_word || word_valid_i);
    assign packet_ready_o = !busy_q;
    assign word_ready_o = send && needs_word;

    // The flit, with zeros behind the packet's end.
    logic [8*FLIT_BYTES-1:0] full, word;
    assign word = needs_word ? word_i : '0;
    assign full = {word[8*RoomBytes-1:0], carry_q};
    for (genvar b = 0; b < FLIT_BYTES; b++) begin : gen_byte
        assign flit_o[8*b+:8] = left_q > (LENGTH_WIDTH + 1)'(b) ? full[8*b+:8] : '0;
    end
    assign flit_valid_o = send;
    assign flit_vc_o = vc_q;
    assign flit_head_o = head_q;
    assign flit_tail_o = last;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
            head_q <= 1'b0;
            left_q <= '0;
            word_left_q <= '0;
            used_q <= '0;
        end else begin
            if (packet_valid_i && packet_ready_o) begin
                busy_q <= 1'b1;
                head_q <= 1'b1;
                left_q <= (LENGTH_WIDTH + 1)'(packet_bytes_i) + (LENGTH_WIDTH + 1)'(HEADER_BYTES);
                word_left_q <= {1'b0, packet_bytes_i};
            end else if (send) begin
                busy_q <= !last;
                head_q <= 1'b0;
                left_q <= last ? '0 : left_q - (LENGTH_WIDTH + 1)'(FLIT_BYTES);
                word_left_q <= word_left_q <= (LENGTH_WIDTH + 1)'(FLIT_BYTES) ? '0
                                                                             : word_left_q - (LENGTH_WIDTH + 1)'(FLIT_BYTES);
            end
            for (int unsigned v = 0; v < VCS; v++)
                used_q[CountWidth*v+:CountWidth] <= used_q[CountWidth*v+:CountWidth] +
                    CountWidth'(send && vc_q == VcWidth'(v)) - CountWidth'(credit_valid_i && credit_vc_i == VcWidth'(v));
        end
    end
    always_ff @(posedge clk_i) begin
        if (packet_valid_i && packet_ready_o) begin
            vc_q <= packet_vc_i;
            carry_q <= packet_header_i;
        end else if (send) begin
            carry_q <= word[8*FLIT_BYTES-1:8*RoomBytes];
        end
    end

    `SWITCHYARD_ASSERT(sends_something, !busy_q || left_q != '0)
    `SWITCHYARD_ASSERT(payload_is_part_of_the_packet, word_left_q <= left_q)

endmodule
