// SPDX-License-Identifier: Apache-2.0
// The line buffer, for windows of 3 x 3 and rows of up to MAX_WIDTH pixels of one bit, any number of passes with any settings and
// pauses, for ever: windows leave with the pixels that complete them and with no others, and each value of a window is that of
// the pixel at its place, or the zero point beyond the edges. The pixel is any one of the pass: `row_i`, `column_i`.
`include "switchyard_assert.svh"

module line_buffer_properties #(
    parameter int unsigned MAX_WIDTH = 3,
    parameter int unsigned MAX_ROWS = 3
) (
    input logic clk_i,
    input logic [1:0] width_i,
    input logic [2:0] rows_i,
    input logic [2:0] centre_i,
    input logic [4:0] fill_i,
    input logic [1:0] stride_i,
    input logic zero_i,
    input logic valid_i,
    input logic first_i,
    input logic pixel_i,
    input logic [2:0] row_i,
    input logic [1:0] column_i
);

    localparam int unsigned Side = 3;

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic valid;
    logic [Side*Side-1:0] window;
    line_buffer #(
        .SIDE(Side),
        .MAX_WIDTH(MAX_WIDTH),
        .WIDTH(1),
        .ROW_WIDTH(3),
        .STRIDE_WIDTH(2)
    ) u_line_buffer (
        .clk_i,
        .rst_ni,
        .width_i,
        .rows_i,
        .centre_i,
        .fill_i,
        .stride_i,
        .zero_i,
        .valid_i,
        .first_i,
        .pixel_i,
        .valid_o(valid),
        .window_o(window)
    );

    // Settings stay within a pass; a pass begins with `first_i`, and ends before two rows behind its last one.
    logic begun_q, zero_q;
    logic [1:0] width_q, stride_q;
    logic [2:0] rows_q, centre_q;
    logic [3:0] pixel_row, pixel_row_q;
    logic [1:0] pixel_column, pixel_column_q;
    assign pixel_row = first_i ? '0 : pixel_row_q;
    assign pixel_column = first_i ? '0 : pixel_column_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            begun_q <= 1'b0;
        end else if (valid_i) begin
            begun_q <= 1'b1;
            width_q <= width_i;
            stride_q <= stride_i;
            rows_q <= rows_i;
            centre_q <= centre_i;
            zero_q <= zero_i;
            pixel_column_q <= pixel_column + 1'b1 == width_i ? '0 : pixel_column + 1'b1;
            pixel_row_q <= pixel_column + 1'b1 == width_i ? pixel_row + 1'b1 : pixel_row;
        end
    end
    logic same;
    assign same = width_i == width_q && stride_i == stride_q && rows_i == rows_q && centre_i == centre_q && zero_i == zero_q;
    `SWITCHYARD_ASSUME(begins, !valid_i || first_i || (begun_q && same))
    `SWITCHYARD_ASSUME(ends, !valid_i || pixel_row <= {1'b0, rows_i} + 4'd1)
    `SWITCHYARD_ASSUME(has_rows, rows_i != '0 && rows_i <= 3'(MAX_ROWS) && centre_i < rows_i)
    `SWITCHYARD_ASSUME(fills, !first_i || fill_i == (5'(centre_i) + 5'd1) * 5'(width_i) + 5'd1)

    // The window whose last pixel this is: its centre is a row and a pixel before. Rows are one too large, columns too.
    logic [3:0] centre_row;
    logic [2:0] centre_column;
    assign centre_row = pixel_column != '0 ? pixel_row : pixel_row - 1'b1;
    assign centre_column = pixel_column != '0 ? {1'b0, pixel_column} : {1'b0, width_i};
    logic reached, kept;
    logic [3:0] behind;
    assign reached = pixel_row != '0 && centre_row >= {1'b0, centre_i} + 1'b1 && (pixel_column != '0 || pixel_row != 4'd1);
    assign behind = centre_row - 1'b1 - {1'b0, centre_i};
    assign kept = behind % {2'b00, stride_i} == '0 && (centre_column - 1'b1) % {1'b0, stride_i} == '0;
    logic expected;
    assign expected = valid_i && (first_i || begun_q) && reached && kept;

    // Any pixel of the pass.
    logic [2:0] row, row_q;
    logic [1:0] column, column_q;
    logic known_q, value_q;
    assign row = first_i ? row_i : row_q;
    assign column = first_i ? column_i : column_q;
    logic is_it, known, value;
    assign is_it = valid_i && pixel_row == {1'b0, row} && pixel_column == column;
    assign known = is_it || (known_q && !first_i);
    assign value = is_it ? pixel_i : value_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            known_q <= 1'b0;
        end else if (valid_i) begin
            known_q <= known;
            value_q <= value;
            row_q <= row;
            column_q <= column;
        end
    end

    logic [Side*Side-1:0] right, edged;
    for (genvar i = 0; i < Side; i++) begin : g_row
        for (genvar j = 0; j < Side; j++) begin : g_column
            // Two too large.
            logic [4:0] at_row;
            logic [3:0] at_column;
            logic inside_pass;
            assign at_row = {1'b0, centre_row} + 5'(i);
            assign at_column = {1'b0, centre_column} + 4'(j);
            assign inside_pass = at_row >= 5'd2 && at_row < {2'b00, rows_i} + 5'd2 && at_column >= 4'd2 &&
                at_column < {2'b00, width_i} + 4'd2;
            assign right[Side*i+j] = !(inside_pass && at_row == {2'b00, row} + 5'd2 && at_column == {2'b00, column} + 4'd2) ||
                (known && window[Side*i+j] == value);
            assign edged[Side*i+j] = inside_pass || window[Side*i+j] == zero_i;
        end
    end

    `SWITCHYARD_ASSERT(windows_in_time, (valid_i && !first_i && !begun_q) || valid == expected)
    `SWITCHYARD_ASSERT(has_its_pixels, !(valid && expected) || right == '1)
    `SWITCHYARD_ASSERT(zero_beyond_edges, !(valid && expected) || edged == '1)

endmodule
