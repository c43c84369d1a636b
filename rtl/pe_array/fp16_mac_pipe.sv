// SPDX-License-Identifier: Apache-2.0
// y = a * b + c in three register stages: multiply, add, round. The accumulator is binary32, as in fp16_mac32, or with
// ACC_FP16 binary16, as in fp16_fma. One result a cycle; ready/valid on both sides.
module fp16_mac_pipe #(
    parameter bit ACC_FP16 = 1'b0,
    localparam int unsigned AccWidth = ACC_FP16 ? 16 : 32
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                valid_i,
    output logic                ready_o,
    input  logic [15:0]         a_i,
    input  logic [15:0]         b_i,
    input  logic [AccWidth-1:0] c_i,
    output logic                valid_o,
    input  logic                ready_i,
    output logic [AccWidth-1:0] y_o
);

    logic [2:0]          load;
    logic [31:0]         product_q, addend_q;
    logic [36:0]         sum_q;
    logic [AccWidth-1:0] result_q;

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
                if (ACC_FP16) addend_q <= fp16_pkg::widen(16'(c_i));
                else addend_q <= 32'(c_i);
            end
            if (load[1]) sum_q <= fp16_pkg::add(product_q, addend_q);
            if (load[2]) begin
                if (ACC_FP16) result_q <= AccWidth'(fp16_pkg::round16(sum_q));
                else result_q <= AccWidth'(fp16_pkg::round32(sum_q));
            end
        end
    end

    assign y_o = result_q;

endmodule
