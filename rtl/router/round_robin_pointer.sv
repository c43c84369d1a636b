// SPDX-License-Identifier: Apache-2.0
// The pointer of a round-robin arbiter: behind the request that was served last.
`include "switchyard_assert.svh"

module round_robin_pointer #(
    parameter int unsigned WIDTH = 4,
    localparam int unsigned IndexWidth = WIDTH > 1 ? $clog2(WIDTH) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [WIDTH-1:0] served_i,  // one-hot, or nothing
    output logic [IndexWidth-1:0] pointer_o
);

    logic [IndexWidth-1:0] served, pointer_d, pointer_q;
    for (genvar b = 0; b < IndexWidth; b++) begin : gen_bit
        logic [WIDTH-1:0] with_bit;  // those whose number has it
        for (genvar i = 0; i < WIDTH; i++) begin : gen_number
            assign with_bit[i] = 1'(i >> b);
        end
        assign served[b] = (served_i & with_bit) != '0;
    end
    assign pointer_d = served == IndexWidth'(WIDTH - 1) ? '0 : served + 1'b1;
    assign pointer_o = pointer_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) pointer_q <= '0;
        else if (served_i != '0) pointer_q <= pointer_d;
    end

    `SWITCHYARD_ASSERT(serves_one, (served_i & (served_i - 1'b1)) == '0)
    `SWITCHYARD_ASSERT(points_at_a_request, pointer_q <= IndexWidth'(WIDTH - 1))

endmodule
