// SPDX-License-Identifier: Apache-2.0
// A lane's operand CYCLES cycles late.
module skew #(
    parameter int unsigned WIDTH = 16,
    parameter int unsigned CYCLES = 1
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    input  logic [WIDTH-1:0] data_i,
    output logic             valid_o,
    output logic [WIDTH-1:0] data_o
);

    generate
        if (CYCLES == 0) begin : g_wire
            logic unused;
            assign unused = &{1'b0, clk_i, rst_ni};
            assign valid_o = valid_i;
            assign data_o = data_i;
        end else begin : g_delay
            logic [CYCLES-1:0]       valid_q;
            logic [CYCLES*WIDTH-1:0] data_q;

            always_ff @(posedge clk_i or negedge rst_ni) begin
                if (!rst_ni) valid_q <= '0;
                else valid_q <= CYCLES'({valid_q, valid_i});
            end
            always_ff @(posedge clk_i) data_q <= (CYCLES * WIDTH)'({data_q, data_i});

            assign valid_o = valid_q[CYCLES-1];
            assign data_o = data_q[(CYCLES-1)*WIDTH+:WIDTH];
        end
    endgenerate

endmodule
