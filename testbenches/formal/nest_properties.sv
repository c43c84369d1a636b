// SPDX-License-Identifier: Apache-2.0
// kernel_fitting and loop_nest, for any kernel, rank and real dyn_dim: every output of the rank's box is in exactly one of
// the blocks that leave the nest, none reaches beyond the real dyn_dim or the operator, and the nest ends.
`include "switchyard_assert.svh"

module nest_properties #(
    parameter int unsigned WIDTH = 2,
    localparam int unsigned Axes = dispatcher_pkg::Axes,
    localparam int unsigned Dims = dispatcher_pkg::Dims,
    localparam int unsigned Levels = dispatcher_pkg::Levels
) (
    input logic clk_i,
    input logic start_i,
    input logic ready_i,
    // A kernel, and any output of the operator.
    input logic [Levels*Dims*WIDTH-1:0] blocks_i,
    input logic [Axes*4-1:0] orders_i,
    input logic [Dims*WIDTH-1:0] totals_i,
    input logic [WIDTH-1:0] rank_i,
    input logic [WIDTH-1:0] dyn_dim_i,
    input logic [Axes*WIDTH-1:0] output_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    dispatcher_pkg::status_e status;
    logic [3*WIDTH-1:0] begins, begins_q;
    logic [Axes*WIDTH-1:0] extents, block_sizes, regs, all_blocks, extents_q, block_sizes_q, output_q, totals_q;
    logic [Axes*Axes-1:0] outer, outer_q;
    logic [2*WIDTH-1:0] reduction;
    logic [WIDTH-1:0] dyn_dim_q;
    kernel_fitting #(
        .WIDTH(WIDTH)
    ) u_fitting (
        .blocks_i,
        .orders_i,
        .totals_i,
        .rank_i,
        .dyn_dim_i,
        .status_o(status),
        .begins_o(begins),
        .extents_o(extents),
        .blocks_o(block_sizes),
        .regs_o(regs),
        .outer_o(outer),
        .all_blocks_o(all_blocks),
        .reduction_o(reduction)
    );

    // What the dispatcher makes sure of: no field is 0, the real dyn_dim is no greater than that of one of the kernel's
    // units, one kernel at a time, and a nest has something to do.
    logic [WIDTH-1:0] units;
    assign units = blocks_i[WIDTH*(dispatcher_pkg::LevelUnit*Dims+dispatcher_pkg::DimN)+:WIDTH];
    logic [Levels*Dims-1:0] no_block;
    logic [Dims-1:0] no_total;
    logic start, busy;
    for (genvar i = 0; i < Levels * Dims; i++) begin : gen_block
        assign no_block[i] = blocks_i[WIDTH*i+:WIDTH] == '0;
    end
    for (genvar d = 0; d < Dims; d++) begin : gen_total
        assign no_total[d] = totals_i[WIDTH*d+:WIDTH] == '0;
    end
    assign start = start_i && !busy && no_block == '0 && no_total == '0 &&
        (2 * WIDTH)'(dyn_dim_i) * (2 * WIDTH)'(units) <= (2 * WIDTH)'(totals_i[WIDTH*dispatcher_pkg::DimN+:WIDTH]) &&
        status == dispatcher_pkg::StatusOk && extents != '0;

    always_ff @(posedge clk_i) begin
        if (start) begin
            begins_q <= begins;
            extents_q <= extents;
            block_sizes_q <= block_sizes;
            outer_q <= outer;
            dyn_dim_q <= dyn_dim_i;
            output_q <= output_i;
            totals_q <= {totals_i[WIDTH*dispatcher_pkg::DimQ+:WIDTH], totals_i[WIDTH*dispatcher_pkg::DimP+:WIDTH],
                totals_i[WIDTH*dispatcher_pkg::DimK+:WIDTH], totals_i[WIDTH*dispatcher_pkg::DimN+:WIDTH]};
        end
    end

    logic valid, first, last;
    logic [Axes*WIDTH-1:0] position, extent;
    loop_nest #(
        .WIDTH(WIDTH)
    ) u_nest (
        .clk_i,
        .rst_ni,
        .start_i(start),
        .stop_i(1'b0),
        .extents_i(extents_q),
        .blocks_i(block_sizes_q),
        .outer_i(outer_q),
        .busy_o(busy),
        .valid_o(valid),
        .ready_i,
        .position_o(position),
        .extent_o(extent),
        .first_o(first),
        .last_o(last)
    );

    // Where the nest was, if it has stepped since.
    logic [Axes*WIDTH-1:0] previous_q;
    logic stepped_q;
    always_ff @(posedge clk_i) begin
        previous_q <= position;
        stepped_q <= rst_ni && valid && ready_i && !start;
    end

    // Bounds of the block, in the operator.
    logic [Axes-1:0] beyond, nothing, holds, wanted, before, later, fixed;
    for (genvar a = 0; a < Axes; a++) begin : gen_axis
        logic [WIDTH+1:0] from, to, limit, at;
        logic [WIDTH-1:0] now, past;
        logic [Axes-1:0] outer_hold, outer_same;
        assign from = (a == dispatcher_pkg::AxisQ ? '0 : (WIDTH + 2)'(begins_q[WIDTH*(a%3)+:WIDTH])) +
            (WIDTH + 2)'(position[WIDTH*a+:WIDTH]);
        assign to = from + (WIDTH + 2)'(extent[WIDTH*a+:WIDTH]);
        assign limit = (WIDTH + 2)'(a == dispatcher_pkg::AxisN ? dyn_dim_q : totals_q[WIDTH*a+:WIDTH]);
        assign beyond[a] = to > limit;
        assign nothing[a] = extent[WIDTH*a+:WIDTH] == '0;

        // One output of the box, followed: is it in the block?
        assign at = (WIDTH + 2)'(output_q[WIDTH*a+:WIDTH]);
        assign wanted[a] = output_q[WIDTH*a+:WIDTH] < extents_q[WIDTH*a+:WIDTH];
        assign holds[a] = at >= (WIDTH + 2)'(position[WIDTH*a+:WIDTH]) &&
            at < (WIDTH + 2)'(position[WIDTH*a+:WIDTH]) + (WIDTH + 2)'(extent[WIDTH*a+:WIDTH]);

        // Is it before the nest's present position in the nest's order? It is if it is before it in the loop of one
        // axis and inside the present step of all loops around that.
        assign now = position[WIDTH*a+:WIDTH];
        assign fixed[a] = at >= (WIDTH + 2)'(now) &&
            at < (WIDTH + 2)'(now) + (WIDTH + 2)'(block_sizes_q[WIDTH*a+:WIDTH]);
        for (genvar b = 0; b < Axes; b++) begin : gen_other
            assign outer_hold[b] = !outer_q[Axes*b+a] || fixed[b];
            assign outer_same[b] = !outer_q[Axes*b+a] ||
                position[WIDTH*b+:WIDTH] == previous_q[WIDTH*b+:WIDTH];
        end
        assign before[a] = at < (WIDTH + 2)'(now) && outer_hold == '1;
        assign past = previous_q[WIDTH*a+:WIDTH];
        assign later[a] = now > past && outer_same == '1;
    end

    `SWITCHYARD_ASSERT(within_dyn_dim, !valid || !beyond[dispatcher_pkg::AxisN])
    `SWITCHYARD_ASSERT(within_operator, !valid || beyond[dispatcher_pkg::AxisQ:dispatcher_pkg::AxisK] == '0)
    `SWITCHYARD_ASSERT(computes_something, !valid || nothing == '0)

    // Each step of the nest is later in its order than the one before. The positions are bounded, so it ends.
    `SWITCHYARD_ASSERT(terminates, !(stepped_q && busy) || later != '0)

    // Exactly once: an output has been computed if it is before the present position, and not yet if it is not.
    logic computed_q, ran_q, computes, taken;
    assign taken = valid && ready_i;
    assign computes = taken && holds == '1;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || start) computed_q <= 1'b0;
        else if (computes) computed_q <= 1'b1;
    end
    always_ff @(posedge clk_i) begin
        if (!rst_ni) ran_q <= 1'b0;
        else if (start) ran_q <= 1'b1;
    end
    `SWITCHYARD_ASSERT(not_twice, !(computes && computed_q))
    `SWITCHYARD_ASSERT(computed_if_before, !busy || wanted != '1 || computed_q == (before != '0))
    `SWITCHYARD_ASSERT(all_computed, busy || !ran_q || wanted != '1 || computed_q)
    `SWITCHYARD_ASSERT_NEXT(block_stays, valid && !ready_i, valid && position == $past(position))

    // What makes it inductive: the nest has begun and stands on a block with something to do, the box lies in the
    // operator, and "outside" orders the loops.
    logic [Axes-1:0] outside, box_beyond;
    logic [Axes*Axes-1:0] order_wrong;
    for (genvar a = 0; a < Axes; a++) begin : gen_outside
        logic [WIDTH+1:0] box_end;
        assign outside[a] = position[WIDTH*a+:WIDTH] >= extents_q[WIDTH*a+:WIDTH] ||
            block_sizes_q[WIDTH*a+:WIDTH] == '0;
        assign box_end = (a == dispatcher_pkg::AxisQ ? '0 : (WIDTH + 2)'(begins_q[WIDTH*(a%3)+:WIDTH])) +
            (WIDTH + 2)'(extents_q[WIDTH*a+:WIDTH]);
        assign box_beyond[a] =
            box_end > (WIDTH + 2)'(a == dispatcher_pkg::AxisN ? dyn_dim_q : totals_q[WIDTH*a+:WIDTH]);
        for (genvar b = 0; b < Axes; b++) begin : gen_order
            logic [Axes-1:0] chain_broken;
            for (genvar c = 0; c < Axes; c++) begin : gen_chain
                assign chain_broken[c] = outer_q[Axes*a+b] && outer_q[Axes*b+c] && !outer_q[Axes*a+c];
            end
            assign order_wrong[Axes*a+b] = chain_broken != '0 ||
                (a == b ? outer_q[Axes*a+b] : outer_q[Axes*a+b] == outer_q[Axes*b+a]);
        end
    end
    `SWITCHYARD_ASSERT(stands_inside, !busy || (ran_q && outside == '0))
    `SWITCHYARD_ASSERT(box_inside, !ran_q || box_beyond == '0)
    `SWITCHYARD_ASSERT(loops_are_ordered, !ran_q || order_wrong == '0)

endmodule
