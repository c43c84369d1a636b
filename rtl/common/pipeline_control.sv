// SPDX-License-Identifier: Apache-2.0
`include "switchyard_assert.svh"

// Handshake of a pipeline of STAGES registers, two or more. A stage takes new data when it is empty or its own data
// moves on, so a full pipeline passes one item a cycle and bubbles close up while the end waits. load_o[k] enables the
// data register of stage k; its input is the data of stage k - 1.
module pipeline_control #(
    parameter int unsigned STAGES = 3
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              valid_i,
    output logic              ready_o,
    output logic              valid_o,
    input  logic              ready_i,
    output logic [STAGES-1:0] load_o
);

    logic [STAGES-1:0] valid_d, valid_q, offered, free;

    // What stands before each stage.
    assign offered = {valid_q[STAGES-2:0], valid_i};

    // A stage is free if it or any later one is empty, or the end moves.
    always_comb begin
        for (int k = 0; k < STAGES; k++) free[k] = ready_i || ((~valid_q) >> k) != '0;
    end

    assign valid_d = (free & offered) | (~free & valid_q);
    assign load_o = free & offered;
    assign ready_o = free[0];
    assign valid_o = valid_q[STAGES-1];

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) valid_q <= '0;
        else valid_q <= valid_d;
    end

    `SWITCHYARD_ASSERT_NEXT(held_until_taken, valid_o && !ready_i, valid_o)
    `SWITCHYARD_ASSERT_NEXT(full_takes_nothing, (&valid_q) && !ready_i, (&valid_q))

endmodule
