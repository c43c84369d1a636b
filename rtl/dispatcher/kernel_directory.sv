// SPDX-License-Identifier: Apache-2.0
// The dispatcher's directory of the kernel store: dyn_dim and checksum of each kernel, in the order of the store.
//
// `append_i` adds an entry behind the last one, `clear_i` forgets them all. Reads are combinational. An entry also
// knows where the strictly growing run of dyn_dims begins that ends with it, which says whether a range is sorted.
module kernel_directory #(
    parameter int unsigned KERNELS = 256,
    parameter int unsigned DYN_WIDTH = 16,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic append_i,
    input logic [DYN_WIDTH-1:0] append_dyn_dim_i,
    input logic [15:0] append_crc_i,
    output logic [IndexWidth:0] kernels_o,
    // The search's port.
    input logic [IndexWidth-1:0] search_index_i,
    output logic [DYN_WIDTH-1:0] search_dyn_dim_o,
    // The last entry of a range.
    input logic [IndexWidth-1:0] end_index_i,
    output logic [DYN_WIDTH-1:0] end_dyn_dim_o,
    output logic [IndexWidth-1:0] end_run_begin_o,
    // The kernel that was selected.
    input logic [IndexWidth-1:0] selected_index_i,
    output logic [15:0] selected_crc_o
);

    logic [DYN_WIDTH-1:0] dyn_dims_q [KERNELS];
    logic [15:0] crcs_q [KERNELS];
    logic [IndexWidth-1:0] run_begins_q [KERNELS];
    logic [IndexWidth:0] kernels_q;
    logic [DYN_WIDTH-1:0] last_dyn_dim_q;
    logic [IndexWidth-1:0] last_run_begin_q;
    logic [IndexWidth-1:0] run_begin_d;
    logic grows;

    assign grows = kernels_q != '0 && last_dyn_dim_q < append_dyn_dim_i;
    assign run_begin_d = grows ? last_run_begin_q : kernels_q[IndexWidth-1:0];

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            kernels_q <= '0;
            last_dyn_dim_q <= '0;
            last_run_begin_q <= '0;
        end else if (clear_i) begin
            kernels_q <= '0;
        end else if (append_i) begin
            kernels_q <= kernels_q + 1'b1;
            last_dyn_dim_q <= append_dyn_dim_i;
            last_run_begin_q <= run_begin_d;
        end
    end

    always_ff @(posedge clk_i) begin
        if (append_i) begin
            dyn_dims_q[kernels_q[IndexWidth-1:0]] <= append_dyn_dim_i;
            crcs_q[kernels_q[IndexWidth-1:0]] <= append_crc_i;
            run_begins_q[kernels_q[IndexWidth-1:0]] <= run_begin_d;
        end
    end

    assign kernels_o = kernels_q;
    assign search_dyn_dim_o = dyn_dims_q[search_index_i];
    assign end_dyn_dim_o = dyn_dims_q[end_index_i];
    assign end_run_begin_o = run_begins_q[end_index_i];
    assign selected_crc_o = crcs_q[selected_index_i];

endmodule
