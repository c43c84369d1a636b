// SPDX-License-Identifier: Apache-2.0
// The switch of a network interface (Adyna section VI-C): splits an operator's output by the routing mask, sample by sample.
// The samples of a unit come in with their masks, and each branch gets the list of those whose mask names it, in the same
// order, with an end behind the last one: a branch that nobody takes gets the end alone. Branches take at their own rate; the
// next sample comes in when all branches of the one before have it.
`include "switchyard_assert.svh"

module switch_splitter #(
    parameter int unsigned BRANCHES = 4,
    parameter int unsigned ID_WIDTH = 16
) (
    input logic clk_i,
    input logic rst_ni,

    // A sample, or with `sample_end_i` the end of the unit behind its last one.
    input logic sample_valid_i,
    output logic sample_ready_o,
    input logic sample_end_i,
    input logic [ID_WIDTH-1:0] sample_id_i,
    input logic [BRANCHES-1:0] sample_mask_i,

    // By branch; what is offered is the same for all.
    output logic [BRANCHES-1:0] branch_valid_o,
    input logic [BRANCHES-1:0] branch_ready_i,
    output logic branch_end_o,
    output logic [ID_WIDTH-1:0] branch_id_o
);

    logic [BRANCHES-1:0] waiting_d, waiting_q, left;
    logic [ID_WIDTH-1:0] id_q;
    logic end_q, take;

    assign left = waiting_q & ~branch_ready_i;
    assign sample_ready_o = left == '0;
    assign take = sample_valid_i && sample_ready_o;
    assign waiting_d = !take ? left : sample_end_i ? '1 : sample_mask_i;
    assign branch_valid_o = waiting_q;
    assign branch_end_o = end_q;
    assign branch_id_o = id_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) waiting_q <= '0;
        else waiting_q <= waiting_d;
    end
    always_ff @(posedge clk_i) begin
        if (take) begin
            id_q <= sample_id_i;
            end_q <= sample_end_i;
        end
    end

    `SWITCHYARD_ASSERT_NEXT(what_is_offered_stays, (branch_valid_o & ~branch_ready_i) != '0,
        branch_id_o == $past(branch_id_o) && branch_end_o == $past(branch_end_o))

endmodule
