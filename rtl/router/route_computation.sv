// SPDX-License-Identifier: Apache-2.0
// By which ports a packet leaves: X-Y order, along its row first, then along its column. Combinational.
//
// The header, in the data of a head flit, lowest bit first:
//   destinations  a bit for each endpoint: (row * COLUMNS + column) * LOCALS + local port
//   to_west, x_crosses    by column: its destinations are reached westward; the way there crosses the dateline
//   to_north, y_crosses   by row: the same
//   length        flits, if multicast
//   multicast     moves only where the next buffer has room for all of it; may be copied on the way
//   control       traffic class
// The source has decided on directions, and on dateline classes with them: a router need not know where a packet is from,
// nor how large the network is.
module route_computation #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned DEPTH = 8,
    parameter int unsigned COLUMNS = 4,
    parameter int unsigned ROWS = 4,
    localparam int unsigned Locals = PORTS - router_pkg::PortLocal,
    localparam int unsigned Grid = COLUMNS * ROWS * Locals,
    localparam int unsigned LengthWidth = $clog2(DEPTH + 1),
    localparam int unsigned HeaderBits = Grid + 2 * (COLUMNS + ROWS) + LengthWidth + 2,
    localparam int unsigned XWidth = COLUMNS > 1 ? $clog2(COLUMNS) : 1,
    localparam int unsigned YWidth = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input logic [XWidth-1:0] x_i,  // where this router is
    input logic [YWidth-1:0] y_i,
    input logic [HeaderBits-1:0] header_i,
    output logic [PORTS-1:0] ports_o,
    output logic [PORTS-1:0] crosses_o,  // by port: uses the class of those that cross the dateline
    output logic [LengthWidth-1:0] length_o,
    output logic multicast_o,
    output logic control_o
);

    logic [Grid-1:0] destinations;
    logic [COLUMNS-1:0] to_west, x_crosses;
    logic [ROWS-1:0] to_north, y_crosses;
    assign {control_o, multicast_o, length_o, y_crosses, to_north, x_crosses, to_west, destinations} = header_i;

    // What lies behind each port.
    logic [COLUMNS-1:0] in_column, other_column;
    logic [ROWS-1:0] in_row, other_row;
    logic [Locals-1:0] here;
    for (genvar c = 0; c < COLUMNS; c++) begin : gen_column
        logic [ROWS-1:0] rows;
        for (genvar r = 0; r < ROWS; r++) begin : gen_row_of_column
            assign rows[r] = destinations[Locals*(r*COLUMNS+c)+:Locals] != '0;
        end
        assign in_column[c] = rows != '0;
        assign other_column[c] = XWidth'(c) != x_i;
    end
    for (genvar r = 0; r < ROWS; r++) begin : gen_row
        logic [Locals*COLUMNS-1:0] row;
        assign row = destinations[Locals*COLUMNS*r+:Locals*COLUMNS];
        assign in_row[r] = Locals'(row >> (Locals * 32'(x_i))) != '0;
        assign other_row[r] = YWidth'(r) != y_i;
    end
    assign here = Locals'(destinations >> (Locals * (32'(y_i) * COLUMNS + 32'(x_i))));

    logic [COLUMNS-1:0] east, west;
    logic [ROWS-1:0] south, north;
    assign east = in_column & other_column & ~to_west;
    assign west = in_column & other_column & to_west;
    assign south = in_row & other_row & ~to_north;
    assign north = in_row & other_row & to_north;
    assign ports_o[router_pkg::PortNorth] = north != '0;
    assign ports_o[router_pkg::PortEast] = east != '0;
    assign ports_o[router_pkg::PortSouth] = south != '0;
    assign ports_o[router_pkg::PortWest] = west != '0;
    assign ports_o[PORTS-1:router_pkg::PortLocal] = here;
    assign crosses_o[router_pkg::PortNorth] = (north & y_crosses) != '0;
    assign crosses_o[router_pkg::PortEast] = (east & x_crosses) != '0;
    assign crosses_o[router_pkg::PortSouth] = (south & y_crosses) != '0;
    assign crosses_o[router_pkg::PortWest] = (west & x_crosses) != '0;
    assign crosses_o[PORTS-1:router_pkg::PortLocal] = '0;

endmodule
