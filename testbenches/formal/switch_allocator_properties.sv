// SPDX-License-Identifier: Apache-2.0
// switch_allocator, for any requests and any history: an output goes to one input at most, an input sends for one VC at
// most, and only what was wanted is granted; if anything is wanted, something moves.
`include "switchyard_assert.svh"

module switch_allocator_properties #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 2,
    localparam int unsigned N = PORTS * VCS
) (
    input logic clk_i,
    input logic [N*PORTS-1:0] switch_req_i,
    input logic [N*PORTS-1:0] also_i  // of what is granted beside what decides: what wants the same flit
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [N*PORTS-1:0] granted, accepted, switch_ack;
    logic [PORTS*$clog2(PORTS)-1:0] grant_pointers, accept_pointers;
    logic [PORTS-1:0] turns;
    switch_allocator #(
        .PORTS(PORTS),
        .VCS(VCS)
    ) u_allocator (
        .clk_i,
        .rst_ni,
        .switch_req_i,
        .granted_o(granted),
        .accepted_o(accepted),
        .switch_ack_i(switch_ack),
        .grant_pointers_o(grant_pointers),
        .accept_pointers_o(accept_pointers),
        .turns_o(turns)
    );
    assign switch_ack = accepted | (granted & also_i);

    logic [PORTS-1:0] output_twice, input_twice, decides_twice;
    for (genvar b = 0; b < PORTS; b++) begin : gen_output
        logic [N-1:0] users;
        for (genvar i = 0; i < N; i++) begin : gen_user
            assign users[i] = switch_ack[PORTS*i+b];
        end
        assign output_twice[b] = (users & (users - 1'b1)) != '0;
    end
    for (genvar a = 0; a < PORTS; a++) begin : gen_input
        logic [VCS-1:0] users;
        logic [VCS*PORTS-1:0] decides;
        for (genvar v = 0; v < VCS; v++) begin : gen_vc
            assign users[v] = switch_ack[PORTS*(VCS*a+v)+:PORTS] != '0;
        end
        assign decides = accepted[PORTS*VCS*a+:PORTS*VCS];
        assign input_twice[a] = (users & (users - 1'b1)) != '0;
        assign decides_twice[a] = (decides & (decides - 1'b1)) != '0;
    end

    `SWITCHYARD_ASSERT(output_takes_one_flit, output_twice == '0)
    `SWITCHYARD_ASSERT(input_sends_for_one_vc, input_twice == '0)
    `SWITCHYARD_ASSERT(one_grant_decides, decides_twice == '0)
    `SWITCHYARD_ASSERT(grants_what_is_wanted, ((granted | accepted) & ~switch_req_i) == '0)
    `SWITCHYARD_ASSERT(somebody_moves, switch_req_i == '0 || accepted != '0)

endmodule
