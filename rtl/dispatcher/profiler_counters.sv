// SPDX-License-Identifier: Apache-2.0
// Invocations of each kernel (Adyna section VI-A: the profiler tracks which dyn_dims occur), in the order of the store.
module profiler_counters #(
    parameter int unsigned KERNELS = 256,
    parameter int unsigned COUNT_WIDTH = 32,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic clear_i,  // of counter `index_i`; wins over count_i
    input logic count_i,
    input logic [IndexWidth-1:0] index_i,
    output logic [COUNT_WIDTH-1:0] count_o  // of counter `index_i`
);

    logic [COUNT_WIDTH-1:0] counts_q [KERNELS];

    assign count_o = counts_q[index_i];

    always_ff @(posedge clk_i) begin
        if (clear_i) counts_q[index_i] <= '0;
        else if (count_i) counts_q[index_i] <= count_o + 1'b1;
    end

endmodule
