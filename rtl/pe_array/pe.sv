// SPDX-License-Identifier: Apache-2.0
// One processing element: a multiply-accumulate a cycle into one of two sets of accumulators, while results of the
// other set leave through the drain chain of its column.
//
// Operands come from the left (row) and from above (column) and go on a cycle later, the row's with its control. The
// chain goes upwards: a beat shifts it, and one with `load_i` puts an accumulator into it first.
//
// Registers: 2 * ACCUMULATORS sums, one word of the chain, two operands, control: within REGISTER_BYTES.
module pe #(
    parameter bit ACC_FP16 = 1'b0,
    parameter int unsigned ACCUMULATORS = 6,
    parameter int unsigned REGISTER_BYTES = 64,
    localparam int unsigned AccWidth = ACC_FP16 ? 16 : 32,
    localparam int unsigned IndexWidth = $clog2(ACCUMULATORS)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // A wave: operands, and which accumulator they are for.
    input  logic                  row_valid_i,
    input  logic                  row_first_i,
    input  logic                  row_set_i,
    input  logic [IndexWidth-1:0] row_accumulator_i,
    input  logic [15:0]           row_i,
    input  logic                  column_valid_i,
    input  logic [15:0]           column_i,
    output logic                  row_valid_o,
    output logic                  row_first_o,
    output logic                  row_set_o,
    output logic [IndexWidth-1:0] row_accumulator_o,
    output logic [15:0]           row_o,
    output logic                  column_valid_o,
    output logic [15:0]           column_o,
    // The drain chain.
    input  logic                  beat_i,
    input  logic                  load_i,
    input  logic                  beat_set_i,
    input  logic [IndexWidth-1:0] beat_accumulator_i,
    input  logic [AccWidth-1:0]   chain_i,
    output logic [AccWidth-1:0]   chain_o
);

    generate
        if ((2 * ACCUMULATORS + 1) * AccWidth / 8 + 4 > REGISTER_BYTES) begin : g_too_large
            $fatal(1, "pe: %0d accumulators do not fit into %0d bytes", ACCUMULATORS, REGISTER_BYTES);
        end
    endgenerate

    logic [AccWidth-1:0] sums_q[2 * ACCUMULATORS];
    logic [AccWidth-1:0] chain_q;
    logic [IndexWidth:0] sum_index, beat_index;

    // A sum that begins from +0.
    logic first;
    assign first = row_first_i;

    // ACCUMULATORS is no power of two: the set is the last bit of the index.
    assign sum_index = {row_accumulator_i, row_set_i};
    assign beat_index = {beat_accumulator_i, beat_set_i};

    always_ff @(posedge clk_i) begin
        if (row_valid_i && column_valid_i) begin
            if (ACC_FP16)
                sums_q[sum_index] <= AccWidth'(fp16_pkg::fma16(row_i, column_i,
                    first ? 16'd0 : 16'(sums_q[sum_index])));
            else
                sums_q[sum_index] <= AccWidth'(fp16_pkg::mac32(row_i, column_i,
                    first ? 32'd0 : 32'(sums_q[sum_index])));
        end
    end

    assign chain_o = load_i ? sums_q[beat_index] : chain_q;

    always_ff @(posedge clk_i) begin
        if (beat_i) chain_q <= chain_i;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            row_valid_o <= 1'b0;
            column_valid_o <= 1'b0;
        end else begin
            row_valid_o <= row_valid_i;
            column_valid_o <= column_valid_i;
        end
    end

    always_ff @(posedge clk_i) begin
        row_first_o <= row_first_i;
        row_set_o <= row_set_i;
        row_accumulator_o <= row_accumulator_i;
        row_o <= row_i;
        column_o <= column_i;
    end

endmodule
