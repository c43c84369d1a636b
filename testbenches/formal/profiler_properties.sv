// SPDX-License-Identifier: Apache-2.0
// profiler_counters: a counter that counts holds one more in the next cycle, whatever it holds; one that is cleared holds
// zero; the others keep what they have.
`include "switchyard_assert.svh"

module profiler_properties #(
    parameter int unsigned KERNELS = 4,
    parameter int unsigned COUNT_WIDTH = 32,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic clear_i,
    input logic count_i,
    input logic [IndexWidth-1:0] index_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [COUNT_WIDTH-1:0] count;
    profiler_counters #(
        .KERNELS(KERNELS),
        .COUNT_WIDTH(COUNT_WIDTH)
    ) u_counters (
        .clk_i,
        .clear_i,
        .count_i,
        .index_i,
        .count_o(count)
    );

    // What the counter of the cycle before, and that of two cycles before, are to hold.
    logic [COUNT_WIDTH-1:0] expected, expected_q, expected_qq;
    logic [IndexWidth-1:0] index_q, index_qq;
    logic known_q, known_qq;
    assign expected = clear_i ? '0 : count_i ? count + 1'b1 : count;
    always_ff @(posedge clk_i) begin
        known_q <= rst_ni;
        known_qq <= rst_ni && known_q;
        index_q <= index_i;
        index_qq <= index_q;
        expected_q <= expected;
        expected_qq <= expected_q;
    end

    `SWITCHYARD_ASSERT(counts_or_clears, !known_q || index_i != index_q || count == expected_q)
    `SWITCHYARD_ASSERT(leaves_the_others_alone,
        !known_qq || index_i != index_qq || index_q == index_qq || count == expected_qq)

endmodule
