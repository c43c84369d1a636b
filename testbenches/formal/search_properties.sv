// SPDX-License-Identifier: Apache-2.0
// kernel_search on a directory of any content: the answer is the smallest dyn_dim that is no less than the wanted one,
// or none if there is none; it comes after ceil(log2 count) + 1 cycles.
`include "switchyard_assert.svh"

module search_properties #(
    parameter int unsigned KERNELS = 8,
    parameter int unsigned DYN_WIDTH = 3,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic [KERNELS*DYN_WIDTH-1:0] directory_i,  // taken in the first cycle
    input logic start_i,
    input logic [IndexWidth-1:0] first_i,
    input logic [IndexWidth:0] count_i,
    input logic [DYN_WIDTH:0] wanted_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [KERNELS*DYN_WIDTH-1:0] directory_q;
    always_ff @(posedge clk_i) if (!rst_ni) directory_q <= directory_i;

    // What the dispatcher makes sure of: the range is there and sorted.
    logic [KERNELS-1:0] in_range, unsorted;
    logic legal, start, busy, done, hit;
    for (genvar i = 0; i < KERNELS; i++) begin : gen_range
        assign in_range[i] = i >= (IndexWidth + 2)'(first_i) &&
            i < (IndexWidth + 2)'(first_i) + (IndexWidth + 2)'(count_i);
        if (i == 0) begin : gen_first
            assign unsorted[i] = 1'b0;
        end else begin : gen_rest
            assign unsorted[i] = in_range[i-1] && in_range[i] &&
                directory_q[DYN_WIDTH*(i-1)+:DYN_WIDTH] >= directory_q[DYN_WIDTH*i+:DYN_WIDTH];
        end
    end
    assign legal = (IndexWidth + 2)'(first_i) + (IndexWidth + 2)'(count_i) <= KERNELS && unsorted == '0;
    assign start = start_i && legal && !busy;

    logic [IndexWidth-1:0] index, probe;
    logic [DYN_WIDTH-1:0] probed;
    always_comb begin
        probed = '0;
        for (int unsigned i = 0; i < KERNELS; i++) if (probe == IndexWidth'(i)) probed = directory_q[DYN_WIDTH*i+:DYN_WIDTH];
    end

    kernel_search #(
        .KERNELS(KERNELS),
        .DYN_WIDTH(DYN_WIDTH)
    ) u_search (
        .clk_i,
        .rst_ni,
        .start_i(start),
        .first_i,
        .count_i,
        .wanted_i,
        .busy_o(busy),
        .done_o(done),
        .hit_o(hit),
        .index_o(index),
        .probe_o(probe),
        .dyn_dim_i(probed)
    );

    // The search that is in progress.
    logic [KERNELS-1:0] range_q, fits;
    logic [DYN_WIDTH:0] wanted_q;
    logic [IndexWidth:0] left_q, halvings_q;  // candidates, as halving leaves them
    logic [IndexWidth-1:0] base_q;            // where they begin
    always_ff @(posedge clk_i) begin
        if (start) begin
            range_q <= in_range;
            wanted_q <= wanted_i;
            left_q <= count_i;
            base_q <= first_i;
            halvings_q <= '0;
        end else if (busy && !done) begin
            left_q <= left_q - (left_q >> 1);
            if ({1'b0, probed} < wanted_q) base_q <= base_q + IndexWidth'(left_q >> 1);
            halvings_q <= halvings_q + 1'b1;
        end
    end
    for (genvar i = 0; i < KERNELS; i++) begin : gen_fits
        assign fits[i] = range_q[i] && {1'b0, directory_q[DYN_WIDTH*i+:DYN_WIDTH]} >= wanted_q;
    end

    // Of a sorted range the first one that fits is the smallest.
    logic [KERNELS-1:0] smallest;
    assign smallest = fits & ~(fits - 1'b1);
    `SWITCHYARD_ASSERT(selects_the_smallest, !(busy && done && hit) || smallest == (KERNELS'(1) << index))
    `SWITCHYARD_ASSERT(reports_none, !(busy && done) || hit == (fits != '0))
    // ceil(log2 count) halvings of at most KERNELS candidates, then the end.
    `SWITCHYARD_ASSERT(terminates, !busy || halvings_q <= (IndexWidth + 1)'(IndexWidth))
    `SWITCHYARD_ASSERT(ends_when_one_is_left, !busy || done == (left_q <= (IndexWidth + 1)'(1)))

    // How far the search has come, which makes the above inductive: the candidates lie in the range, one of them is the
    // answer if there is one, and the search looks at the middle.
    logic [KERNELS-1:0] candidates;
    for (genvar i = 0; i < KERNELS; i++) begin : gen_candidates
        assign candidates[i] = i >= (IndexWidth + 2)'(base_q) && i < (IndexWidth + 2)'(base_q) + (IndexWidth + 2)'(left_q);
    end
    `SWITCHYARD_ASSERT(candidates_in_range, !busy || (candidates & ~range_q) == '0)
    `SWITCHYARD_ASSERT(candidates_hold_the_answer, !busy || fits == '0 || (smallest & candidates) != '0)
    `SWITCHYARD_ASSERT(looks_at_the_middle, !busy ||
        probe == (left_q > 1 ? base_q + IndexWidth'(left_q >> 1) - 1'b1 : base_q))

endmodule
