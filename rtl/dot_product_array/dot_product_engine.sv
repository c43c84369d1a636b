// SPDX-License-Identifier: Apache-2.0
// A dot-product engine: INPUTS signed bytes times the weights that it keeps. The products are registered, then their sum.
module dot_product_engine #(
    parameter int unsigned INPUTS = 9,
    parameter int unsigned WIDTH = 8,
    localparam int unsigned SumWidth = 2 * WIDTH + $clog2(INPUTS + 1)
) (
    input logic clk_i,

    input logic load_i,  // keep the bytes as weights
    input logic multiply_i,
    input logic [WIDTH*INPUTS-1:0] bytes_i,

    output logic [SumWidth-1:0] sum_o  // of what was multiplied two cycles before
);

    logic [WIDTH*INPUTS-1:0] weights_q;
    logic [2*WIDTH*INPUTS-1:0] products_q;
    logic signed [SumWidth-1:0] sum_d, sum_q;

    always_ff @(posedge clk_i) begin
        if (load_i) weights_q <= bytes_i;
    end

    for (genvar i = 0; i < INPUTS; i++) begin : g_product
        logic signed [WIDTH-1:0] byte_in, weight;
        assign byte_in = bytes_i[WIDTH*i+:WIDTH];
        assign weight = weights_q[WIDTH*i+:WIDTH];
        always_ff @(posedge clk_i) begin
            if (multiply_i) products_q[2*WIDTH*i+:2*WIDTH] <= byte_in * weight;
        end
    end

    always_comb begin
        sum_d = '0;
        for (int unsigned i = 0; i < INPUTS; i++) begin
            sum_d = sum_d + SumWidth'($signed(products_q[2*WIDTH*i+:2*WIDTH]));
        end
    end

    always_ff @(posedge clk_i) sum_q <= sum_d;
    assign sum_o = sum_q;

endmodule
