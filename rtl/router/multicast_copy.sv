// SPDX-License-Identifier: Apache-2.0
// The flit as it leaves by PORT: a head flit keeps the destinations that lie behind that port; see route_computation for
// the header. Combinational.
module multicast_copy #(
    parameter int unsigned PORT = 0,
    parameter int unsigned LOCALS = 1,
    parameter int unsigned COLUMNS = 4,
    parameter int unsigned ROWS = 4,
    parameter int unsigned FLIT_BITS = 64,
    localparam int unsigned XWidth = COLUMNS > 1 ? $clog2(COLUMNS) : 1,
    localparam int unsigned YWidth = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input logic [XWidth-1:0] x_i,
    input logic [YWidth-1:0] y_i,
    input logic [FLIT_BITS-1:0] flit_i,
    output logic [FLIT_BITS-1:0] flit_o
);

    localparam int unsigned Begin = router_pkg::FlitFlags;
    localparam int unsigned Grid = COLUMNS * ROWS * LOCALS;
    localparam int unsigned WestAt = Begin + Grid;
    localparam int unsigned NorthAt = WestAt + 2 * COLUMNS;

    logic head;
    logic [Grid-1:0] behind;
    assign head = flit_i[router_pkg::FlitHead];
    for (genvar r = 0; r < ROWS; r++) begin : gen_row
        for (genvar c = 0; c < COLUMNS; c++) begin : gen_column
            logic same_column, same_row, west, north;
            assign same_column = XWidth'(c) == x_i;
            assign same_row = YWidth'(r) == y_i;
            assign west = flit_i[WestAt+c];
            assign north = flit_i[NorthAt+r];
            for (genvar l = 0; l < LOCALS; l++) begin : gen_local
                if (PORT == router_pkg::PortNorth) begin : gen_north
                    assign behind[LOCALS*(r*COLUMNS+c)+l] = same_column && !same_row && north;
                end else if (PORT == router_pkg::PortEast) begin : gen_east
                    assign behind[LOCALS*(r*COLUMNS+c)+l] = !same_column && !west;
                end else if (PORT == router_pkg::PortSouth) begin : gen_south
                    assign behind[LOCALS*(r*COLUMNS+c)+l] = same_column && !same_row && !north;
                end else if (PORT == router_pkg::PortWest) begin : gen_west
                    assign behind[LOCALS*(r*COLUMNS+c)+l] = !same_column && west;
                end else begin : gen_here
                    assign behind[LOCALS*(r*COLUMNS+c)+l] = same_column && same_row && l == PORT - router_pkg::PortLocal;
                end
                logic unused;
                assign unused = ^{same_row, west, north};
            end
        end
    end
    assign flit_o = {flit_i[FLIT_BITS-1:WestAt], head ? flit_i[Begin+:Grid] & behind : flit_i[Begin+:Grid],
        flit_i[Begin-1:0]};

endmodule
