// SPDX-License-Identifier: Apache-2.0
// round_robin with its pointer: grants one of the requests if there is one, and whoever keeps asking is served after at
// most WIDTH - 1 others.
`include "switchyard_assert.svh"

module arbiter_properties #(
    parameter int unsigned WIDTH = 5,
    localparam int unsigned IndexWidth = $clog2(WIDTH)
) (
    input logic clk_i,
    input logic [WIDTH-1:0] request_i,
    input logic serve_i  // what is granted is also served
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [WIDTH-1:0] grant, served;
    logic [IndexWidth-1:0] pointer;
    round_robin #(
        .WIDTH(WIDTH)
    ) u_arbiter (
        .request_i,
        .pointer_i(pointer),
        .grant_o(grant)
    );
    assign served = serve_i ? grant : '0;
    round_robin_pointer #(
        .WIDTH(WIDTH)
    ) u_pointer (
        .clk_i,
        .rst_ni,
        .served_i(served),
        .pointer_o(pointer)
    );

    // How often others were served since request 0 has stood there.
    logic [IndexWidth:0] others_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !request_i[0] || served[0]) others_q <= '0;
        else if (served != '0) others_q <= others_q + 1'b1;
    end

    `SWITCHYARD_ASSERT(grants_one, (grant & (grant - 1'b1)) == '0)
    `SWITCHYARD_ASSERT(grants_a_request, (grant & ~request_i) == '0 && (grant != '0) == (request_i != '0))
    `SWITCHYARD_ASSERT(nobody_starves, others_q < (IndexWidth + 1)'(WIDTH))
    // What makes it inductive: only those between where the pointer was and request 0 go first.
    `SWITCHYARD_ASSERT(pointer_moves_towards_it, pointer == '0 || others_q == '0 || others_q < (IndexWidth + 1)'(pointer))

endmodule
