// SPDX-License-Identifier: Apache-2.0
// The line buffer of SushiAccel for one channel (MLSys 2023, section 4.2.2): turns pixels that come one a cycle, row by row,
// into windows of SIDE x SIDE pixels. It keeps the last SIDE - 1 rows, so that a pixel comes in once; windows that the stride
// skips do not leave.
//
// A pass begins with the pixel that has `first_i`; the settings stay until the next one begins. The first window's centre is
// pixel 0 of row `centre_i`; it is complete with the pixel number `fill_i`, which is (centre_i + P) * width_i + P where P is the
// padding, (SIDE - 1) / 2. From then on the centre moves on with every pixel. A window leaves in the cycle in which its last
// pixel comes in. Behind the last row any pixels push the rest out. Where a window reaches beyond the rows and columns of the
// pass, it has `zero_i`.
`include "switchyard_assert.svh"

module line_buffer #(
    parameter int unsigned SIDE = 3,
    parameter int unsigned MAX_WIDTH = 256,
    parameter int unsigned WIDTH = 8,
    parameter int unsigned ROW_WIDTH = 9,     // of a row's number
    parameter int unsigned STRIDE_WIDTH = 3,
    localparam int unsigned ColumnWidth = $clog2(MAX_WIDTH + 1),
    localparam int unsigned FillWidth = ROW_WIDTH + ColumnWidth
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ColumnWidth-1:0] width_i,
    input logic [ROW_WIDTH-1:0] rows_i,
    input logic [ROW_WIDTH-1:0] centre_i,
    input logic [FillWidth-1:0] fill_i,
    input logic [STRIDE_WIDTH-1:0] stride_i,
    input logic [WIDTH-1:0] zero_i,

    input logic valid_i,
    input logic first_i,
    input logic [WIDTH-1:0] pixel_i,

    output logic valid_o,
    output logic [WIDTH*SIDE*SIDE-1:0] window_o  // row by row
);

    localparam int unsigned Padding = (SIDE - 1) / 2;
    localparam int unsigned IndexWidth = MAX_WIDTH > 1 ? $clog2(MAX_WIDTH) : 1;
    localparam int unsigned SlotWidth = (ROW_WIDTH > ColumnWidth ? ROW_WIDTH : ColumnWidth) + 4;

    // Where the lines are read and written; pixels until the first window; the centre and how far the stride is behind it.
    logic [ColumnWidth-1:0] column, column_q, centre_column, centre_column_q;
    logic [FillWidth-1:0] fill, fill_q;
    logic [ROW_WIDTH-1:0] centre_row, centre_row_q;
    logic [STRIDE_WIDTH-1:0] row_phase, row_phase_q, column_phase, column_phase_q;
    assign column = first_i ? '0 : column_q;
    assign fill = first_i ? fill_i : fill_q;
    assign centre_row = first_i ? centre_i : centre_row_q;
    assign centre_column = first_i ? '0 : centre_column_q;
    assign row_phase = first_i ? '0 : row_phase_q;
    assign column_phase = first_i ? '0 : column_phase_q;

    logic complete, last_column;
    assign complete = fill == '0;
    assign last_column = centre_column + 1'b1 == width_i;
    assign valid_o = valid_i && complete && row_phase == '0 && column_phase == '0;

    // No reset: the first pixel of a pass sets all of them.
    always_ff @(posedge clk_i) begin
        if (valid_i) begin
            column_q <= column + 1'b1 == width_i ? '0 : column + 1'b1;
            fill_q <= complete ? '0 : fill - 1'b1;
            centre_row_q <= complete && last_column ? centre_row + 1'b1 : centre_row;
            row_phase_q <= !(complete && last_column) ? row_phase : row_phase + 1'b1 == stride_i ? '0 : row_phase + 1'b1;
            if (complete) begin
                centre_column_q <= last_column ? '0 : centre_column + 1'b1;
                column_phase_q <= last_column || column_phase + 1'b1 == stride_i ? '0 : column_phase + 1'b1;
            end else begin
                centre_column_q <= centre_column;
                column_phase_q <= column_phase;
            end
        end
    end

    // The lines, oldest row in the lowest bits; with the pixel they are a column of the window.
    logic [WIDTH*(SIDE-1)-1:0] lines_q[MAX_WIDTH];
    logic [WIDTH*SIDE-1:0] newest;
    assign newest = {pixel_i, lines_q[column[IndexWidth-1:0]]};
    always_ff @(posedge clk_i) begin
        if (valid_i) lines_q[column[IndexWidth-1:0]] <= newest[WIDTH*SIDE-1:WIDTH];
    end

    // The columns before it, oldest in the lowest bits.
    logic [WIDTH*SIDE*(SIDE-1)-1:0] columns_q;
    logic [WIDTH*SIDE*SIDE-1:0] all_columns;
    assign all_columns = {newest, columns_q};
    always_ff @(posedge clk_i) begin
        if (valid_i) columns_q <= all_columns[WIDTH*SIDE*SIDE-1:WIDTH*SIDE];
    end

    // Places of the window in the pass: their row and column, `Padding` too large, so that none is negative.
    for (genvar i = 0; i < SIDE; i++) begin : g_row
        logic [SlotWidth-1:0] row;
        logic has_row;
        assign row = SlotWidth'(centre_row) + SlotWidth'(i);
        assign has_row = row >= SlotWidth'(Padding) && row < SlotWidth'(rows_i) + SlotWidth'(Padding);
        for (genvar j = 0; j < SIDE; j++) begin : g_column
            logic [SlotWidth-1:0] place;
            logic is_pixel;
            assign place = SlotWidth'(centre_column) + SlotWidth'(j);
            assign is_pixel = has_row && place >= SlotWidth'(Padding) && place < SlotWidth'(width_i) + SlotWidth'(Padding);
            assign window_o[WIDTH*(SIDE*i+j)+:WIDTH] = is_pixel ? all_columns[WIDTH*(SIDE*j+i)+:WIDTH] : zero_i;
        end
    end

    `SWITCHYARD_ASSUME(has_columns, width_i != '0 && width_i <= ColumnWidth'(MAX_WIDTH))
    `SWITCHYARD_ASSUME(has_a_stride, stride_i != '0)

endmodule
