// SPDX-License-Identifier: Apache-2.0
// Reads one kernel from the scratchpad, checks it and takes it apart: kernel `index_i` is the 128 bytes from address
// index * 128 on, which arrive in one beat.
//
// The fields are those of the beat that `done_o` reports; nobody keeps the kernel. The cycle behind `start_i` asks, and
// the data may come in any later one: two cycles a kernel at best.
`include "switchyard_assert.svh"

module kernel_fetch #(
    parameter int unsigned INDEX_WIDTH = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic [INDEX_WIDTH-1:0] index_i,  // stays until done
    output logic done_o,
    output logic failed_o,  // the scratchpad's error
    output logic bad_o,     // checksum, reserved byte or field
    output logic [15:0] crc_o,
    // Scratchpad: a request, then the data.
    output logic request_valid_o,
    input logic request_ready_i,
    output logic [INDEX_WIDTH-1:0] request_index_o,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [dispatcher_pkg::KernelBits-1:0] data_i,
    input logic data_error_i,
    // Fields, level by level and n, k, c, p, q, r, s within.
    output logic [dispatcher_pkg::Levels*dispatcher_pkg::Dims*16-1:0] blocks_o,
    output logic [dispatcher_pkg::Dims*16-1:0] totals_o,
    output logic [dispatcher_pkg::Axes*4-1:0] orders_o,  // of n, k, p, q at the spm level
    output logic [3:0] row_stride_o,
    output logic [3:0] column_stride_o,
    output logic [7:0] pad_o,
    output logic vector_op_o
);

    localparam int unsigned Loops = dispatcher_pkg::Levels * dispatcher_pkg::Dims;

    typedef enum logic [1:0] {
        FetchIdle,
        FetchRequest,
        FetchData
    } fetch_state_e;
    fetch_state_e state_d, state_q;

    always_comb begin
        state_d = state_q;
        unique case (state_q)
            FetchIdle: if (start_i) state_d = FetchRequest;
            FetchRequest: if (request_ready_i) state_d = FetchData;
            FetchData: if (data_valid_i) state_d = start_i ? FetchRequest : FetchIdle;
            default: state_d = FetchIdle;
        endcase
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) state_q <= FetchIdle;
        else state_q <= state_d;
    end

    assign request_valid_o = state_q == FetchRequest;
    assign request_index_o = index_i;
    assign data_ready_o = state_q == FetchData;
    assign done_o = data_ready_o && data_valid_i;
    assign failed_o = data_error_i;

    // A field that the format does not allow: a block of 0, a stride of 0, an order beyond 6, a total of 0, flags.
    logic [Loops-1:0] bad_loop;
    logic [dispatcher_pkg::Dims-1:0] bad_total;
    for (genvar i = 0; i < Loops; i++) begin : gen_loop
        assign blocks_o[16*i+:16] = data_i[24*i+:16];
        assign bad_loop[i] = data_i[24*i+:16] == '0 || data_i[24*i+16+:4] == '0 ||
            data_i[24*i+20+:4] >= 4'(dispatcher_pkg::Dims);
    end
    for (genvar d = 0; d < dispatcher_pkg::Dims; d++) begin : gen_dim
        assign totals_o[16*d+:16] = data_i[8*dispatcher_pkg::TotalsByte+16*d+:16];
        assign bad_total[d] = data_i[8*dispatcher_pkg::TotalsByte+16*d+:16] == '0;
    end
    for (genvar a = 0; a < dispatcher_pkg::Axes; a++) begin : gen_axis
        localparam int unsigned Loop = dispatcher_pkg::LevelSpm * dispatcher_pkg::Dims + dispatcher_pkg::axis_dim(a);
        assign orders_o[4*a+:4] = data_i[24*Loop+20+:4];
    end
    assign row_stride_o = data_i[24*dispatcher_pkg::DimP+16+:4];
    assign column_stride_o = data_i[24*dispatcher_pkg::DimQ+16+:4];
    assign pad_o = data_i[8*dispatcher_pkg::PadByte+:8];
    assign vector_op_o = data_i[8*dispatcher_pkg::FlagsByte];
    assign crc_o = data_i[8*dispatcher_pkg::CrcByte+:16];
    assign bad_o = crc_o != dispatcher_pkg::kernel_crc(data_i) || data_i[8*dispatcher_pkg::ReservedByte+:24] != '0 ||
        bad_loop != '0 || bad_total != '0 || data_i[8*dispatcher_pkg::FlagsByte+1+:7] != '0;

    `SWITCHYARD_ASSERT_NEXT(request_waits, request_valid_o && !request_ready_i,
        request_valid_o && request_index_o == $past(request_index_o))

endmodule
