// SPDX-License-Identifier: Apache-2.0
// The dispatcher's ports: each command is answered once, after one send if it went well; nothing is lost or doubled on the
// way to the instruction port; and no cycle passes without anything at a port but those of the search.
`include "switchyard_assert.svh"

module dispatcher_properties #(
    parameter int unsigned KERNELS = 4,
    localparam int unsigned IndexWidth = $clog2(KERNELS)
) (
    input logic clk_i,
    input logic cmd_valid_i,
    input logic cmd_configure_i,
    input logic [15:0] cmd_first_i,
    input logic [31:0] cmd_count_i,
    input logic [31:0] cmd_dyn_dim_i,
    input logic [31:0] cmd_invocation_i,
    input logic cmd_continued_i,
    input logic cmd_multicast_i,
    input logic fetch_ready_i,
    input logic data_valid_i,
    input logic [dispatcher_pkg::KernelBits-1:0] data_i,
    input logic data_error_i,
    input logic instr_ready_i,
    input logic instr_error_i,
    input logic result_ready_i
);

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic cmd_ready, fetch_valid, data_ready, instr_valid, first, last, result_valid;
    logic [dispatcher_pkg::Ops-1:0] ops;
    logic [4:0] status;
    logic [63:0] issued;
    logic [2:0] state;
    logic [IndexWidth:0] kernels;
    logic [IndexWidth-1:0] fetch_index;
    dispatcher #(
        .KERNELS(KERNELS)
    ) u_dispatcher (
        .clk_i,
        .rst_ni,
        .cmd_valid_i,
        .cmd_ready_o(cmd_ready),
        .cmd_configure_i,
        .cmd_first_i,
        .cmd_count_i,
        .cmd_dyn_dim_i,
        .cmd_invocation_i,
        .cmd_continued_i,
        .cmd_rank_i('0),
        .cmd_multicast_i,
        .cmd_input_offset_i('0),
        .cmd_weight_offset_i('0),
        .cmd_output_offset_i('0),
        .cmd_channelwise_i('0),
        .cmd_in_channels_i('0),
        .cmd_in_rows_i('0),
        .cmd_in_columns_i('0),
        .fetch_valid_o(fetch_valid),
        .fetch_ready_i,
        .fetch_index_o(fetch_index),
        .data_valid_i,
        .data_ready_o(data_ready),
        .data_i,
        .data_error_i,
        .instr_valid_o(instr_valid),
        .instr_ready_i,
        .instr_error_i,
        .instr_ops_o(ops),
        .instr_first_o(first),
        .instr_last_o(last),
        .result_valid_o(result_valid),
        .result_ready_i,
        .result_status_o(status),
        .result_issued_o(issued),
        .kernels_o(kernels),
        .state_o(state)
    );

    logic accept, send, answer, block;
    assign accept = cmd_valid_i && cmd_ready;
    assign send = instr_valid && instr_ready_i && (ops[dispatcher_pkg::OpUnicast] || ops[dispatcher_pkg::OpMulticast]);
    assign block = instr_valid && instr_ready_i && ops[dispatcher_pkg::OpMac];
    assign answer = result_valid && result_ready_i;

    // Of the present command.
    logic pending_q, configure_q, multicast_q, sent_q, asked_q, ended_q;
    logic [1:0] blocks_q;  // modulo 4: the queue has two slots
    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            pending_q <= 1'b0;
            asked_q <= 1'b0;
        end else begin
            if (accept) pending_q <= 1'b1;
            else if (answer) pending_q <= 1'b0;
            if (fetch_valid && fetch_ready_i) asked_q <= 1'b1;
            else if (data_valid_i && data_ready) asked_q <= 1'b0;
        end
        if (accept) begin
            configure_q <= cmd_configure_i;
            multicast_q <= cmd_multicast_i;
            sent_q <= 1'b0;
            ended_q <= 1'b0;
            blocks_q <= '0;
        end else begin
            if (send) sent_q <= 1'b1;
            if (block) blocks_q <= blocks_q + 1'b1;
            if (block && last) ended_q <= 1'b1;
        end
    end

    `SWITCHYARD_ASSERT(one_answer_a_command, cmd_ready == !pending_q && (!result_valid || pending_q))
    `SWITCHYARD_ASSERT(one_send_a_command, !(send && sent_q))
    `SWITCHYARD_ASSERT(sends_as_told, !send ||
        (!configure_q && ops == dispatcher_pkg::Ops'(1 << (multicast_q ? dispatcher_pkg::OpMulticast :
                                                           dispatcher_pkg::OpUnicast))))
    `SWITCHYARD_ASSERT(sent_if_it_went_well, !result_valid ||
        sent_q == ((!configure_q && status == dispatcher_pkg::StatusOk) || status == dispatcher_pkg::StatusSendRefused))
    `SWITCHYARD_ASSERT(no_block_after_the_last, !(block && ended_q))
    `SWITCHYARD_ASSERT(send_after_the_last_block, !send || blocks_q == '0 || ended_q)
    `SWITCHYARD_ASSERT(counts_blocks, !result_valid || issued[1:0] == blocks_q)
    `SWITCHYARD_ASSERT(answers_what_it_asked_for, data_ready == asked_q && !(fetch_valid && asked_q))
    `SWITCHYARD_ASSERT(own_cycles_are_the_search, cmd_ready || fetch_valid || data_ready || instr_valid ||
        result_valid || state == dispatcher_pkg::StateSearch)
    `SWITCHYARD_ASSERT(directory_within_its_room, kernels <= (IndexWidth + 1)'(KERNELS))

endmodule
