// SPDX-License-Identifier: Apache-2.0
// scheduling_window, for any kernels, upstream lists (stale ids and all), durations and waiting: a record by id of who came
// in, who was dispatched and who waits for whom, made at the ports alone.
`include "switchyard_assert.svh"

module window_properties #(
    parameter int unsigned SLOTS = 3,
    parameter int unsigned SCHEDULED = 4,
    parameter int unsigned ID_WIDTH = 3
) (
    input logic clk_i,
    input logic entry_valid_i,
    input logic [ID_WIDTH-1:0] entry_count_i,
    input logic upstream_valid_i,
    input logic [ID_WIDTH-1:0] upstream_id_i,
    input logic dispatch_ready_i,
    input logic complete_valid_i,
    input logic [ID_WIDTH-1:0] complete_id_i,
    // Any two ids, which stay: whether the first one waits for the second is recorded.
    input logic [ID_WIDTH-1:0] later_i,
    input logic [ID_WIDTH-1:0] earlier_i
);

    localparam int unsigned Ids = 2 ** ID_WIDTH;

    logic rst_ni = 1'b0;
    always_ff @(posedge clk_i) rst_ni <= 1'b1;

    logic entry_ready, upstream_ready, dispatch_valid, complete_ready, empty, settled;
    logic [ID_WIDTH-1:0] next_q, newest_q, dispatch_id;
    scheduling_window #(
        .SLOTS(SLOTS),
        .ID_WIDTH(ID_WIDTH)
    ) u_window (
        .clk_i,
        .rst_ni,
        .scheduled_i(ID_WIDTH'(SCHEDULED)),
        .entry_valid_i,
        .entry_ready_o(entry_ready),
        .entry_id_i(next_q),
        .entry_count_i,
        .upstream_valid_i,
        .upstream_ready_o(upstream_ready),
        .upstream_id_i,
        .dispatch_valid_o(dispatch_valid),
        .dispatch_ready_i,
        .dispatch_id_o(dispatch_id),
        .complete_valid_i,
        .complete_ready_o(complete_ready),
        .complete_id_i,
        .empty_o(empty),
        .settled_o(settled)
    );

    // By id: is in the window; executes; was listed already for the kernel that comes in.
    logic [Ids-1:0] inside_q, executing_q, listed_q;
    logic [ID_WIDTH-1:0] later_q, earlier_q;
    logic waits_q;
    logic insert, load, dispatch, complete;
    assign insert = entry_valid_i && entry_ready;
    assign load = upstream_valid_i && upstream_ready;
    assign dispatch = dispatch_valid && dispatch_ready_i;
    assign complete = complete_valid_i && complete_ready;

    `SWITCHYARD_ASSUME(completes_what_executes, !complete_valid_i || executing_q[complete_id_i])
    `SWITCHYARD_ASSUME(lists_an_id_once, !load || !listed_q[upstream_id_i])
    `SWITCHYARD_ASSUME(lists_no_kernel_for_itself, !load || upstream_id_i != newest_q)

    always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
            next_q <= '0;
            newest_q <= '0;
            inside_q <= '0;
            executing_q <= '0;
            listed_q <= '0;
            waits_q <= '0;
            later_q <= later_i;
            earlier_q <= earlier_i;
        end else begin
            if (insert) begin
                next_q <= next_q + 1'b1;
                newest_q <= next_q;
                inside_q[next_q] <= 1'b1;
                listed_q <= '0;
            end
            if (load) begin
                listed_q[upstream_id_i] <= 1'b1;
                if (newest_q == later_q && upstream_id_i == earlier_q && inside_q[earlier_q]) waits_q <= 1'b1;
            end
            if (dispatch) executing_q[dispatch_id] <= 1'b1;
            if (complete) begin
                inside_q[complete_id_i] <= 1'b0;
                executing_q[complete_id_i] <= 1'b0;
                if (complete_id_i == earlier_q) waits_q <= 1'b0;
            end
        end
    end

    // Not before its upstream kernels have completed; once; a kernel that came in.
    `SWITCHYARD_ASSERT(waits_for_its_upstream, !(dispatch_valid && dispatch_id == later_q && waits_q))
    `SWITCHYARD_ASSERT(dispatches_once, !dispatch_valid || !executing_q[dispatch_id])
    `SWITCHYARD_ASSERT(dispatches_what_came_in, !dispatch_valid || inside_q[dispatch_id])
    // Who completes leaves, nobody else does.
    `SWITCHYARD_ASSERT(who_completes_leaves, empty == (inside_q == '0))
    // Between operations, when nobody executes, somebody can be dispatched or come in. So no stale id blocks for ever.
    `SWITCHYARD_ASSERT(somebody_is_ready, !(settled && !empty && executing_q == '0) || dispatch_valid)
    // The counter of the oldest kernel has gone by all that have left after as many cycles as there are ids.
    logic [7:0] empty_cycles_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || !empty || !complete_ready) empty_cycles_q <= '0;
        else if (empty_cycles_q <= 8'(Ids)) empty_cycles_q <= empty_cycles_q + 1'b1;
    end
    `SWITCHYARD_ASSERT(an_empty_window_takes,
        !(empty && complete_ready && !complete_valid_i && empty_cycles_q > 8'(Ids)) || entry_ready)
    // No kernel comes in that the host's list could have missed: the oldest one is among the last SCHEDULED.
    logic [Ids-1:0] lost;
    for (genvar i = 0; i < Ids; i++) begin : g_lost
        assign lost[i] = inside_q[i] && ID_WIDTH'(next_q - ID_WIDTH'(i) - 1'b1) >= ID_WIDTH'(SCHEDULED);
    end
    `SWITCHYARD_ASSERT(misses_nobody, !entry_ready || lost == '0)
    // An operation ends: a list in SLOTS cycles when its ids come, an update in SLOTS - 1.
    logic [7:0] cycles_q;
    always_ff @(posedge clk_i) begin
        if (!rst_ni || complete_ready || (upstream_ready && !upstream_valid_i)) cycles_q <= '0;
        else cycles_q <= cycles_q + 1'b1;
    end
    `SWITCHYARD_ASSERT(operations_end, cycles_q < 8'(SLOTS - 1 + Ids))

endmodule
