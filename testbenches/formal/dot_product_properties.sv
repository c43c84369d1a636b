// SPDX-License-Identifier: Apache-2.0
// dot_product_array, for any weights and windows in any order: what leaves a row is the sum of a window and the weights that
// came in for that row last before it, r + 4 cycles after it; nothing else leaves. The weights are noted at the ports, where
// the chain of rows has no part in it.
`include "switchyard_assert.svh"

module dot_product_properties #(
    parameter int unsigned ROWS = 2,
    parameter int unsigned COLUMNS = 2,
    parameter int unsigned INPUTS = 1,
    parameter int unsigned WIDTH = 2
) (
    input logic clk_i,
    input logic [1:0] kind_i,
    input logic row_i,
    input logic [WIDTH*INPUTS*COLUMNS-1:0] bytes_i
);

    localparam int unsigned Bytes = WIDTH * INPUTS * COLUMNS;
    localparam int unsigned SumWidth = 8;

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [ROWS-1:0] valid;
    logic [SumWidth*ROWS-1:0] sums;
    dot_product_array #(
        .ROWS(ROWS),
        .COLUMNS(COLUMNS),
        .INPUTS(INPUTS),
        .WIDTH(WIDTH),
        .SUM_WIDTH(SumWidth)
    ) u_array (
        .clk_i,
        .rst_ni,
        .kind_i,
        .row_i,
        .bytes_i,
        .valid_o(valid),
        .sums_o(sums)
    );

    logic [ROWS-1:0] in_time, right, quiet;
    for (genvar r = 0; r < ROWS; r++) begin : g_row
        logic known_q;  // weights came in for this row
        logic [Bytes-1:0] weights_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) known_q <= 1'b0;
            else if (kind_i == dot_product_pkg::Weights && {31'd0, row_i} == r) begin
                known_q <= 1'b1;
                weights_q <= bytes_i;
            end
        end

        logic signed [SumWidth-1:0] sum;
        always_comb begin
            sum = '0;
            for (int unsigned i = 0; i < INPUTS * COLUMNS; i++) begin
                sum = sum + SumWidth'($signed(bytes_i[WIDTH*i+:WIDTH])) * SumWidth'($signed(weights_q[WIDTH*i+:WIDTH]));
            end
        end

        // Kind, whether the weights are known, and the sum, of the last r + 4 cycles.
        logic [r+3:0] window_q, known_then_q;
        logic [SumWidth*(r+4)-1:0] sum_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) window_q <= '0;
            else window_q <= {window_q[r+2:0], kind_i == dot_product_pkg::Window};
            known_then_q <= {known_then_q[r+2:0], known_q};
            sum_q <= {sum_q[SumWidth*(r+3)-1:0], sum};
        end

        assign in_time[r] = valid[r] == window_q[r+3];
        assign right[r] = !(valid[r] && known_then_q[r+3]) ||
            sums[SumWidth*r+:SumWidth] == sum_q[SumWidth*(r+3)+:SumWidth];
        assign quiet[r] = valid[r] || sums[SumWidth*r+:SumWidth] == '0;
    end

    `SWITCHYARD_ASSERT(a_sum_a_window, in_time == '1)
    `SWITCHYARD_ASSERT(is_the_dot_product, right == '1)
    `SWITCHYARD_ASSERT(nothing_else_leaves, quiet == '1)

endmodule
