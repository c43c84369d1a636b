// SPDX-License-Identifier: Apache-2.0
// Stand-ins for the dispatcher's arithmetic, with any result: what the control does must not depend on it. nest_properties
// and the regression are about the real ones.
module kernel_fitting (
    input logic [dispatcher_pkg::Levels*dispatcher_pkg::Dims*16-1:0] blocks_i,
    input logic [dispatcher_pkg::Axes*4-1:0] orders_i,
    input logic [dispatcher_pkg::Dims*16-1:0] totals_i,
    input logic [15:0] rank_i,
    input logic [15:0] dyn_dim_i,
    output dispatcher_pkg::status_e status_o,
    output logic [3*16-1:0] begins_o,
    output logic [dispatcher_pkg::Axes*16-1:0] extents_o,
    output logic [dispatcher_pkg::Axes*16-1:0] blocks_o,
    output logic [dispatcher_pkg::Axes*16-1:0] regs_o,
    output logic [dispatcher_pkg::Axes*dispatcher_pkg::Axes-1:0] outer_o,
    output logic [dispatcher_pkg::Axes*16-1:0] all_blocks_o,
    output logic [31:0] reduction_o
);
    // Ok, or one of its own.
    logic [2:0] any_status;
    assign status_o = any_status == '0 ? dispatcher_pkg::StatusOk : dispatcher_pkg::StatusTooLong - 5'(any_status) + 5'd1;
endmodule

module block_shape (
    input logic [dispatcher_pkg::Axes*16-1:0] extent_i,
    input logic [dispatcher_pkg::Axes*16-1:0] regs_i,
    output logic [15:0] rows_o,
    output logic [15:0] columns_o,
    output logic [15:0] row_outputs_o,
    output logic [15:0] column_outputs_o
);
endmodule

module address_generator (
    input logic [dispatcher_pkg::Axes*16-1:0] position_i,
    input logic [15:0] first_p_i,
    input logic [15:0] k_i,
    input logic [15:0] p_i,
    input logic [15:0] q_i,
    input logic [31:0] reduction_i,
    input logic [3:0] row_stride_i,
    input logic [3:0] column_stride_i,
    input logic [7:0] pad_i,
    input logic [15:0] filter_rows_i,
    input logic channelwise_i,
    input logic [15:0] channels_i,
    input logic [15:0] rows_i,
    input logic [15:0] columns_i,
    input logic [31:0] input_offset_i,
    input logic [31:0] weight_offset_i,
    input logic [31:0] output_offset_i,
    output logic [31:0] input_address_o,
    output logic [31:0] weight_address_o,
    output logic [31:0] output_address_o
);
endmodule

// Any sequence of blocks, with the ports of a nest: nest_properties shows that the real one has them.
module loop_nest (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic stop_i,
    input logic [dispatcher_pkg::Axes*16-1:0] extents_i,
    input logic [dispatcher_pkg::Axes*16-1:0] blocks_i,
    input logic [dispatcher_pkg::Axes*dispatcher_pkg::Axes-1:0] outer_i,
    output logic busy_o,
    output logic valid_o,
    input logic ready_i,
    output logic [dispatcher_pkg::Axes*16-1:0] position_o,
    output logic [dispatcher_pkg::Axes*16-1:0] extent_o,
    output logic first_o,
    output logic last_o
);
    logic busy_q, last_q, any_last;
    logic [dispatcher_pkg::Axes*16-1:0] any_position, any_extent;
    assign busy_o = busy_q;
    assign valid_o = busy_q;
    assign last_o = last_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) busy_q <= 1'b0;
        else if (stop_i) busy_q <= 1'b0;
        else if (start_i) busy_q <= 1'b1;
        else if (valid_o && ready_i && last_q) busy_q <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
        if (start_i || (valid_o && ready_i)) begin
            last_q <= any_last;
            position_o <= any_position;
            extent_o <= any_extent;
        end
    end
endmodule
