// SPDX-License-Identifier: Apache-2.0
// What a block puts on the PE array: rows x columns PEs with row_outputs x column_outputs accumulators each. n, p and q
// lie along the rows, k along the columns; PE i of an axis holds the outputs [i * reg, (i + 1) * reg) of its extent.
module block_shape #(
    parameter int unsigned WIDTH = 16
) (
    input logic [dispatcher_pkg::Axes*WIDTH-1:0] extent_i,
    input logic [dispatcher_pkg::Axes*WIDTH-1:0] regs_i,
    output logic [WIDTH-1:0] rows_o,
    output logic [WIDTH-1:0] columns_o,
    output logic [WIDTH-1:0] row_outputs_o,
    output logic [WIDTH-1:0] column_outputs_o
);

    localparam int unsigned Axes = dispatcher_pkg::Axes;
    localparam int unsigned AxisN = dispatcher_pkg::AxisN;
    localparam int unsigned AxisK = dispatcher_pkg::AxisK;
    localparam int unsigned AxisP = dispatcher_pkg::AxisP;
    localparam int unsigned AxisQ = dispatcher_pkg::AxisQ;

    logic [WIDTH-1:0] lanes [Axes];
    logic [WIDTH-1:0] depth [Axes];
    for (genvar a = 0; a < Axes; a++) begin : gen_axis
        logic [WIDTH:0] rounded_up;
        assign rounded_up = {1'b0, extent_i[WIDTH*a+:WIDTH]} + {1'b0, regs_i[WIDTH*a+:WIDTH]} - 1'b1;
        assign lanes[a] = WIDTH'(rounded_up / {1'b0, regs_i[WIDTH*a+:WIDTH]});
        assign depth[a] = extent_i[WIDTH*a+:WIDTH] < regs_i[WIDTH*a+:WIDTH] ? extent_i[WIDTH*a+:WIDTH]
                                                                             : regs_i[WIDTH*a+:WIDTH];
    end

    // kernel_fitting has made sure that the products fit.
    assign rows_o = lanes[AxisN] * lanes[AxisP] * lanes[AxisQ];
    assign columns_o = lanes[AxisK];
    assign row_outputs_o = depth[AxisN] * depth[AxisP] * depth[AxisQ];
    assign column_outputs_o = depth[AxisK];

endmodule
