// SPDX-License-Identifier: Apache-2.0
// One slot of the scheduling window (ACE, section 4.3): a kernel's id, its state and a bank of UPSTREAM ids of the kernels
// that it waits for, each with a valid bit. One unit of the bank is written or compared in a cycle.
module window_slot #(
    parameter int unsigned UPSTREAM = 31,
    parameter int unsigned ID_WIDTH = 8,
    localparam int unsigned PositionWidth = UPSTREAM > 1 ? $clog2(UPSTREAM) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    // A kernel comes in: the bank is empty, because the one before has completed. Then the ids of its upstream kernels, and
    // with `load_end_i` the last cycle of that.
    input logic insert_i,
    input logic [ID_WIDTH-1:0] insert_id_i,
    input logic load_i,
    input logic [ID_WIDTH-1:0] load_id_i,
    input logic load_end_i,

    // The kernel starts; it completes.
    input logic dispatch_i,
    input logic remove_i,

    // Another kernel has completed: its id leaves unit `clear_position_i`; `clear_end_i` with the last unit.
    input logic clear_i,
    input logic [PositionWidth-1:0] clear_position_i,
    input logic [ID_WIDTH-1:0] clear_id_i,
    input logic clear_end_i,

    output logic [1:0] state_o,
    output logic [ID_WIDTH-1:0] id_o
);

    logic [1:0] state_q;
    logic [ID_WIDTH-1:0] id_q;
    logic [ID_WIDTH-1:0] upstream_q [UPSTREAM];
    logic [UPSTREAM-1:0] waits_d, waits_q;
    logic [PositionWidth-1:0] fill_q;

    always_comb begin
        waits_d = waits_q;
        if (load_i) waits_d[fill_q] = 1'b1;
        if (clear_i && upstream_q[clear_position_i] == clear_id_i) waits_d[clear_position_i] = 1'b0;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            state_q <= window_pkg::SlotFree;
            waits_q <= '0;
        end else begin
            waits_q <= waits_d;
            if (insert_i) state_q <= window_pkg::SlotPending;
            else if (remove_i) state_q <= window_pkg::SlotFree;
            else if (dispatch_i) state_q <= window_pkg::SlotExecuting;
            else if ((load_end_i || clear_end_i) && state_q == window_pkg::SlotPending && waits_d == '0)
                state_q <= window_pkg::SlotReady;
        end
    end

    always_ff @(posedge clk_i) begin
        if (insert_i) fill_q <= '0;
        else if (load_i) fill_q <= fill_q + 1'b1;
        if (insert_i) id_q <= insert_id_i;
        if (load_i) upstream_q[fill_q] <= load_id_i;
    end

    assign state_o = state_q;
    assign id_o = id_q;

endmodule
