// SPDX-License-Identifier: Apache-2.0
// The VC allocator, iSLIP with one iteration: every output VC that no packet holds grants one of the input VCs that ask for
// it; every input VC accepts one of its grants at each port where it wants one. Both go round, and a pointer moves on only
// with an accepted grant; that of an input whose packet is copied stays.
module vc_allocator #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 4,
    localparam int unsigned N = PORTS * VCS,
    localparam int unsigned IndexWidth = N > 1 ? $clog2(N) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    // VCs of each traffic class (data, control) for packets that do not and that do cross the dateline.
    input logic [router_pkg::Groups*VCS-1:0] class_low_i,
    input logic [router_pkg::Groups*VCS-1:0] class_high_i,
    input logic [N-1:0] free_i,         // by output VC: no packet holds it
    input logic [N*PORTS-1:0] vc_req_i,   // by input VC, then port
    input logic [N*PORTS-1:0] crosses_i,
    input logic [N-1:0] control_i,
    input logic [N-1:0] copying_i,
    output logic [N*N-1:0] grant_o,     // by input VC, then output VC
    // For observers.
    output logic [N*IndexWidth-1:0] grant_pointers_o,
    output logic [N*IndexWidth-1:0] accept_pointers_o
);

    // By output, then input; the last one the other way round.
    logic [N*N-1:0] granted, accepted, accepted_of_input;
    logic [N*N-1:0] not_before;  // the output does not lie before the input's pointer
    for (genvar p = 0; p < PORTS; p++) begin : gen_port
        logic [N-1:0] vc_req, low, high;  // by input: who asks; may take VCs below the dateline, and beyond it
        for (genvar i = 0; i < N; i++) begin : gen_vc_req
            assign vc_req[i] = vc_req_i[PORTS*i+p];
            // Endpoints close no ring: any VC of the traffic class.
            assign low[i] = p >= router_pkg::PortLocal || !crosses_i[PORTS*i+p];
            assign high[i] = p >= router_pkg::PortLocal || crosses_i[PORTS*i+p];
        end

        // Outputs grant.
        for (genvar v = 0; v < VCS; v++) begin : gen_output
            localparam int unsigned Output = VCS * p + v;
            logic [N-1:0] data, control, request;
            assign data = ({N{class_low_i[v]}} & low) | ({N{class_high_i[v]}} & high);
            assign control = ({N{class_low_i[VCS+v]}} & low) | ({N{class_high_i[VCS+v]}} & high);
            assign request = {N{free_i[Output]}} & vc_req & ((~control_i & data) | (control_i & control));
            round_robin #(
                .WIDTH(N)
            ) u_arbiter (
                .request_i(request),
                .pointer_i(grant_pointers_o[IndexWidth*Output+:IndexWidth]),
                .grant_o(granted[N*Output+:N])
            );
            round_robin_pointer #(
                .WIDTH(N)
            ) u_pointer (
                .clk_i,
                .rst_ni,
                .served_i(accepted[N*Output+:N]),
                .pointer_o(grant_pointers_o[IndexWidth*Output+:IndexWidth])
            );
        end

        // Inputs accept: the first VC of the port at or after their pointer, else the first one.
        logic [VCS*N-1:0] grants, later, choice;
        logic [N-1:0] any_later, candidates, chosen;
        assign grants = granted[VCS*N*p+:VCS*N];
        assign later = grants & not_before[VCS*N*p+:VCS*N];
        always_comb begin
            any_later = '0;
            for (int unsigned v = 0; v < VCS; v++) any_later |= later[N*v+:N];
            chosen = '0;
            for (int unsigned v = 0; v < VCS; v++) begin
                candidates = (any_later & later[N*v+:N]) | (~any_later & grants[N*v+:N]);
                choice[N*v+:N] = candidates & ~chosen;
                chosen |= candidates;
            end
        end
        assign accepted[VCS*N*p+:VCS*N] = choice;
    end

    for (genvar i = 0; i < N; i++) begin : gen_input
        logic [N-1:0] from_pointer, choice;
        assign from_pointer = {N{1'b1}} << accept_pointers_o[IndexWidth*i+:IndexWidth];
        for (genvar o = 0; o < N; o++) begin : gen_output_of_input
            assign not_before[N*o+i] = from_pointer[o];
            assign choice[o] = accepted[N*o+i];
        end
        assign accepted_of_input[N*i+:N] = choice;
        round_robin_pointer #(
            .WIDTH(N)
        ) u_pointer (
            .clk_i,
            .rst_ni,
            .served_i(copying_i[i] ? '0 : choice),
            .pointer_o(accept_pointers_o[IndexWidth*i+:IndexWidth])
        );
    end
    assign grant_o = accepted_of_input;

endmodule
