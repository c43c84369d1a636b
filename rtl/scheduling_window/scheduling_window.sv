// SPDX-License-Identifier: Apache-2.0
// The scheduling window and the upstream load module of ACE-HW (PACT 2024, section 4.3).
//
// A kernel comes in with its id and the number of its upstream ids, then these ids, one a cycle: those that are in no slot
// belong to kernels that have completed and are dropped. That takes SLOTS cycles, or one more than there are ids if that
// is more. No kernel comes in while more than `scheduled_i` kernels have come in since the oldest one in the window: the
// host's list has lost that one. A kernel without upstream ids is ready; the oldest ready kernel is offered until it is
// taken. The id of a completed kernel leaves the lists in SLOTS - 1 cycles, one unit of every slot a cycle; a completion
// comes before a kernel that waits to come in.
//
// The host numbers kernels: an id is the one before plus 1, modulo 2^ID_WIDTH, from 0 on. The paper has no valid bits
// beside the upstream ids; here each has one.
`include "switchyard_assert.svh"

module scheduling_window #(
    parameter int unsigned SLOTS = 32,  // 2 or more
    parameter int unsigned ID_WIDTH = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ID_WIDTH-1:0] scheduled_i,  // kernels of the host's list, SLOTS or more; stays

    input logic entry_valid_i,
    output logic entry_ready_o,
    input logic [ID_WIDTH-1:0] entry_id_i,
    input logic [ID_WIDTH-1:0] entry_count_i,

    // Upstream ids of the kernel that came in last, no two of them equal.
    input logic upstream_valid_i,
    output logic upstream_ready_o,
    input logic [ID_WIDTH-1:0] upstream_id_i,

    output logic dispatch_valid_o,
    input logic dispatch_ready_i,
    output logic [ID_WIDTH-1:0] dispatch_id_o,

    input logic complete_valid_i,
    output logic complete_ready_o,
    input logic [ID_WIDTH-1:0] complete_id_i,

    output logic empty_o,
    output logic settled_o  // nothing changes until something comes in or is taken
);

    localparam int unsigned Upstream = SLOTS - 1;
    localparam int unsigned PositionWidth = Upstream > 1 ? $clog2(Upstream) : 1;

    logic [1:0] phase_q;
    logic [PositionWidth-1:0] position_q;
    logic [ID_WIDTH-1:0] left_q, done_q;
    logic [SLOTS-1:0] loading_q;

    logic [2*SLOTS-1:0] state;
    logic [ID_WIDTH*SLOTS-1:0] id;
    logic [SLOTS-1:0] free, first_free, ready, executing, dispatched;
    logic [SLOTS-1:0] is_oldest, is_upstream, is_done;
    logic insert, load, load_end, remove, update, last_position;
    logic [ID_WIDTH-1:0] oldest;
    logic [ID_WIDTH:0] since;

    for (genvar s = 0; s < SLOTS; s++) begin : g_slot
        window_slot #(
            .UPSTREAM(Upstream),
            .ID_WIDTH(ID_WIDTH)
        ) u_slot (
            .clk_i,
            .rst_ni,
            .insert_i(insert && first_free[s]),
            .insert_id_i(entry_id_i),
            .load_i(load && is_upstream != '0 && loading_q[s]),
            .load_id_i(upstream_id_i),
            .load_end_i(load_end),
            .dispatch_i(dispatch_ready_i && dispatched[s]),
            .remove_i(remove && is_done[s]),
            .clear_i(update),
            .clear_position_i(position_q),
            .clear_id_i(done_q),
            .clear_end_i(update && last_position),
            .state_o(state[2*s+:2]),
            .id_o(id[ID_WIDTH*s+:ID_WIDTH])
        );
        assign free[s] = state[2*s+:2] == window_pkg::SlotFree;
        assign ready[s] = state[2*s+:2] == window_pkg::SlotReady;
        assign executing[s] = state[2*s+:2] == window_pkg::SlotExecuting;
        assign is_oldest[s] = !free[s] && id[ID_WIDTH*s+:ID_WIDTH] == oldest;
        assign is_upstream[s] = !free[s] && id[ID_WIDTH*s+:ID_WIDTH] == upstream_id_i;
        assign is_done[s] = id[ID_WIDTH*s+:ID_WIDTH] == complete_id_i;
    end

    oldest_kernel #(
        .ID_WIDTH(ID_WIDTH)
    ) u_oldest (
        .clk_i,
        .rst_ni,
        .insert_i(insert),
        .present_i(is_oldest != '0),
        .oldest_o(oldest),
        .since_o(since)
    );

    assign first_free = free & (~free + 1'b1);
    assign last_position = position_q == PositionWidth'(Upstream - 1);
    assign update = phase_q == window_pkg::PhaseUpdate;

    assign complete_ready_o = phase_q == window_pkg::PhaseIdle;
    assign remove = complete_valid_i && complete_ready_o;
    assign entry_ready_o = phase_q == window_pkg::PhaseIdle && !complete_valid_i && free != '0 &&
        since <= {1'b0, scheduled_i};
    assign insert = entry_valid_i && entry_ready_o;
    assign upstream_ready_o = left_q != '0;
    assign load = upstream_valid_i && upstream_ready_o;
    assign load_end = phase_q == window_pkg::PhaseLoad && last_position &&
        (left_q == '0 || (load && left_q == ID_WIDTH'(1)));

    // The ready kernel that came in first.
    always_comb begin
        logic [ID_WIDTH-1:0] best, age;
        dispatched = '0;
        dispatch_id_o = '0;
        best = '1;
        for (int unsigned s = 0; s < SLOTS; s++) begin
            age = id[ID_WIDTH*s+:ID_WIDTH] - oldest;
            if (ready[s] && age <= best) begin
                dispatched = '0;
                dispatched[s] = 1'b1;
                dispatch_id_o = id[ID_WIDTH*s+:ID_WIDTH];
                best = age;
            end
        end
    end
    assign dispatch_valid_o = ready != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            phase_q <= window_pkg::PhaseIdle;
            left_q <= '0;
        end else begin
            unique case (phase_q)
                window_pkg::PhaseLoad: begin
                    if (load) left_q <= left_q - 1'b1;
                    if (load_end) phase_q <= window_pkg::PhaseIdle;
                end
                window_pkg::PhaseUpdate: if (last_position) phase_q <= window_pkg::PhaseIdle;
                default: begin
                    if (remove) begin
                        phase_q <= window_pkg::PhaseUpdate;
                    end else if (insert) begin
                        phase_q <= window_pkg::PhaseLoad;
                        left_q <= entry_count_i;
                    end
                end
            endcase
        end
    end
    // The unit of the banks, or the cycle of an insertion; it waits for ids, and for those beyond the last unit.
    always_ff @(posedge clk_i) begin
        if (phase_q == window_pkg::PhaseIdle) position_q <= '0;
        else if (!last_position && (load || left_q == '0)) position_q <= position_q + 1'b1;
        if (remove) done_q <= complete_id_i;
        if (insert) loading_q <= first_free;
    end

    assign empty_o = free == '1;
    assign settled_o = phase_q == window_pkg::PhaseIdle && (since == '0 || is_oldest != '0);

    `SWITCHYARD_ASSUME(kernels_are_numbered, !insert || entry_id_i == oldest + since[ID_WIDTH-1:0])
    `SWITCHYARD_ASSUME(executes_what_completes, !remove || (is_done & executing) != '0)
    `SWITCHYARD_ASSERT_NEXT(what_is_offered_stays, dispatch_valid_o && !dispatch_ready_i, dispatch_valid_o)

endmodule
