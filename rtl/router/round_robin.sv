// SPDX-License-Identifier: Apache-2.0
// A round-robin arbiter: grants the first request at or after the pointer, cyclically. Combinational; round_robin_pointer
// keeps the pointer.
module round_robin #(
    parameter int unsigned WIDTH = 4,
    localparam int unsigned IndexWidth = WIDTH > 1 ? $clog2(WIDTH) : 1
) (
    input logic [WIDTH-1:0] request_i,
    input logic [IndexWidth-1:0] pointer_i,
    output logic [WIDTH-1:0] grant_o  // one-hot, or nothing
);

    logic [WIDTH-1:0] later, candidates;
    assign later = request_i & ({WIDTH{1'b1}} << pointer_i);
    assign candidates = later != '0 ? later : request_i;
    assign grant_o = candidates & (~candidates + 1'b1);

endmodule
