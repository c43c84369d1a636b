// SPDX-License-Identifier: Apache-2.0
// merge_reorder, for any ascending lists and any waiting: what comes out is ascending, each sample once and from exactly the
// branches that had it, and nothing is passed over.
`include "switchyard_assert.svh"

module merge_properties #(
    parameter int unsigned BRANCHES = 3,
    parameter int unsigned ID_WIDTH = 3
) (
    input logic clk_i,
    input logic [BRANCHES-1:0] offer_i,
    input logic [BRANCHES-1:0] end_i,
    input logic [BRANCHES*ID_WIDTH-1:0] id_i,
    input logic sample_ready_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic [BRANCHES-1:0] valid, ready, ends, from, equal, less, unsorted;
    logic [BRANCHES*ID_WIDTH-1:0] ids;
    logic out_valid, out_end;
    logic [ID_WIDTH-1:0] out_id, last_q;
    logic any_q;  // of this unit
    merge_reorder #(
        .BRANCHES(BRANCHES),
        .ID_WIDTH(ID_WIDTH)
    ) u_merge (
        .clk_i,
        .rst_ni,
        .branch_valid_i(valid),
        .branch_ready_o(ready),
        .branch_end_i(ends),
        .branch_id_i(ids),
        .sample_valid_o(out_valid),
        .sample_ready_i,
        .sample_end_o(out_end),
        .sample_id_o(out_id),
        .sample_from_o(from)
    );

    // Branches: what is offered stays until it is taken, and ids rise; where they cannot, the list ends.
    for (genvar b = 0; b < BRANCHES; b++) begin : gen_branch
        logic held_q, end_q, some_q, is_end;
        logic [ID_WIDTH-1:0] id_q, last_of_branch_q, id;
        assign id = held_q ? id_q : id_i[ID_WIDTH*b+:ID_WIDTH];
        assign is_end = held_q ? end_q : end_i[b] || (some_q && id <= last_of_branch_q);
        assign valid[b] = held_q || offer_i[b];
        assign ends[b] = is_end;
        assign ids[ID_WIDTH*b+:ID_WIDTH] = id;
        assign equal[b] = valid[b] && !is_end && id == out_id;
        assign less[b] = valid[b] && !is_end && id < out_id;
        assign unsorted[b] = any_q && valid[b] && !is_end && id <= last_q;
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                held_q <= 1'b0;
                some_q <= 1'b0;
            end else begin
                held_q <= valid[b] && !ready[b];
                if (ready[b]) some_q <= !is_end;
                if (ready[b]) last_of_branch_q <= id;
            end
            id_q <= id;
            end_q <= is_end;
        end
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) any_q <= 1'b0;
        else if (out_valid && sample_ready_i) any_q <= !out_end;
        if (out_valid && sample_ready_i) last_q <= out_id;
    end

    `SWITCHYARD_ASSERT(comes_out_ascending, !out_valid || out_end || !any_q || out_id > last_q)
    `SWITCHYARD_ASSERT(passes_nothing_over, !out_valid || out_end || less == '0)
    `SWITCHYARD_ASSERT(from_those_that_have_it, !out_valid || out_end || (from == equal && from != '0))
    `SWITCHYARD_ASSERT(takes_each_once, ready == (out_valid && sample_ready_i ? (out_end ? {BRANCHES{1'b1}} : from) : '0))
    `SWITCHYARD_ASSERT(ends_with_the_last, !out_valid || !out_end || (ends == '1 && valid == '1))
    `SWITCHYARD_ASSERT(comes_when_all_are_there, out_valid == (valid == '1))

endmodule
