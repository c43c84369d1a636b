// SPDX-License-Identifier: Apache-2.0
// input_vc, with any packets, any arbiters, any credits and any free VCs: every branch of a packet sends all its flits, once
// and in order, and a flit is dropped when the last branch has it. The router stands in the middle of a row of three; all
// packets go to the same outputs, any of the west, east and local one: copied if those are several. Flits carry their
// number. Packets for one output have any length, the others two flits.
//
// The allocators' proofs show that an output takes one flit a cycle; from there to the pins there are only registers.
`include "switchyard_assert.svh"

module input_vc_properties #(
    parameter int unsigned DEPTH = 2,
    parameter int unsigned ROUTING_CYCLES = 1,
    parameter int unsigned VC_ALLOC_CYCLES = 1,
    parameter int unsigned SWITCH_ALLOC_CYCLES = 1,
    localparam int unsigned Ports = 5,
    localparam int unsigned Columns = 3,
    localparam int unsigned NumberWidth = 3,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned FlitBits = 2 + Columns + 2 * (Columns + 1) + CountWidth + 2 + NumberWidth
) (
    input logic clk_i,
    input logic [Columns-1:0] destinations_i,  // taken in the first cycle
    input logic push_i,
    input logic tail_i,
    input logic [Ports-1:0] vc_grant_i,
    input logic [Ports-1:0] free_i,
    input logic [Ports*CountWidth-1:0] credits_i,
    input logic [Ports-1:0] granted_i,
    input logic [Ports-1:0] accepted_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [Columns-1:0] destinations_q;
    logic multicast;
    logic [Ports-1:0] route;
    always_ff @(posedge clk_i) if (!rst_ni) destinations_q <= destinations_i == '0 ? Columns'(1) : destinations_i;
    assign multicast = (destinations_q & (destinations_q - 1'b1)) != '0;
    always_comb begin
        route = '0;
        route[router_pkg::PortWest] = destinations_q[0];
        route[router_pkg::PortLocal] = destinations_q[1];
        route[router_pkg::PortEast] = destinations_q[2];
    end

    logic inside_q, push, drop, head, tail;
    logic [CountWidth-1:0] held;
    logic [NumberWidth-1:0] came_q, dropped_q, number;
    logic [Ports-1:0] vc_req, crosses, switch_req, granted, accepted, switch_ack, sends, vc_ack, outputs;
    logic [FlitBits-1:0] flit;
    logic control, copying;
    assign push = push_i && held != CountWidth'(DEPTH);
    assign head = !inside_q;
    assign tail = multicast ? inside_q : tail_i;
    // Arbiters choose of what is asked.
    assign granted = granted_i & switch_req;
    assign accepted = accepted_i & granted & (~(accepted_i & granted) + 1'b1);
    input_vc #(
        .PORTS(Ports),
        .VCS(1),
        .DEPTH(DEPTH),
        .COLUMNS(Columns),
        .ROWS(1),
        .FLIT_BITS(FlitBits),
        .ROUTING_CYCLES(ROUTING_CYCLES),
        .VC_ALLOC_CYCLES(VC_ALLOC_CYCLES),
        .SWITCH_ALLOC_CYCLES(SWITCH_ALLOC_CYCLES)
    ) u_vc (
        .clk_i,
        .rst_ni,
        .x_i(2'd1),
        .y_i(1'b0),
        .push_i(push),
        .flit_i({came_q, 1'b0, multicast, CountWidth'(2), 2'b00, Columns'(0), Columns'(1), destinations_q, tail, head}),
        .drop_o(drop),
        .vc_req_o(vc_req),
        .crosses_o(crosses),
        .control_o(control),
        .copying_o(copying),
        .vc_grant_i(vc_grant_i & vc_req),
        .free_i,
        .vc_ack_o(vc_ack),
        .credits_i,
        .switch_req_o(switch_req),
        .granted_i(granted),
        .accepted_i(accepted),
        .switch_ack_o(switch_ack),
        .sends_o(sends),
        .outputs_o(outputs),
        .flit_o(flit),
        .held_o(held)
    );
    assign number = flit[FlitBits-1-:NumberWidth];

    // By port, the number of the flit that it has to send next.
    logic [Ports*NumberWidth-1:0] next_q;
    logic [Ports-1:0] wrong, ahead, behind;
    for (genvar p = 0; p < Ports; p++) begin : gen_port
        logic [NumberWidth-1:0] next, sent;
        assign next = next_q[NumberWidth*p+:NumberWidth];
        assign sent = next - dropped_q;
        assign wrong[p] = sends[p] && number != next;
        assign ahead[p] = route[p] && sent > NumberWidth'(held);  // a branch has sent what is not there
        assign behind[p] = drop && route[p] && sent == '0 && !sends[p];
        always_ff @(posedge clk_i) begin
            if (!rst_ni) next_q[NumberWidth*p+:NumberWidth] <= '0;
            else if (sends[p]) next_q[NumberWidth*p+:NumberWidth] <= next + 1'b1;
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            inside_q <= 1'b0;
            came_q <= '0;
            dropped_q <= '0;
        end else begin
            if (push) inside_q <= !tail;
            if (push) came_q <= came_q + 1'b1;
            if (drop) dropped_q <= dropped_q + 1'b1;
        end
    end

    `SWITCHYARD_ASSERT(sends_in_order, wrong == '0)
    `SWITCHYARD_ASSERT(sends_once, ahead == '0)
    `SWITCHYARD_ASSERT(drops_nothing_unsent, behind == '0)
    `SWITCHYARD_ASSERT(goes_where_it_should, (sends & ~route) == '0)
    `SWITCHYARD_ASSERT(buffer_has_the_rest, NumberWidth'(held) == came_q - dropped_q)

endmodule
