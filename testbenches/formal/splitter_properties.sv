// SPDX-License-Identifier: Apache-2.0
// switch_splitter, for any samples, masks and waiting: every sample is offered to exactly the branches that its mask names,
// in order and once, and the end of a unit to all.
`include "switchyard_assert.svh"

module splitter_properties #(
    parameter int unsigned BRANCHES = 4,
    parameter int unsigned ID_WIDTH = 3
) (
    input logic clk_i,
    input logic sample_valid_i,
    input logic sample_end_i,
    input logic [BRANCHES-1:0] sample_mask_i,
    input logic [BRANCHES-1:0] branch_ready_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    // Samples are numbered as they come in.
    logic [ID_WIDTH-1:0] number_q, present_q, id;
    logic [BRANCHES-1:0] wanted_q, got_q, valid;
    logic ready, is_end, end_q;
    switch_splitter #(
        .BRANCHES(BRANCHES),
        .ID_WIDTH(ID_WIDTH)
    ) u_splitter (
        .clk_i,
        .rst_ni,
        .sample_valid_i,
        .sample_ready_o(ready),
        .sample_end_i,
        .sample_id_i(number_q),
        .sample_mask_i,
        .branch_valid_o(valid),
        .branch_ready_i,
        .branch_end_o(is_end),
        .branch_id_o(id)
    );

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            number_q <= '0;
            wanted_q <= '0;
            got_q <= '0;
        end else begin
            got_q <= got_q | (valid & branch_ready_i);
            if (sample_valid_i && ready) begin
                number_q <= number_q + 1'b1;
                present_q <= number_q;
                end_q <= sample_end_i;
                wanted_q <= sample_end_i ? '1 : sample_mask_i;
                got_q <= '0;
            end
        end
    end

    `SWITCHYARD_ASSERT(offers_what_the_mask_names, valid == (wanted_q & ~got_q))
    `SWITCHYARD_ASSERT(offers_the_present_sample, valid == '0 || (id == present_q && is_end == end_q))
    `SWITCHYARD_ASSERT(forgets_nobody, !ready || (wanted_q & ~(got_q | branch_ready_i)) == '0)
    `SWITCHYARD_ASSERT(waits_for_branches_alone, ready || (valid & ~branch_ready_i) != '0)

endmodule
