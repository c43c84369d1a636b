// SPDX-License-Identifier: Apache-2.0
// Output-stationary systolic array of ROWS x COLS PEs (pe.sv).
//
// In: a wave is one operand for each row and each column. It is taken when in_valid_i && in_ready_o; PE (i, j) multiplies
// it i + j cycles later, if i < in_rows_i and in_columns_i[j]. A block's waves come step by step of the reduction, in
// each step one or more for every accumulator; in_first_i marks the first step, in_last_i the block's last wave.
//
// Out: a row of results, of one accumulator of every column, is a beat. It is taken at column 0 when out_valid_o &&
// out_ready_i and leaves column j j cycles later, when lane_valid_o[j]: who takes a beat has room for all of it. A block
// gives in_rows_i beats, top row first, for each of its in_accumulators_i accumulators.
//
// A block takes one of the two sets of accumulators with its first wave and gives it back when its last accumulator has
// been put into the chains. It drains from in_rows_i cycles behind its last wave on, blocks one after another.
// in_ready_o and out_valid_o depend on registers alone.
`include "switchyard_assert.svh"

module pe_array #(
    parameter int unsigned ROWS = 4,
    parameter int unsigned COLS = 4,
    parameter bit ACC_FP16 = 1'b0,
    parameter int unsigned ACCUMULATORS = ACC_FP16 ? 12 : 6,
    parameter int unsigned REGISTER_BYTES = 64,
    localparam int unsigned AccWidth = ACC_FP16 ? 16 : 32,
    localparam int unsigned IndexWidth = $clog2(ACCUMULATORS),
    localparam int unsigned CountWidth = $clog2(ACCUMULATORS + 1),
    localparam int unsigned RowsWidth = $clog2(ROWS + 1)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,

    input  logic                     in_valid_i,
    output logic                     in_ready_o,
    input  logic                     in_first_i,
    input  logic                     in_last_i,
    input  logic [IndexWidth-1:0]    in_accumulator_i,
    input  logic [RowsWidth-1:0]     in_rows_i,
    input  logic [CountWidth-1:0]    in_accumulators_i,
    input  logic [COLS-1:0]          in_columns_i,
    input  logic [ROWS*16-1:0]       row_i,
    input  logic [COLS*16-1:0]       column_i,

    output logic                     out_valid_o,
    input  logic                     out_ready_i,
    output logic [COLS-1:0]          lane_valid_o,
    output logic [COLS*AccWidth-1:0] lane_o
);

    // ---- Blocks on their way in: whose set is it, how much is there to drain? ----
    logic                  fresh_q, feed_set_q;
    logic                  wave, block_ends;
    logic                  busy_q[2], filled_q[2];
    logic [RowsWidth-1:0]  wait_q[2], rows_q[2];
    logic [CountWidth-1:0] accumulators_q[2];

    // ---- ... and out ----
    logic                  drain_set_q;
    logic [IndexWidth-1:0] drain_accumulator_q;
    logic [RowsWidth-1:0]  beats_left_q;
    logic                  drain_busy, drain_filled;
    logic                  beat, load, set_free;

    assign drain_busy = busy_q[drain_set_q];
    assign drain_filled = filled_q[drain_set_q];

    assign in_ready_o = !fresh_q || !busy_q[feed_set_q];
    assign wave = in_valid_i && in_ready_o;
    assign block_ends = wave && in_last_i;

    assign load = beats_left_q == '0;
    assign out_valid_o = !load || (drain_filled && wait_q[drain_set_q] == '0);
    assign beat = out_valid_o && out_ready_i;
    assign set_free = beat && load && CountWidth'(drain_accumulator_q) + 1'b1 == accumulators_q[drain_set_q];

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            fresh_q <= 1'b1;
            feed_set_q <= 1'b0;
            drain_set_q <= 1'b0;
            drain_accumulator_q <= '0;
            beats_left_q <= '0;
        end else begin
            if (wave) fresh_q <= in_last_i;
            if (block_ends) feed_set_q <= !feed_set_q;
            if (set_free) drain_set_q <= !drain_set_q;
            if (beat && load) begin
                drain_accumulator_q <= set_free ? '0 : drain_accumulator_q + 1'b1;
                beats_left_q <= rows_q[drain_set_q] - 1'b1;
            end else if (beat) begin
                beats_left_q <= beats_left_q - 1'b1;
            end
        end
    end

    generate
        for (genvar s = 0; s < 2; s++) begin : g_set
            always_ff @(posedge clk_i or negedge rst_ni) begin
                if (!rst_ni) begin
                    busy_q[s] <= 1'b0;
                    filled_q[s] <= 1'b0;
                    wait_q[s] <= '0;
                    rows_q[s] <= '0;
                    accumulators_q[s] <= '0;
                end else begin
                    if (wave && feed_set_q == s[0]) busy_q[s] <= 1'b1;
                    else if (set_free && drain_set_q == s[0]) busy_q[s] <= 1'b0;
                    if (block_ends && feed_set_q == s[0]) begin
                        filled_q[s] <= 1'b1;
                        wait_q[s] <= in_rows_i - 1'b1;
                        rows_q[s] <= in_rows_i;
                        accumulators_q[s] <= in_accumulators_i;
                    end else begin
                        if (set_free && drain_set_q == s[0]) filled_q[s] <= 1'b0;
                        if (wait_q[s] != '0) wait_q[s] <= wait_q[s] - 1'b1;
                    end
                end
            end
        end
    endgenerate

    // ---- Skew: row i and column j enter i and j cycles late ----
    logic                  control_first[ROWS], control_set[ROWS];
    logic [IndexWidth-1:0] control_accumulator[ROWS];
    logic                  row_valid[ROWS * (COLS + 1)];
    logic                  row_first[ROWS * (COLS + 1)];
    logic                  row_set[ROWS * (COLS + 1)];
    logic [IndexWidth-1:0] row_accumulator[ROWS * (COLS + 1)];
    logic [15:0]           row[ROWS * (COLS + 1)];
    logic                  column_valid[(ROWS + 1) * COLS];
    logic [15:0]           column[(ROWS + 1) * COLS];

    assign control_first[0] = in_first_i;
    assign control_set[0] = feed_set_q;
    assign control_accumulator[0] = in_accumulator_i;

    generate
        for (genvar i = 1; i < ROWS; i++) begin : g_control_skew
            always_ff @(posedge clk_i) begin
                control_first[i] <= control_first[i-1];
                control_set[i] <= control_set[i-1];
                control_accumulator[i] <= control_accumulator[i-1];
            end
        end

        for (genvar i = 0; i < ROWS; i++) begin : g_row_skew
            assign row_first[i*(COLS+1)] = control_first[i];
            assign row_set[i*(COLS+1)] = control_set[i];
            assign row_accumulator[i*(COLS+1)] = control_accumulator[i];
            skew #(.WIDTH(16), .CYCLES(i)) i_skew (
                .clk_i,
                .rst_ni,
                .valid_i(wave && RowsWidth'(i) < in_rows_i),
                .data_i(row_i[i*16+:16]),
                .valid_o(row_valid[i*(COLS+1)]),
                .data_o(row[i*(COLS+1)])
            );
        end

        for (genvar j = 0; j < COLS; j++) begin : g_column_skew
            skew #(.WIDTH(16), .CYCLES(j)) i_skew (
                .clk_i,
                .rst_ni,
                .valid_i(wave && in_columns_i[j]),
                .data_i(column_i[j*16+:16]),
                .valid_o(column_valid[j]),
                .data_o(column[j])
            );
        end
    endgenerate

    // ---- Beats go to the right like the waves ----
    logic                  beat_valid[COLS], beat_load[COLS], beat_set[COLS];
    logic [IndexWidth-1:0] beat_accumulator[COLS];

    assign beat_valid[0] = beat;
    assign beat_load[0] = load;
    assign beat_set[0] = drain_set_q;
    assign beat_accumulator[0] = drain_accumulator_q;

    generate
        for (genvar j = 1; j < COLS; j++) begin : g_beat
            always_ff @(posedge clk_i or negedge rst_ni) begin
                if (!rst_ni) beat_valid[j] <= 1'b0;
                else beat_valid[j] <= beat_valid[j-1];
            end
            always_ff @(posedge clk_i) begin
                beat_load[j] <= beat_load[j-1];
                beat_set[j] <= beat_set[j-1];
                beat_accumulator[j] <= beat_accumulator[j-1];
            end
        end
    endgenerate

    // ---- The array ----
    logic [AccWidth-1:0] chain[(ROWS + 1) * COLS];

    generate
        for (genvar j = 0; j < COLS; j++) begin : g_column
            assign lane_valid_o[j] = beat_valid[j];
            assign lane_o[j*AccWidth+:AccWidth] = chain[j];
            assign chain[ROWS*COLS+j] = '0;
            for (genvar i = 0; i < ROWS; i++) begin : g_row
                pe #(
                    .ACC_FP16(ACC_FP16),
                    .ACCUMULATORS(ACCUMULATORS),
                    .REGISTER_BYTES(REGISTER_BYTES)
                ) i_pe (
                    .clk_i,
                    .rst_ni,
                    .row_valid_i(row_valid[i*(COLS+1)+j]),
                    .row_first_i(row_first[i*(COLS+1)+j]),
                    .row_set_i(row_set[i*(COLS+1)+j]),
                    .row_accumulator_i(row_accumulator[i*(COLS+1)+j]),
                    .row_i(row[i*(COLS+1)+j]),
                    .column_valid_i(column_valid[i*COLS+j]),
                    .column_i(column[i*COLS+j]),
                    .row_valid_o(row_valid[i*(COLS+1)+j+1]),
                    .row_first_o(row_first[i*(COLS+1)+j+1]),
                    .row_set_o(row_set[i*(COLS+1)+j+1]),
                    .row_accumulator_o(row_accumulator[i*(COLS+1)+j+1]),
                    .row_o(row[i*(COLS+1)+j+1]),
                    .column_valid_o(column_valid[(i+1)*COLS+j]),
                    .column_o(column[(i+1)*COLS+j]),
                    .beat_i(beat_valid[j]),
                    .load_i(beat_load[j]),
                    .beat_set_i(beat_set[j]),
                    .beat_accumulator_i(beat_accumulator[j]),
                    .chain_i(chain[(i+1)*COLS+j]),
                    .chain_o(chain[i*COLS+j])
                );
            end
        end
    endgenerate

    // What the feeder owes.
    `SWITCHYARD_ASSUME(array_rows, !in_valid_i || (in_rows_i != '0 && in_rows_i <= RowsWidth'(ROWS)))
    `SWITCHYARD_ASSUME(array_accumulators, !in_valid_i || (in_accumulators_i <= CountWidth'(ACCUMULATORS)
        && CountWidth'(in_accumulator_i) < in_accumulators_i))
    // A set that drains belongs to a block, and an offered beat stays.
    `SWITCHYARD_ASSERT(array_drains_own, !drain_filled || drain_busy)
    `SWITCHYARD_ASSERT_NEXT(array_beat_stays, out_valid_o && !out_ready_i, out_valid_o)

endmodule
