// SPDX-License-Identifier: Apache-2.0
// The counter of the upstream load module (ACE, section 4.3): the id of the oldest kernel in the scheduling window, and how
// many kernels, itself included, have come in since. Ids are given out one after another; when the oldest kernel has left,
// the counter goes to the next one that is there, an id a cycle.
module oldest_kernel #(
    parameter int unsigned ID_WIDTH = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic insert_i,
    input logic present_i,  // the kernel oldest_o is in the window
    output logic [ID_WIDTH-1:0] oldest_o,
    output logic [ID_WIDTH:0] since_o
);

    logic [ID_WIDTH-1:0] oldest_q;
    logic [ID_WIDTH:0] since_q;
    logic next;

    assign next = since_q != '0 && !present_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            oldest_q <= '0;
            since_q <= '0;
        end else begin
            if (next) oldest_q <= oldest_q + 1'b1;
            since_q <= since_q + (ID_WIDTH + 1)'(insert_i) - (ID_WIDTH + 1)'(next);
        end
    end

    assign oldest_o = oldest_q;
    assign since_o = since_q;

endmodule
