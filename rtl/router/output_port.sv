// SPDX-License-Identifier: Apache-2.0
// From the switch to the link: SWITCH_CYCLES registers for the traversal, and one at the pins. A head flit keeps the
// destinations behind this port.
module output_port #(
    parameter int unsigned PORT = 0,
    parameter int unsigned LOCALS = 1,
    parameter int unsigned VCS = 4,
    parameter int unsigned COLUMNS = 4,
    parameter int unsigned ROWS = 4,
    parameter int unsigned FLIT_BITS = 64,
    parameter int unsigned SWITCH_CYCLES = 1,
    localparam int unsigned XWidth = COLUMNS > 1 ? $clog2(COLUMNS) : 1,
    localparam int unsigned YWidth = ROWS > 1 ? $clog2(ROWS) : 1,
    localparam int unsigned VcWidth = VCS > 1 ? $clog2(VCS) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [XWidth-1:0] x_i,
    input logic [YWidth-1:0] y_i,
    input logic valid_i,
    input logic [VCS-1:0] vc_i,  // one-hot
    input logic [FLIT_BITS-1:0] flit_i,
    output logic valid_o,
    output logic [VcWidth-1:0] vc_o,
    output logic [FLIT_BITS-1:0] flit_o,
    output logic busy_o
);

    localparam int unsigned Stages = SWITCH_CYCLES + 1;
    localparam int unsigned Word = VcWidth + FLIT_BITS;

    logic [FLIT_BITS-1:0] copy;
    logic [VcWidth-1:0] vc;
    multicast_copy #(
        .PORT(PORT),
        .LOCALS(LOCALS),
        .COLUMNS(COLUMNS),
        .ROWS(ROWS),
        .FLIT_BITS(FLIT_BITS)
    ) u_copy (
        .x_i,
        .y_i,
        .flit_i,
        .flit_o(copy)
    );
    always_comb begin
        vc = '0;
        for (int unsigned v = 0; v < VCS; v++) if (vc_i[v]) vc |= VcWidth'(v);
    end

    logic [Stages-1:0] valid_q;
    logic [Stages*Word-1:0] word_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) valid_q <= '0;
        else valid_q <= {valid_q[Stages-2:0], valid_i};
    end
    for (genvar s = 0; s < Stages; s++) begin : gen_stage
        if (s == 0) begin : gen_first
            always_ff @(posedge clk_i) if (valid_i) word_q[0+:Word] <= {vc, copy};
        end else begin : gen_later
            always_ff @(posedge clk_i) if (valid_q[s-1]) word_q[Word*s+:Word] <= word_q[Word*(s-1)+:Word];
        end
    end
    assign valid_o = valid_q[Stages-1];
    assign {vc_o, flit_o} = word_q[Word*(Stages-1)+:Word];
    assign busy_o = valid_q != '0;

endmodule
