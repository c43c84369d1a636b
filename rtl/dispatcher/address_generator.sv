// SPDX-License-Identifier: Apache-2.0
// Where a block's operands begin in the scratchpad, in bytes; values are binary16.
//
// Layouts: input [n][c][row][column] of the tile's input box, weights [k][c][r][s] of its slice, output [n][k][p][q] of
// its output box. The input address is that of the first value that the block's first output reads; padding is not
// stored. Combinational.
module address_generator #(
    parameter int unsigned WIDTH = 16
) (
    input logic [dispatcher_pkg::Axes*WIDTH-1:0] position_i,  // of the block in the output box
    // The output box: its first row in the operator's output, and its size.
    input logic [WIDTH-1:0] first_p_i,
    input logic [WIDTH-1:0] k_i,
    input logic [WIDTH-1:0] p_i,
    input logic [WIDTH-1:0] q_i,
    input logic [31:0] reduction_i,
    input logic [3:0] row_stride_i,
    input logic [3:0] column_stride_i,
    input logic [7:0] pad_i,
    input logic [WIDTH-1:0] filter_rows_i,
    // The input tensor; of it, the tile has the channels and rows that its output box needs.
    input logic channelwise_i,  // an output channel needs only its own input channel
    input logic [WIDTH-1:0] channels_i,
    input logic [WIDTH-1:0] rows_i,
    input logic [WIDTH-1:0] columns_i,
    input logic [31:0] input_offset_i,
    input logic [31:0] weight_offset_i,
    input logic [31:0] output_offset_i,
    output logic [31:0] input_address_o,
    output logic [31:0] weight_address_o,
    output logic [31:0] output_address_o
);

    localparam int unsigned AxisN = dispatcher_pkg::AxisN;
    localparam int unsigned AxisK = dispatcher_pkg::AxisK;
    localparam int unsigned AxisP = dispatcher_pkg::AxisP;
    localparam int unsigned AxisQ = dispatcher_pkg::AxisQ;

    logic [WIDTH-1:0] n, k, p, q;
    assign n = position_i[WIDTH*AxisN+:WIDTH];
    assign k = position_i[WIDTH*AxisK+:WIDTH];
    assign p = position_i[WIDTH*AxisP+:WIDTH];
    assign q = position_i[WIDTH*AxisQ+:WIDTH];

    // Rows of the input under the windows of the output rows from `row` on, without the padding above.
    logic [31:0] box_row, box_end, row, column, window_end, window_column, box_rows, box_channels, channel;
    function automatic logic [31:0] without_padding(input logic [31:0] at, input logic [31:0] most);
        without_padding = at < 32'(pad_i) ? '0 : at - 32'(pad_i) > most ? most : at - 32'(pad_i);
    endfunction
    assign box_row = without_padding(32'(first_p_i) * 32'(row_stride_i), 32'(rows_i));
    assign window_end = (32'(first_p_i) + 32'(p_i) - 32'd1) * 32'(row_stride_i) + 32'(filter_rows_i);
    assign box_end = without_padding(window_end, 32'(rows_i));
    assign box_rows = box_end - box_row;
    assign box_channels = channelwise_i ? 32'(k_i) : 32'(channels_i);

    assign row = without_padding((32'(first_p_i) + 32'(p)) * 32'(row_stride_i), 32'(rows_i)) - box_row;
    assign window_column = 32'(q) * 32'(column_stride_i);
    assign column = window_column < 32'(pad_i) ? '0 : window_column - 32'(pad_i);
    assign channel = channelwise_i ? 32'(k) : '0;

    logic [31:0] input_index, weight_index, output_index;
    assign input_index = ((32'(n) * box_channels + channel) * box_rows + row) * 32'(columns_i) + column;
    assign weight_index = 32'(k) * reduction_i;
    assign output_index = ((32'(n) * 32'(k_i) + 32'(k)) * 32'(p_i) + 32'(p)) * 32'(q_i) + 32'(q);

    assign input_address_o = input_offset_i + (input_index << 1);
    assign weight_address_o = weight_offset_i + (weight_index << 1);
    assign output_address_o = output_offset_i + (output_index << 1);

endmodule
