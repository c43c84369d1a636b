// SPDX-License-Identifier: Apache-2.0
// Binary16 fused multiply-add y = a * b + c, as fp16_fma, in three register stages: multiply, add, round.
// One result a cycle; ready/valid on both sides.
module fp16_fma_pipe (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    output logic        ready_o,
    input  logic [15:0] a_i,
    input  logic [15:0] b_i,
    input  logic [15:0] c_i,
    output logic        valid_o,
    input  logic        ready_i,
    output logic [15:0] y_o
);

    logic [2:0]  load;
    logic [31:0] product_q, addend_q;
    logic [36:0] sum_q;
    logic [15:0] result_q;

    pipeline_control #(
        .STAGES(3)
    ) u_control (
        .clk_i,
        .rst_ni,
        .valid_i,
        .ready_o,
        .valid_o,
        .ready_i,
        .load_o (load)
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            product_q <= '0;
            addend_q  <= '0;
            sum_q     <= '0;
            result_q  <= '0;
        end else begin
            if (load[0]) begin
                product_q <= fp16_pkg::multiply(a_i, b_i);
                addend_q  <= fp16_pkg::widen(c_i);
            end
            if (load[1]) sum_q <= fp16_pkg::add(product_q, addend_q);
            if (load[2]) result_q <= fp16_pkg::round16(sum_q);
        end
    end

    assign y_o = result_q;

endmodule
