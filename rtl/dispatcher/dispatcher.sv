// SPDX-License-Identifier: Apache-2.0
// The kernel dispatcher of a tile (Adyna section VI-B): selects the stored kernel with the smallest dyn_dim that is no less
// than the real one, walks its template loop nest for this rank's part of the operator, skips what lies beyond the real
// dyn_dim, then has the output sent. hw::KernelDispatcher is its model.
//
// Ports, all ready/valid:
//   cmd     configure: read `count` kernels from the beginning of the scratchpad and rebuild the directory;
//           otherwise: run an operator whose kernels are [first, first + count) on `dyn_dim` samples, of a batch of
//           `invocation` if the kernel is selected by that (0: it is not); `continued`: a later unit of an invocation,
//           which the profiler has counted
//   fetch   a kernel's index, then its 128 bytes
//   instr   one word a block (load, multiply-accumulate and store together), then one to send (unicast or multicast);
//           `instr_error_i` with the handshake: refused, and the command ends
//   result  how the command ended
// Cycles of its own: those of the search. In all others at least one port waits or transfers: the first block stands at
// the port in the cycle behind the kernel's data, and a block leaves each cycle.
`include "switchyard_assert.svh"

module dispatcher #(
    parameter int unsigned KERNELS = 256,
    localparam int unsigned IndexWidth = $clog2(KERNELS),
    localparam int unsigned Axes = dispatcher_pkg::Axes,
    localparam int unsigned Width = dispatcher_pkg::FieldWidth
) (
    input logic clk_i,
    input logic rst_ni,

    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic cmd_configure_i,
    input logic [15:0] cmd_first_i,
    input logic [31:0] cmd_count_i,
    input logic [31:0] cmd_dyn_dim_i,
    input logic [31:0] cmd_invocation_i,
    input logic cmd_continued_i,
    input logic [15:0] cmd_rank_i,
    input logic cmd_multicast_i,
    input logic [31:0] cmd_input_offset_i,
    input logic [31:0] cmd_weight_offset_i,
    input logic [31:0] cmd_output_offset_i,
    // The input tensor, of one sample; addresses only.
    input logic cmd_channelwise_i,
    input logic [15:0] cmd_in_channels_i,
    input logic [15:0] cmd_in_rows_i,
    input logic [15:0] cmd_in_columns_i,

    output logic fetch_valid_o,
    input logic fetch_ready_i,
    output logic [IndexWidth-1:0] fetch_index_o,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [dispatcher_pkg::KernelBits-1:0] data_i,
    input logic data_error_i,

    output logic instr_valid_o,
    input logic instr_ready_i,
    input logic instr_error_i,
    output logic [dispatcher_pkg::Ops-1:0] instr_ops_o,
    output logic instr_vector_o,
    output logic instr_first_o,
    output logic instr_last_o,
    output logic [15:0] instr_rows_o,
    output logic [15:0] instr_columns_o,
    output logic [15:0] instr_row_outputs_o,
    output logic [15:0] instr_column_outputs_o,
    output logic [31:0] instr_reduction_o,
    output logic [Axes*16-1:0] instr_position_o,  // of n, k, p, q in the tile's output box
    output logic [Axes*16-1:0] instr_extent_o,
    output logic [3*16-1:0] instr_box_o,  // where that box begins in the operator's n, k, p
    output logic [31:0] instr_input_address_o,
    output logic [31:0] instr_weight_address_o,
    output logic [31:0] instr_output_address_o,

    output logic result_valid_o,
    input logic result_ready_i,
    output logic [4:0] result_status_o,
    output logic [IndexWidth-1:0] result_index_o,  // the kernel that was selected, or that is bad
    output logic [15:0] result_largest_o,          // dyn_dim of the range
    output logic [4:0] result_search_cycles_o,
    output logic [63:0] result_issued_o,           // blocks
    output logic [63:0] result_skipped_o,
    output logic [31:0] result_invocations_o,      // of the selected kernel since it was configured

    output logic [IndexWidth:0] kernels_o,  // in the directory
    output logic [2:0] state_o              // dispatcher_pkg::state_e, for observers
);

    dispatcher_pkg::state_e state_d, state_q;
    dispatcher_pkg::status_e status_d, status_q;

    // The command.
    logic accept, dispatching, continued_q;
    dispatcher_pkg::command_t command_d, command_q;

    assign cmd_ready_o = state_q == dispatcher_pkg::StateIdle;
    assign accept = cmd_valid_i && cmd_ready_o;
    assign dispatching = accept && !cmd_configure_i;
    assign command_d.count = cmd_count_i;
    assign command_d.dyn_dim = {cmd_dyn_dim_i[31:Width] != '0, cmd_dyn_dim_i[Width-1:0]};
    assign command_d.rank = cmd_rank_i;
    assign command_d.multicast = cmd_multicast_i;
    assign command_d.channelwise = cmd_channelwise_i;
    assign command_d.in_channels = cmd_in_channels_i;
    assign command_d.in_rows = cmd_in_rows_i;
    assign command_d.in_columns = cmd_in_columns_i;
    assign command_d.input_offset = cmd_input_offset_i;
    assign command_d.weight_offset = cmd_weight_offset_i;
    assign command_d.output_offset = cmd_output_offset_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            command_q <= '0;
            continued_q <= 1'b0;
        end else if (accept) begin
            command_q <= command_d;
            continued_q <= cmd_continued_i;
        end
    end

    // By which the kernel is selected; one bit more, as above.
    logic [31:0] selecting;
    logic [Width:0] wanted;
    assign selecting = cmd_invocation_i != '0 ? cmd_invocation_i : cmd_dyn_dim_i;
    assign wanted = {selecting[31:Width] != '0, selecting[Width-1:0]};

    // Kernel store: directory, search, profiler.
    logic [32:0] range_end;
    logic out_of_range, unsorted, append, forget;
    logic [IndexWidth-1:0] range_last, run_begin, probe, search_index, index_q;
    logic [15:0] probe_dyn_dim, range_largest, largest_q, selected_crc, crc;
    logic search_start, search_busy, search_done, search_hit;
    logic [4:0] search_cycles_q;

    assign range_end = {1'b0, cmd_count_i} + 33'(cmd_first_i);
    assign range_last = range_end[IndexWidth-1:0] - 1'b1;
    assign out_of_range = range_end > 33'(kernels_o);
    assign unsorted = cmd_count_i != '0 && run_begin > cmd_first_i[IndexWidth-1:0];
    assign search_start = dispatching && !out_of_range && !unsorted;

    kernel_directory #(
        .KERNELS(KERNELS)
    ) u_directory (
        .clk_i,
        .rst_ni,
        .clear_i(forget),
        .append_i(append),
        .append_dyn_dim_i(totals[Width*dispatcher_pkg::DimN+:Width]),
        .append_crc_i(crc),
        .kernels_o,
        .search_index_i(probe),
        .search_dyn_dim_o(probe_dyn_dim),
        .end_index_i(range_last),
        .end_dyn_dim_o(range_largest),
        .end_run_begin_o(run_begin),
        .selected_index_i(index_q),
        .selected_crc_o(selected_crc)
    );

    kernel_search #(
        .KERNELS(KERNELS)
    ) u_search (
        .clk_i,
        .rst_ni,
        .start_i(search_start),
        .first_i(cmd_first_i[IndexWidth-1:0]),
        .count_i(cmd_count_i[IndexWidth:0]),
        .wanted_i(wanted),
        .busy_o(search_busy),
        .done_o(search_done),
        .hit_o(search_hit),
        .index_o(search_index),
        .probe_o(probe),
        .dyn_dim_i(probe_dyn_dim)
    );

    profiler_counters #(
        .KERNELS(KERNELS)
    ) u_profiler (
        .clk_i,
        .clear_i(append),
        .count_i(state_q == dispatcher_pkg::StateFetch && fetch_valid_o && fetch_ready_i && !continued_q),
        .index_i(index_q),
        .count_o(result_invocations_o)
    );

    // Kernel fetch and fitting.
    logic fetch_start, fetch_done, fetch_failed, fetch_bad;
    logic [dispatcher_pkg::Levels*dispatcher_pkg::Dims*Width-1:0] blocks;
    logic [Axes*4-1:0] orders;
    logic [dispatcher_pkg::Dims*Width-1:0] totals;
    dispatcher_pkg::status_e fitting_status, fetch_status;
    dispatcher_pkg::fitted_t fitted_d, fitted_q;
    logic run_start, ran_q;

    kernel_fetch #(
        .INDEX_WIDTH(IndexWidth)
    ) u_fetch (
        .clk_i,
        .rst_ni,
        .start_i(fetch_start),
        .index_i(index_q),
        .done_o(fetch_done),
        .failed_o(fetch_failed),
        .bad_o(fetch_bad),
        .crc_o(crc),
        .request_valid_o(fetch_valid_o),
        .request_ready_i(fetch_ready_i),
        .request_index_o(fetch_index_o),
        .data_valid_i,
        .data_ready_o,
        .data_i,
        .data_error_i,
        .blocks_o(blocks),
        .orders_o(orders),
        .totals_o(totals),
        .row_stride_o(fitted_d.row_stride),
        .column_stride_o(fitted_d.column_stride),
        .pad_o(fitted_d.pad),
        .vector_op_o(fitted_d.vector_op)
    );

    kernel_fitting u_fitting (
        .blocks_i(blocks),
        .orders_i(orders),
        .totals_i(totals),
        .rank_i(command_q.rank),
        .dyn_dim_i(command_q.dyn_dim[Width-1:0]),
        .status_o(fitting_status),
        .begins_o(fitted_d.begins),
        .extents_o(fitted_d.extents),
        .blocks_o(fitted_d.blocks),
        .regs_o(fitted_d.regs),
        .outer_o(fitted_d.outer),
        .all_blocks_o(fitted_d.all_blocks),
        .reduction_o(fitted_d.reduction)
    );

    assign fitted_d.filter_rows = totals[Width*dispatcher_pkg::DimR+:Width];

    always_comb begin
        fetch_status = dispatcher_pkg::StatusOk;
        if (fetch_failed) fetch_status = dispatcher_pkg::StatusFetchFailed;
        else if (fetch_bad) fetch_status = dispatcher_pkg::StatusBadKernel;
        else if (state_q == dispatcher_pkg::StateFetch) begin
            if (crc != selected_crc) fetch_status = dispatcher_pkg::StatusChanged;
            else fetch_status = fitting_status;
        end
    end

    assign run_start = state_q == dispatcher_pkg::StateFetch && fetch_done && fetch_status == dispatcher_pkg::StatusOk;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            fitted_q <= '0;
            ran_q <= 1'b0;
        end else if (run_start) begin
            fitted_q <= fitted_d;
            ran_q <= 1'b1;
        end else if (accept) begin
            ran_q <= 1'b0;
        end
    end

    // The instructions of the nest's blocks.
    logic walking, walked, refused, head_valid, drained, send;
    dispatcher_pkg::instruction_t head;

    instruction_issuer u_issuer (
        .clk_i,
        .rst_ni,
        .start_i(run_start && fitted_d.extents != '0),
        .stop_i(refused),
        .walking_o(walking),
        .walked_o(walked),
        .command_i(command_q),
        .fitted_i(fitted_q),
        .valid_o(head_valid),
        .ready_i(instr_ready_i),
        .instruction_o(head),
        .drained_o(drained)
    );

    assign send = state_q == dispatcher_pkg::StateSend && drained;
    assign refused = instr_valid_o && instr_ready_i && instr_error_i;
    assign instr_valid_o = head_valid || send;
    assign instr_ops_o = head_valid ? head.ops :
        command_q.multicast ? dispatcher_pkg::Ops'(1 << dispatcher_pkg::OpMulticast) :
        dispatcher_pkg::Ops'(1 << dispatcher_pkg::OpUnicast);
    assign instr_vector_o = fitted_q.vector_op;
    assign instr_first_o = head.first;
    assign instr_last_o = head.last;
    assign instr_rows_o = head.rows;
    assign instr_columns_o = head.columns;
    assign instr_row_outputs_o = head.row_outputs;
    assign instr_column_outputs_o = head.column_outputs;
    assign instr_reduction_o = fitted_q.reduction;
    assign instr_position_o = head.position;
    assign instr_extent_o = head.extent;
    assign instr_box_o = fitted_q.begins;
    assign instr_input_address_o = head.input_address;
    assign instr_weight_address_o = head.weight_address;
    assign instr_output_address_o = send ? command_q.output_offset : head.output_address;

    // The state machine.
    logic loaded_all;
    logic [63:0] issued_q;
    assign loaded_all = 32'(index_q) + 32'd1 == command_q.count;
    assign append = state_q == dispatcher_pkg::StateLoad && fetch_done && fetch_status == dispatcher_pkg::StatusOk;
    assign forget = (accept && cmd_configure_i) ||
        (state_q == dispatcher_pkg::StateLoad && state_d == dispatcher_pkg::StateResult &&
         status_d != dispatcher_pkg::StatusOk);

    always_comb begin
        state_d = state_q;
        status_d = status_q;
        fetch_start = 1'b0;
        unique case (state_q)
            dispatcher_pkg::StateIdle: begin
                status_d = dispatcher_pkg::StatusOk;
                if (accept && cmd_configure_i) begin
                    fetch_start = cmd_count_i != '0;
                    state_d = fetch_start ? dispatcher_pkg::StateLoad : dispatcher_pkg::StateResult;
                end else if (accept) begin
                    if (search_start) state_d = dispatcher_pkg::StateSearch;
                    else begin
                        state_d = dispatcher_pkg::StateResult;
                        status_d = out_of_range ? dispatcher_pkg::StatusOutOfRange : dispatcher_pkg::StatusUnsorted;
                    end
                end
            end
            dispatcher_pkg::StateSearch:
                if (search_done) begin
                    if (!search_hit) begin
                        state_d = dispatcher_pkg::StateResult;
                        status_d = dispatcher_pkg::StatusNoneFound;
                    end else if (command_q.dyn_dim == '0) begin
                        state_d = dispatcher_pkg::StateSend;
                    end else begin
                        state_d = dispatcher_pkg::StateFetch;
                        fetch_start = 1'b1;
                    end
                end
            dispatcher_pkg::StateFetch:
                if (fetch_done) begin
                    status_d = fetch_status;
                    if (!run_start) state_d = dispatcher_pkg::StateResult;
                    else state_d = fitted_d.extents == '0 ? dispatcher_pkg::StateSend : dispatcher_pkg::StateIssue;
                end
            dispatcher_pkg::StateIssue:
                if (refused) begin
                    state_d = dispatcher_pkg::StateResult;
                    status_d = dispatcher_pkg::StatusRefused;
                end else if (!walking || walked) begin
                    state_d = dispatcher_pkg::StateSend;
                end
            dispatcher_pkg::StateSend:
                if (refused) begin
                    state_d = dispatcher_pkg::StateResult;
                    status_d = send ? dispatcher_pkg::StatusSendRefused : dispatcher_pkg::StatusRefused;
                end else if (send && instr_ready_i) begin
                    state_d = dispatcher_pkg::StateResult;
                end
            dispatcher_pkg::StateLoad:
                if (fetch_done) begin
                    status_d = fetch_status;
                    state_d = dispatcher_pkg::StateResult;
                    if (append && !loaded_all) begin
                        if (32'(index_q) == KERNELS - 1) begin
                            status_d = dispatcher_pkg::StatusFull;
                        end else begin
                            state_d = dispatcher_pkg::StateLoad;
                            fetch_start = 1'b1;
                        end
                    end
                end
            dispatcher_pkg::StateResult: if (result_ready_i) state_d = dispatcher_pkg::StateIdle;
            default: state_d = dispatcher_pkg::StateIdle;
        endcase
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            state_q <= dispatcher_pkg::StateIdle;
            status_q <= dispatcher_pkg::StatusOk;
            index_q <= '0;
            largest_q <= '0;
            search_cycles_q <= '0;
            issued_q <= '0;
        end else begin
            state_q <= state_d;
            status_q <= status_d;
            if (accept) begin
                index_q <= '0;
                largest_q <= cmd_count_i == '0 ? '0 : range_largest;
                search_cycles_q <= '0;
                issued_q <= '0;
            end
            if (search_busy) search_cycles_q <= search_cycles_q + 1'b1;
            if (search_hit) index_q <= search_index;
            if (append && state_d == dispatcher_pkg::StateLoad) index_q <= index_q + 1'b1;
            if (head_valid && instr_ready_i) issued_q <= issued_q + 1'b1;
        end
    end

    assign result_valid_o = state_q == dispatcher_pkg::StateResult;
    assign result_status_o = status_q;
    assign result_index_o = index_q;
    assign result_largest_o = largest_q;
    assign result_search_cycles_o = search_cycles_q;
    assign result_issued_o = issued_q;
    assign result_skipped_o = ran_q && status_q != dispatcher_pkg::StatusRefused ? fitted_q.all_blocks - issued_q : '0;
    assign state_o = state_q;

    `SWITCHYARD_ASSERT(block_within_dyn_dim, !head_valid ||
        33'(fitted_q.begins[Width*dispatcher_pkg::AxisN+:Width]) + 33'(head.position[Width*dispatcher_pkg::AxisN+:Width]) +
        33'(head.extent[Width*dispatcher_pkg::AxisN+:Width]) <= 33'(command_q.dyn_dim))
    `SWITCHYARD_ASSERT(one_kind_of_instruction, !(head_valid && send))
    `SWITCHYARD_ASSERT_NEXT(instruction_waits, instr_valid_o && !instr_ready_i,
        instr_valid_o && instr_ops_o == $past(instr_ops_o) && instr_position_o == $past(instr_position_o) &&
        instr_extent_o == $past(instr_extent_o))

endmodule
