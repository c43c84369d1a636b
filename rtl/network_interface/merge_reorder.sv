// SPDX-License-Identifier: Apache-2.0
// The merge behind a switch: the lists of its branches, each in ascending order of sample ids with an end behind the last
// one, come out as one list in that order. A sample that took several branches comes once, with all of them in `from`; the
// end comes when all branches have ended.
`include "switchyard_assert.svh"

module merge_reorder #(
    parameter int unsigned BRANCHES = 4,
    parameter int unsigned ID_WIDTH = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [BRANCHES-1:0] branch_valid_i,
    output logic [BRANCHES-1:0] branch_ready_o,
    input logic [BRANCHES-1:0] branch_end_i,
    input logic [BRANCHES*ID_WIDTH-1:0] branch_id_i,

    output logic sample_valid_o,
    input logic sample_ready_i,
    output logic sample_end_o,
    output logic [ID_WIDTH-1:0] sample_id_o,
    output logic [BRANCHES-1:0] sample_from_o
);

    logic [BRANCHES-1:0] samples, first;
    logic [ID_WIDTH-1:0] least;

    // The least id that stands at a branch, and where.
    assign samples = branch_valid_i & ~branch_end_i;
    always_comb begin
        least = '1;
        for (int unsigned b = 0; b < BRANCHES; b++)
            if (samples[b] && branch_id_i[ID_WIDTH*b+:ID_WIDTH] < least) least = branch_id_i[ID_WIDTH*b+:ID_WIDTH];
    end
    for (genvar b = 0; b < BRANCHES; b++) begin : gen_first
        assign first[b] = samples[b] && branch_id_i[ID_WIDTH*b+:ID_WIDTH] == least;
    end

    // Nothing less can come once every branch has shown its next sample, or its end. Ends wait for each other.
    assign sample_valid_o = branch_valid_i == '1;
    assign sample_end_o = samples == '0;
    assign sample_id_o = least;
    assign sample_from_o = first;
    assign branch_ready_o = sample_valid_o && sample_ready_i ? (sample_end_o ? '1 : first) : '0;

    `SWITCHYARD_ASSERT(takes_what_is_there, (branch_ready_o & ~branch_valid_i) == '0)
    `SWITCHYARD_ASSERT(a_sample_is_from_somewhere, !sample_valid_o || sample_end_o || sample_from_o != '0)

endmodule
