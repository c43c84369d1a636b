// SPDX-License-Identifier: Apache-2.0
// The compute array of SushiAccel (MLSys 2023, section 4.2.1): ROWS x COLUMNS dot-product engines.
//
// Weights and windows take the same inputs, INPUTS bytes a column and cycle, and are stored and forwarded from row to row.
// Weights stay in the row that `row_i` names. A window is multiplied in every row by the weights that came in for this row
// last; the adder tree of the row adds up the sums of its engines. The sum leaves row r in the cycle r + 4 after the one in
// which the window came in.
`include "switchyard_assert.svh"

module dot_product_array #(
    parameter int unsigned ROWS = 12,
    parameter int unsigned COLUMNS = 12,
    parameter int unsigned INPUTS = 9,
    parameter int unsigned WIDTH = 8,
    parameter int unsigned SUM_WIDTH = 32,
    localparam int unsigned RowWidth = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [1:0] kind_i,  // dot_product_pkg::kind_e
    input logic [RowWidth-1:0] row_i,
    input logic [WIDTH*INPUTS*COLUMNS-1:0] bytes_i,

    output logic [ROWS-1:0] valid_o,
    output logic [SUM_WIDTH*ROWS-1:0] sums_o  // of a row without a sum: 0
);

    localparam int unsigned Bytes = WIDTH * INPUTS * COLUMNS;
    localparam int unsigned EngineWidth = 2 * WIDTH + $clog2(INPUTS + 1);

    // What passes the rows.
    logic [2*ROWS-1:0] kind_q;
    logic [RowWidth*ROWS-1:0] row_q;
    logic [Bytes*ROWS-1:0] bytes_q;

    for (genvar r = 0; r < ROWS; r++) begin : g_row
        logic [1:0] kind_above;
        logic [RowWidth-1:0] row_above;
        logic [Bytes-1:0] bytes_above;
        if (r == 0) begin : g_first
            assign kind_above = kind_i;
            assign row_above = row_i;
            assign bytes_above = bytes_i;
        end else begin : g_next
            assign kind_above = kind_q[2*(r-1)+:2];
            assign row_above = row_q[RowWidth*(r-1)+:RowWidth];
            assign bytes_above = bytes_q[Bytes*(r-1)+:Bytes];
        end

        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) kind_q[2*r+:2] <= dot_product_pkg::Idle;
            else kind_q[2*r+:2] <= kind_above;
        end
        always_ff @(posedge clk_i) begin
            if (kind_above != dot_product_pkg::Idle) begin
                row_q[RowWidth*r+:RowWidth] <= row_above;
                bytes_q[Bytes*r+:Bytes] <= bytes_above;
            end
        end

        logic load, multiply;
        assign load = kind_q[2*r+:2] == dot_product_pkg::Weights && row_q[RowWidth*r+:RowWidth] == RowWidth'(r);
        assign multiply = kind_q[2*r+:2] == dot_product_pkg::Window;

        logic [EngineWidth*COLUMNS-1:0] engine_sums;
        for (genvar c = 0; c < COLUMNS; c++) begin : g_column
            dot_product_engine #(
                .INPUTS(INPUTS),
                .WIDTH(WIDTH)
            ) u_engine (
                .clk_i,
                .load_i(load),
                .multiply_i(multiply),
                .bytes_i(bytes_q[Bytes*r+WIDTH*INPUTS*c+:WIDTH*INPUTS]),
                .sum_o(engine_sums[EngineWidth*c+:EngineWidth])
            );
        end

        // The adder tree.
        logic signed [SUM_WIDTH-1:0] sum_d, sum_q;
        always_comb begin
            sum_d = '0;
            for (int unsigned c = 0; c < COLUMNS; c++) begin
                sum_d = sum_d + SUM_WIDTH'($signed(engine_sums[EngineWidth*c+:EngineWidth]));
            end
        end

        logic [2:0] valid_q;
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) valid_q <= '0;
            else valid_q <= {valid_q[1:0], multiply};
        end
        always_ff @(posedge clk_i) begin
            if (valid_q[1]) sum_q <= sum_d;
        end
        assign valid_o[r] = valid_q[2];
        assign sums_o[SUM_WIDTH*r+:SUM_WIDTH] = valid_q[2] ? sum_q : '0;
    end

    `SWITCHYARD_ASSUME(names_a_row, kind_i != dot_product_pkg::Weights || {1'b0, row_i} < (RowWidth + 1)'(ROWS))
    `SWITCHYARD_ASSUME(is_a_kind, kind_i != 2'd3)

endmodule
