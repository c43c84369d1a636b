// SPDX-License-Identifier: Apache-2.0
// Best-fit search in the kernel directory: of `count_i` kernels from `first_i` on, whose dyn_dims grow strictly, the one
// with the smallest dyn_dim that is no less than `wanted_i`, or none.
//
// Each cycle halves what is left, one comparison more tells whether the last candidate fits: ceil(log2 count) + 1
// cycles from the one behind `start_i` to the one with `done_o`, whatever the answer.
`include "switchyard_assert.svh"

module kernel_search #(
    parameter int unsigned KERNELS = 256,
    parameter int unsigned DYN_WIDTH = 16,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic [IndexWidth-1:0] first_i,
    input logic [IndexWidth:0] count_i,
    input logic [DYN_WIDTH:0] wanted_i,  // one bit more: what no directory holds
    output logic busy_o,
    output logic done_o,
    output logic hit_o,
    output logic [IndexWidth-1:0] index_o,
    // The directory's port.
    output logic [IndexWidth-1:0] probe_o,
    input logic [DYN_WIDTH-1:0] dyn_dim_i
);

    // What is left: `length_q` candidates from `base_q` on.
    logic busy_q;
    logic [IndexWidth-1:0] base_q;
    logic [IndexWidth:0] length_q;
    logic [DYN_WIDTH:0] wanted_q;
    logic [IndexWidth:0] half;
    logic narrow, too_small;

    assign narrow = length_q > (IndexWidth + 1)'(1);
    assign half = {1'b0, length_q[IndexWidth:1]};
    assign probe_o = narrow ? base_q + half[IndexWidth-1:0] - 1'b1 : base_q;
    assign too_small = {1'b0, dyn_dim_i} < wanted_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            busy_q <= 1'b0;
            base_q <= '0;
            length_q <= '0;
            wanted_q <= '0;
        end else if (!busy_q) begin
            if (start_i) begin
                busy_q <= 1'b1;
                base_q <= first_i;
                length_q <= count_i;
                wanted_q <= wanted_i;
            end
        end else if (narrow) begin
            if (too_small) base_q <= base_q + half[IndexWidth-1:0];
            length_q <= length_q - half;
        end else begin
            busy_q <= 1'b0;
        end
    end

    assign busy_o = busy_q;
    assign done_o = busy_q && !narrow;
    assign hit_o = done_o && length_q != '0 && !too_small;
    assign index_o = base_q;

    `SWITCHYARD_ASSERT_NEXT(search_goes_on, busy_q && !done_o, busy_q)
    `SWITCHYARD_ASSERT_NEXT(search_ends, done_o, !busy_q)

endmodule
