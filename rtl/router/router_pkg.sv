// SPDX-License-Identifier: Apache-2.0
// What the blocks of the router share.
package router_pkg;

    // Ports: x grows to the east, y to the south; from PortLocal on, one port an endpoint.
    localparam int unsigned PortNorth = 0;
    localparam int unsigned PortEast = 1;
    localparam int unsigned PortSouth = 2;
    localparam int unsigned PortWest = 3;
    localparam int unsigned PortLocal = 4;

    // A flit: these two bits, then its data.
    localparam int unsigned FlitHead = 0;
    localparam int unsigned FlitTail = 1;
    localparam int unsigned FlitFlags = 2;

    // Traffic classes, each with virtual channels of its own.
    localparam int unsigned Groups = 2;  // data, control

endpackage
