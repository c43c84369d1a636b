// SPDX-License-Identifier: Apache-2.0
// The switch allocator, iSLIP with one iteration over input and output ports. The VCs of an input that want the same output
// take turns in asking; an output grants one input, an input accepts one output. A flit that is copied also leaves by the
// other outputs that have granted it (`switch_ack_i`). Pointers move on with what moves.
`include "switchyard_assert.svh"

module switch_allocator #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 4,
    localparam int unsigned N = PORTS * VCS,
    localparam int unsigned PortWidth = $clog2(PORTS),
    localparam int unsigned VcWidth = VCS > 1 ? $clog2(VCS) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [N*PORTS-1:0] switch_req_i,      // by input VC, then output port; the others likewise
    output logic [N*PORTS-1:0] granted_o,   // to the VC that its input has chosen
    output logic [N*PORTS-1:0] accepted_o,  // the one of these that decides
    input logic [N*PORTS-1:0] switch_ack_i,
    // For observers.
    output logic [PORTS*PortWidth-1:0] grant_pointers_o,
    output logic [PORTS*PortWidth-1:0] accept_pointers_o,
    output logic [PORTS*VcWidth-1:0] turns_o
);

    logic [PORTS*PORTS-1:0] requests, grants;       // requests: by output, then input; grants: by input, then output
    logic [PORTS*PORTS*VCS-1:0] chosen, asking;     // by input, then output, then VC

    for (genvar a = 0; a < PORTS; a++) begin : gen_input
        logic [PORTS-1:0] accepted;
        logic [VCS-1:0] winner;
        for (genvar b = 0; b < PORTS; b++) begin : gen_choice
            for (genvar v = 0; v < VCS; v++) begin : gen_vc
                assign asking[VCS*(PORTS*a+b)+v] = switch_req_i[PORTS*(VCS*a+v)+b];
            end
            round_robin #(
                .WIDTH(VCS)
            ) u_turn (
                .request_i(asking[VCS*(PORTS*a+b)+:VCS]),
                .pointer_i(turns_o[VcWidth*a+:VcWidth]),
                .grant_o(chosen[VCS*(PORTS*a+b)+:VCS])
            );
            assign requests[PORTS*b+a] = asking[VCS*(PORTS*a+b)+:VCS] != '0;
        end
        round_robin #(
            .WIDTH(PORTS)
        ) u_accept (
            .request_i(grants[PORTS*a+:PORTS]),
            .pointer_i(accept_pointers_o[PortWidth*a+:PortWidth]),
            .grant_o(accepted)
        );
        for (genvar v = 0; v < VCS; v++) begin : gen_winner
            logic [PORTS-1:0] mine;
            for (genvar b = 0; b < PORTS; b++) begin : gen_port
                assign mine[b] = chosen[VCS*(PORTS*a+b)+v];
            end
            assign winner[v] = (accepted & mine) != '0;
            assign accepted_o[PORTS*(VCS*a+v)+:PORTS] = accepted & mine;
            assign granted_o[PORTS*(VCS*a+v)+:PORTS] = winner[v] ? grants[PORTS*a+:PORTS] & mine : '0;
        end
        round_robin_pointer #(
            .WIDTH(PORTS)
        ) u_accept_pointer (
            .clk_i,
            .rst_ni,
            .served_i(accepted),
            .pointer_o(accept_pointers_o[PortWidth*a+:PortWidth])
        );
        round_robin_pointer #(
            .WIDTH(VCS)
        ) u_turn_pointer (
            .clk_i,
            .rst_ni,
            .served_i(winner),
            .pointer_o(turns_o[VcWidth*a+:VcWidth])
        );
    end

    for (genvar b = 0; b < PORTS; b++) begin : gen_output
        logic [PORTS-1:0] grant, served;
        round_robin #(
            .WIDTH(PORTS)
        ) u_grant (
            .request_i(requests[PORTS*b+:PORTS]),
            .pointer_i(grant_pointers_o[PortWidth*b+:PortWidth]),
            .grant_o(grant)
        );
        for (genvar a = 0; a < PORTS; a++) begin : gen_input_of_output
            logic [VCS-1:0] moving;
            for (genvar v = 0; v < VCS; v++) begin : gen_moving
                assign moving[v] = switch_ack_i[PORTS*(VCS*a+v)+b];
            end
            assign grants[PORTS*a+b] = grant[a];
            assign served[a] = moving != '0;
        end
        round_robin_pointer #(
            .WIDTH(PORTS)
        ) u_grant_pointer (
            .clk_i,
            .rst_ni,
            .served_i(served),
            .pointer_o(grant_pointers_o[PortWidth*b+:PortWidth])
        );
    end

    `SWITCHYARD_ASSERT(acknowledges_what_is_granted, (switch_ack_i & ~granted_o) == '0)

endmodule
