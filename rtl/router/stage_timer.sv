// SPDX-License-Identifier: Apache-2.0
// How long a stage of the pipeline takes: `done_o` shows in the CYCLES-th cycle behind the one with `start_i`, and stays
// until the next start. With one cycle it always shows.
module stage_timer #(
    parameter int unsigned CYCLES = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    output logic done_o
);

    if (CYCLES > 1) begin : gen_count
        localparam int unsigned Width = $clog2(CYCLES);
        logic [Width-1:0] left_q;
        assign done_o = left_q == '0;
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) left_q <= '0;
            else if (start_i) left_q <= Width'(CYCLES - 1);
            else if (left_q != '0) left_q <= left_q - 1'b1;
        end
    end else begin : gen_at_once
        logic unused;
        assign unused = ^{clk_i, rst_ni, start_i};
        assign done_o = 1'b1;
    end

endmodule
