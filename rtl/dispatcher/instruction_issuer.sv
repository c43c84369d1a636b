// SPDX-License-Identifier: Apache-2.0
// Issues the instructions of one kernel: the nest visits the blocks, each becomes an instruction word with its shape and
// its addresses, and a queue holds the words for the port. The first word stands at the port in the cycle behind
// `start_i`, and a word leaves each cycle that the port is ready.
module instruction_issuer #(
    localparam int unsigned Width = dispatcher_pkg::FieldWidth
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic stop_i,      // forget the rest
    output logic walking_o,  // blocks are still to come
    output logic walked_o,   // the last one goes into the queue
    // Stay while it walks.
    input dispatcher_pkg::command_t command_i,
    input dispatcher_pkg::fitted_t fitted_i,
    // The port.
    output logic valid_o,
    input logic ready_i,
    output dispatcher_pkg::instruction_t instruction_o,
    output logic drained_o  // the queue is empty
);

    logic nest_valid, nest_ready, unused_fields;
    dispatcher_pkg::instruction_t block;

    assign unused_fields = ^{command_i.count, command_i.dyn_dim, command_i.rank, command_i.multicast, fitted_i.vector_op,
        fitted_i.all_blocks};

    loop_nest u_nest (
        .clk_i,
        .rst_ni,
        .start_i,
        .stop_i,
        .extents_i(fitted_i.extents),
        .blocks_i(fitted_i.blocks),
        .outer_i(fitted_i.outer),
        .busy_o(walking_o),
        .valid_o(nest_valid),
        .ready_i(nest_ready),
        .position_o(block.position),
        .extent_o(block.extent),
        .first_o(block.first),
        .last_o(block.last)
    );
    assign walked_o = nest_valid && nest_ready && block.last;
    assign block.ops = dispatcher_pkg::Ops'((1 << dispatcher_pkg::OpLoad) | (1 << dispatcher_pkg::OpMac) |
        (1 << dispatcher_pkg::OpStore));

    block_shape u_shape (
        .extent_i(block.extent),
        .regs_i(fitted_i.regs),
        .rows_o(block.rows),
        .columns_o(block.columns),
        .row_outputs_o(block.row_outputs),
        .column_outputs_o(block.column_outputs)
    );

    address_generator u_address (
        .position_i(block.position),
        .first_p_i(fitted_i.begins[Width*dispatcher_pkg::AxisP+:Width]),
        .k_i(fitted_i.extents[Width*dispatcher_pkg::AxisK+:Width]),
        .p_i(fitted_i.extents[Width*dispatcher_pkg::AxisP+:Width]),
        .q_i(fitted_i.extents[Width*dispatcher_pkg::AxisQ+:Width]),
        .reduction_i(fitted_i.reduction),
        .row_stride_i(fitted_i.row_stride),
        .column_stride_i(fitted_i.column_stride),
        .pad_i(fitted_i.pad),
        .filter_rows_i(fitted_i.filter_rows),
        .channelwise_i(command_i.channelwise),
        .channels_i(command_i.in_channels),
        .rows_i(command_i.in_rows),
        .columns_i(command_i.in_columns),
        .input_offset_i(command_i.input_offset),
        .weight_offset_i(command_i.weight_offset),
        .output_offset_i(command_i.output_offset),
        .input_address_o(block.input_address),
        .weight_address_o(block.weight_address),
        .output_address_o(block.output_address)
    );

    stream_queue #(
        .WIDTH(dispatcher_pkg::InstructionBits)
    ) u_queue (
        .clk_i,
        .rst_ni,
        .flush_i(stop_i),
        .push_valid_i(nest_valid),
        .push_ready_o(nest_ready),
        .push_data_i(block),
        .pop_valid_o(valid_o),
        .pop_ready_i(ready_i),
        .pop_data_o(instruction_o),
        .empty_o(drained_o)
    );

endmodule
