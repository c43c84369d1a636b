// SPDX-License-Identifier: Apache-2.0
// Kernel fitting: the part of the output that this rank computes for the real dyn_dim, as the bounds of a loop nest.
// Combinational: the bounds are ready with the kernel.
//
// The unit level cuts n into units of equal size, of which this is the fitting of one: the kernel's n is below a unit's.
// The tile level splits n, p and k over the ranks, rank = (in * p factors + ip) * k factors + ik, into shares of equal size
// (the last ones may be short or empty) of the sizes that the kernel was made for; the share of n is then clipped to the
// real dyn_dim. Along an axis a block holds reg * pe outputs, and the spm level makes steps of a block. c, r and s run
// inside a block: they only have to be covered. Fields are those of kernel_fetch, blocks of 0 excluded.
module kernel_fitting #(
    parameter int unsigned WIDTH = 16
) (
    input logic [dispatcher_pkg::Levels*dispatcher_pkg::Dims*WIDTH-1:0] blocks_i,
    input logic [dispatcher_pkg::Axes*4-1:0] orders_i,  // of n, k, p, q at the spm level
    input logic [dispatcher_pkg::Dims*WIDTH-1:0] totals_i,
    input logic [WIDTH-1:0] rank_i,
    input logic [WIDTH-1:0] dyn_dim_i,  // real, of the unit; no greater than the kernel's
    output dispatcher_pkg::status_e status_o,
    // Axes n, k, p, q of the tile's output box.
    output logic [3*WIDTH-1:0] begins_o,  // of n, k and p in the operator's output; q begins at 0
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] extents_o,  // 0: nothing to do
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] blocks_o,   // outputs of a block, at most 2^WIDTH - 1
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] regs_o,     // outputs of a PE
    output logic [dispatcher_pkg::Axes*dispatcher_pkg::Axes-1:0] outer_o,  // bit 4 a + b: a's loop is outside b's
    output logic [dispatcher_pkg::Axes*WIDTH-1:0] all_blocks_o,  // of the kernel, issued or not
    output logic [2*WIDTH-1:0] reduction_o                       // products of an output
);

    localparam int unsigned Axes = dispatcher_pkg::Axes;
    localparam int unsigned Dims = dispatcher_pkg::Dims;

    logic [WIDTH-1:0] unit_blocks, unit_samples;
    assign unit_blocks = blocks_i[WIDTH*(dispatcher_pkg::LevelUnit*Dims+dispatcher_pkg::DimN)+:WIDTH];
    assign unit_samples = totals_i[WIDTH*dispatcher_pkg::DimN+:WIDTH] / unit_blocks;

    logic [WIDTH-1:0] total [Dims];
    logic [WIDTH-1:0] reg_block [Dims];
    logic [WIDTH-1:0] pe_block [Dims];
    logic [WIDTH-1:0] spm_block [Dims];
    logic [WIDTH-1:0] tile_block [Dims];
    logic [Dims-1:0] iterates, spread_tiles, spread_pes, reduces_less;
    for (genvar d = 0; d < Dims; d++) begin : gen_dim
        logic [2*WIDTH-1:0] covered;
        assign total[d] = totals_i[WIDTH*d+:WIDTH];
        assign reg_block[d] = blocks_i[WIDTH*(dispatcher_pkg::LevelReg*Dims+d)+:WIDTH];
        assign pe_block[d] = blocks_i[WIDTH*(dispatcher_pkg::LevelPe*Dims+d)+:WIDTH];
        assign spm_block[d] = blocks_i[WIDTH*(dispatcher_pkg::LevelSpm*Dims+d)+:WIDTH];
        assign tile_block[d] = blocks_i[WIDTH*(dispatcher_pkg::LevelTile*Dims+d)+:WIDTH];
        if (d == dispatcher_pkg::DimN) begin : gen_units
            assign iterates[d] = (2 * WIDTH)'(unit_samples) * (2 * WIDTH)'(unit_blocks) != (2 * WIDTH)'(total[d]);
        end else begin : gen_one_unit
            assign iterates[d] = blocks_i[WIDTH*(dispatcher_pkg::LevelUnit*Dims+d)+:WIDTH] != WIDTH'(1);
        end
        assign spread_tiles[d] = tile_block[d] != WIDTH'(1);
        assign spread_pes[d] = pe_block[d] != WIDTH'(1);
        assign covered = reg_block[d] * spm_block[d];
        assign reduces_less[d] = covered < (2 * WIDTH)'(total[d]);
    end

    // The rank's coordinates.
    logic [WIDTH-1:0] share_k, share_p, share_n, rank_above_k;
    assign rank_above_k = rank_i / tile_block[dispatcher_pkg::DimK];
    assign share_k = rank_i % tile_block[dispatcher_pkg::DimK];
    assign share_p = rank_above_k % tile_block[dispatcher_pkg::DimP];
    assign share_n = rank_above_k / tile_block[dispatcher_pkg::DimP];

    // Its box.
    logic [WIDTH-1:0] axis_total [Axes];
    logic [WIDTH-1:0] axis_factor [Axes];
    logic [WIDTH-1:0] axis_share [Axes];
    logic [WIDTH-1:0] axis_limit [Axes];
    logic [WIDTH-1:0] box_begin [Axes];
    logic [WIDTH-1:0] box_extent [Axes];
    logic [Axes-1:0] empty, uncovered;
    logic some;
    assign axis_share[dispatcher_pkg::AxisN] = share_n;
    assign axis_share[dispatcher_pkg::AxisK] = share_k;
    assign axis_share[dispatcher_pkg::AxisP] = share_p;
    assign axis_share[dispatcher_pkg::AxisQ] = '0;
    assign axis_limit[dispatcher_pkg::AxisK] = axis_total[dispatcher_pkg::AxisK];
    assign axis_limit[dispatcher_pkg::AxisP] = axis_total[dispatcher_pkg::AxisP];
    assign axis_limit[dispatcher_pkg::AxisQ] = axis_total[dispatcher_pkg::AxisQ];
    assign axis_limit[dispatcher_pkg::AxisN] = dyn_dim_i;
    for (genvar a = 0; a < Axes; a++) begin : gen_axis
        localparam int unsigned Dim = dispatcher_pkg::axis_dim(a);
        logic [WIDTH:0] rounded_up, share;
        logic [2*WIDTH-1:0] from, to, block, reach;
        logic [WIDTH-1:0] box_end;
        // An axis that is not split has one share of one way.
        assign axis_total[a] = a == dispatcher_pkg::AxisN ? unit_samples : total[Dim];
        assign axis_factor[a] = a == dispatcher_pkg::AxisQ ? WIDTH'(1) : tile_block[Dim];
        assign rounded_up = {1'b0, axis_total[a]} + {1'b0, axis_factor[a]} - 1'b1;
        assign share = rounded_up / {1'b0, axis_factor[a]};
        assign from = share[WIDTH-1:0] * axis_share[a];
        assign to = from + (2 * WIDTH)'(share);
        assign box_begin[a] = from < (2 * WIDTH)'(axis_limit[a]) ? from[WIDTH-1:0] : axis_limit[a];
        assign box_end = to < (2 * WIDTH)'(axis_limit[a]) ? to[WIDTH-1:0] : axis_limit[a];
        assign box_extent[a] = box_end - box_begin[a];
        assign empty[a] = box_extent[a] == '0;
        if (a != dispatcher_pkg::AxisQ) begin : gen_begin
            assign begins_o[WIDTH*a+:WIDTH] = some ? box_begin[a] : '0;
        end
        assign extents_o[WIDTH*a+:WIDTH] = some ? box_extent[a] : '0;
        // A block that is greater than any extent is as good as the greatest one.
        assign block = reg_block[Dim] * pe_block[Dim];
        assign blocks_o[WIDTH*a+:WIDTH] = block[2*WIDTH-1:WIDTH] == '0 ? block[WIDTH-1:0] : '1;
        assign regs_o[WIDTH*a+:WIDTH] = reg_block[Dim];
        assign reach = blocks_o[WIDTH*a+:WIDTH] * spm_block[Dim];
        assign uncovered[a] = some && reach < (2 * WIDTH)'(box_extent[a]);
        for (genvar b = 0; b < Axes; b++) begin : gen_other
            // Order 0 is the innermost loop; of equal ones n is outside k, k outside p, p outside q.
            assign outer_o[Axes*a+b] = orders_i[4*a+:4] > orders_i[4*b+:4] ||
                (a < b && orders_i[4*a+:4] == orders_i[4*b+:4]);
        end
    end
    assign some = share_n < tile_block[dispatcher_pkg::DimN] && empty == '0;

    // Products of several fields, each as wide as it can get.
    logic [3*WIDTH-1:0] products, reg_rows, pe_rows;
    logic too_many_rows, unused_rows;
    assign products = total[dispatcher_pkg::DimC] * total[dispatcher_pkg::DimR] * total[dispatcher_pkg::DimS];
    assign reduction_o = products[2*WIDTH-1:0];
    assign reg_rows = reg_block[dispatcher_pkg::DimN] * reg_block[dispatcher_pkg::DimP] *
        reg_block[dispatcher_pkg::DimQ];
    assign pe_rows = pe_block[dispatcher_pkg::DimN] * pe_block[dispatcher_pkg::DimP] * pe_block[dispatcher_pkg::DimQ];
    assign too_many_rows = reg_rows[3*WIDTH-1:WIDTH] != '0 || pe_rows[3*WIDTH-1:WIDTH] != '0;
    assign unused_rows = ^{reg_rows[WIDTH-1:0], pe_rows[WIDTH-1:0]};
    assign all_blocks_o = spm_block[dispatcher_pkg::DimN] * spm_block[dispatcher_pkg::DimK] *
        spm_block[dispatcher_pkg::DimP] * spm_block[dispatcher_pkg::DimQ];

    // The first rule that is broken. c, r and s are checked one after another, each for PEs first.
    always_comb begin
        status_o = dispatcher_pkg::StatusOk;
        if (products[3*WIDTH-1:2*WIDTH] != '0) status_o = dispatcher_pkg::StatusTooLong;
        if (uncovered != '0) status_o = dispatcher_pkg::StatusUncovered;
        if (too_many_rows) status_o = dispatcher_pkg::StatusRows;
        if (reduces_less[dispatcher_pkg::DimS]) status_o = dispatcher_pkg::StatusReduction;
        if (spread_pes[dispatcher_pkg::DimS]) status_o = dispatcher_pkg::StatusPes;
        if (reduces_less[dispatcher_pkg::DimR]) status_o = dispatcher_pkg::StatusReduction;
        if (spread_pes[dispatcher_pkg::DimR]) status_o = dispatcher_pkg::StatusPes;
        if (reduces_less[dispatcher_pkg::DimC]) status_o = dispatcher_pkg::StatusReduction;
        if (spread_pes[dispatcher_pkg::DimC]) status_o = dispatcher_pkg::StatusPes;
        if (spread_tiles[dispatcher_pkg::DimC] || spread_tiles[dispatcher_pkg::DimQ] ||
            spread_tiles[dispatcher_pkg::DimR] || spread_tiles[dispatcher_pkg::DimS])
            status_o = dispatcher_pkg::StatusTiles;
        if (iterates != '0) status_o = dispatcher_pkg::StatusUnits;
    end

endmodule
