// SPDX-License-Identifier: Apache-2.0
// vc_allocator, for any requests and any history: an output VC goes to one input VC at most, an input VC gets one at a port
// at most, of those that it asked for, that nobody holds and that are of its class; and whoever asks alone is served.
`include "switchyard_assert.svh"

module vc_allocator_properties #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 2,
    localparam int unsigned N = PORTS * VCS,
    localparam int unsigned IndexWidth = $clog2(N)
) (
    input logic clk_i,
    input logic [router_pkg::Groups*VCS-1:0] class_low_i,
    input logic [router_pkg::Groups*VCS-1:0] class_high_i,
    input logic [N-1:0] free_i,
    input logic [N*PORTS-1:0] vc_req_i,
    input logic [N*PORTS-1:0] crosses_i,
    input logic [N-1:0] control_i,
    input logic [N-1:0] copying_i,
    input logic [IndexWidth-1:0] input_i,  // any input VC, any output VC
    input logic [IndexWidth-1:0] output_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    // A packet that is not copied has one port.
    logic [N*PORTS-1:0] vc_reqs;
    for (genvar i = 0; i < N; i++) begin : gen_vc_req
        logic [PORTS-1:0] vc_req_of_input;
        assign vc_req_of_input = vc_req_i[PORTS*i+:PORTS];
        assign vc_reqs[PORTS*i+:PORTS] = copying_i[i] ? vc_req_of_input : vc_req_of_input & (~vc_req_of_input + 1'b1);
    end

    logic [N*N-1:0] grant;
    logic [N*IndexWidth-1:0] grant_pointers, accept_pointers;
    vc_allocator #(
        .PORTS(PORTS),
        .VCS(VCS)
    ) u_allocator (
        .clk_i,
        .rst_ni,
        .class_low_i,
        .class_high_i,
        .free_i,
        .vc_req_i(vc_reqs),
        .crosses_i,
        .control_i,
        .copying_i,
        .grant_o(grant),
        .grant_pointers_o(grant_pointers),
        .accept_pointers_o(accept_pointers)
    );

    // Inputs that have the output, outputs that the input has, and what it may have.
    logic [N-1:0] of_output, of_input, allowed, wanted_by_others;
    logic [IndexWidth-1:0] in, out;
    assign in = input_i < IndexWidth'(N) ? input_i : '0;
    assign out = output_i < IndexWidth'(N) ? output_i : '0;
    assign of_input = N'(grant >> (N * 32'(in)));
    for (genvar i = 0; i < N; i++) begin : gen_input
        logic [N-1:0] row;
        assign row = grant[N*i+:N];
        assign of_output[i] = row[out];
        assign wanted_by_others[i] = IndexWidth'(i) != in && vc_reqs[PORTS*i+:PORTS] != '0;
    end
    logic [PORTS-1:0] vc_req, crosses, twice;
    assign vc_req = PORTS'(vc_reqs >> (PORTS * 32'(in)));
    assign crosses = PORTS'(crosses_i >> (PORTS * 32'(in)));
    for (genvar p = 0; p < PORTS; p++) begin : gen_port
        logic [VCS-1:0] low, high, mine;
        assign low = control_i[in] ? class_low_i[VCS+:VCS] : class_low_i[0+:VCS];
        assign high = control_i[in] ? class_high_i[VCS+:VCS] : class_high_i[0+:VCS];
        assign mine = of_input[VCS*p+:VCS];
        assign twice[p] = (mine & (mine - 1'b1)) != '0;
        assign allowed[VCS*p+:VCS] = !vc_req[p] ? '0 : free_i[VCS*p+:VCS] &
            (p >= router_pkg::PortLocal ? low | high : crosses[p] ? high : low);
    end

    `SWITCHYARD_ASSERT(output_has_one_input, (of_output & (of_output - 1'b1)) == '0)
    `SWITCHYARD_ASSERT(input_has_one_output_at_a_port, twice == '0)
    `SWITCHYARD_ASSERT(gets_what_it_may_have, (of_input & ~allowed) == '0)
    `SWITCHYARD_ASSERT(is_served_alone, wanted_by_others != '0 || allowed == '0 || of_input != '0)

endmodule
