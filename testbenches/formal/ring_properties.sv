// SPDX-License-Identifier: Apache-2.0
// Four routers in a ring, the smallest torus on which packets of one direction can close a circle: a row of an X-Y torus,
// eastward (westward is its mirror image). Endpoints send packets of one or two flits to any router one or two steps away,
// whenever they like, and take whatever arrives. While anything is in the ring, something moves.
`include "switchyard_assert.svh"

module ring_properties #(
    parameter int unsigned DEPTH = 1,
    parameter int unsigned LIMIT = 10,  // cycles without movement; a flit needs six at a router that waits for nothing
    localparam int unsigned Size = 4,
    localparam int unsigned Ports = 5,
    localparam int unsigned Vcs = 2,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned HeaderBits = Size + 2 * (Size + 1) + CountWidth + 2,
    localparam int unsigned FlitBits = 2 + HeaderBits + 1
) (
    input logic clk_i,
    input logic [Size-1:0] push_i,
    input logic [Size-1:0] vc_i,
    input logic [Size-1:0] tail_i,
    input logic [Size-1:0] far_i
);

    logic rst_ni = 1'b0;
    logic started_q = 1'b0;  // a cycle in reset, for the straps
    always_ff @(posedge clk_i) begin
        started_q <= 1'b1;
        rst_ni <= started_q;
    end

    localparam int unsigned West = router_pkg::PortWest;
    localparam int unsigned East = router_pkg::PortEast;
    localparam int unsigned Local = router_pkg::PortLocal;

    // By router: what leaves it to the east, and its credits for the west.
    logic [Size-1:0] east_valid, east_vc, west_credit, west_credit_vc, moves, busy;
    logic [Size*FlitBits-1:0] east_flit;
    for (genvar r = 0; r < Size; r++) begin : gen_router
        localparam int unsigned Before = (r + Size - 1) % Size;
        localparam int unsigned After = (r + 1) % Size;
        localparam int unsigned Far = (r + 2) % Size;

        // The endpoint: a packet of one flit, or two, in one VC.
        logic inside_q, vc, vc_q, push, head, tail, crosses, router_busy;
        logic [Vcs*CountWidth-1:0] used_q;
        logic [CountWidth-1:0] used;
        logic [Size-1:0] destination;
        logic [Ports-1:0] in_valid, in_vc, out_valid, out_vc, credit, credit_vc, credit_in, credit_in_vc;
        logic [Ports*FlitBits-1:0] in_flit, out_flit;
        assign vc = inside_q ? vc_q : vc_i[r];
        assign used = vc ? used_q[CountWidth+:CountWidth] : used_q[0+:CountWidth];
        assign push = push_i[r] && rst_ni && used != CountWidth'(DEPTH);
        assign head = !inside_q;
        assign tail = inside_q || tail_i[r];
        assign destination = far_i[r] ? Size'(1 << Far) : Size'(1 << After);
        assign crosses = (far_i[r] ? Far : After) < r;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                inside_q <= 1'b0;
                used_q <= '0;
            end else begin
                if (push) inside_q <= !tail;
                for (int unsigned v = 0; v < Vcs; v++)
                    used_q[CountWidth*v+:CountWidth] <= used_q[CountWidth*v+:CountWidth] +
                        CountWidth'(push && vc == 1'(v)) - CountWidth'(credit[Local] && credit_vc[Local] == 1'(v));
            end
            vc_q <= vc;
        end

        always_comb begin
            in_valid = '0;
            in_vc = '0;
            in_flit = '0;
            in_valid[West] = east_valid[Before];
            in_vc[West] = east_vc[Before];
            in_flit[FlitBits*West+:FlitBits] = east_flit[FlitBits*Before+:FlitBits];
            in_valid[Local] = push;
            in_vc[Local] = vc;
            in_flit[FlitBits*Local+:FlitBits] = {1'b0, 2'b00, CountWidth'(1), 2'b00, crosses ? destination : Size'(0),
                Size'(0), head ? destination : Size'(0), tail, head};
            credit_in = '0;
            credit_in_vc = '0;
            credit_in[East] = west_credit[After];
            credit_in_vc[East] = west_credit_vc[After];
            // What arrives is taken at once.
            credit_in[Local] = out_valid[Local];
            credit_in_vc[Local] = out_vc[Local];
        end
        router #(
            .PORTS(Ports),
            .VCS(Vcs),
            .DEPTH(DEPTH),
            .COLUMNS(Size),
            .ROWS(1),
            .PAYLOAD_BITS(1)
        ) u_router (
            .clk_i,
            .rst_ni,
            .x_i(2'(r)),
            .y_i(1'b0),
            .class_low_i(4'b0001),
            .class_high_i(4'b0010),
            .places_i(CountWidth'(DEPTH)),
            .flit_valid_i(in_valid),
            .flit_vc_i(in_vc),
            .flit_i(in_flit),
            .credit_valid_o(credit),
            .credit_vc_o(credit_vc),
            .flit_valid_o(out_valid),
            .flit_vc_o(out_vc),
            .flit_o(out_flit),
            .credit_valid_i(credit_in),
            .credit_vc_i(credit_in_vc),
            .busy_o(router_busy)
        );
        assign east_valid[r] = out_valid[East];
        assign east_vc[r] = out_vc[East];
        assign east_flit[FlitBits*r+:FlitBits] = out_flit[FlitBits*East+:FlitBits];
        assign west_credit[r] = credit[West];
        assign west_credit_vc[r] = credit_vc[West];
        assign moves[r] = out_valid != '0 || push;
        assign busy[r] = router_busy;
    end

    logic [4:0] still_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || moves != '0 || busy == '0) still_q <= '0;
        else still_q <= still_q + 1'b1;
    end
    `SWITCHYARD_ASSERT(something_moves, still_q < 5'(LIMIT))

endmodule
