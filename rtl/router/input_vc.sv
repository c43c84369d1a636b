// SPDX-License-Identifier: Apache-2.0
// A virtual channel of an input: its buffer, and the stages of the packet at the front: route computation, VC allocation,
// switch allocation. What one stage hands on, the next one sees a cycle later; with ROUTING_CYCLES = 0 (look-ahead) the
// route is known when the head arrives.
//
// A packet for several ports is copied: each branch has its own output VC and takes the flits at its own rate, and a flit
// is dropped when the last branch has it. A multicast head moves only where the next buffer has room for the whole packet,
// so that what one branch does cannot stop another one.
`include "switchyard_assert.svh"

module input_vc #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 4,
    parameter int unsigned DEPTH = 8,
    parameter int unsigned COLUMNS = 4,
    parameter int unsigned ROWS = 4,
    parameter int unsigned FLIT_BITS = 64,
    parameter int unsigned ROUTING_CYCLES = 1,
    parameter int unsigned VC_ALLOC_CYCLES = 1,
    parameter int unsigned SWITCH_ALLOC_CYCLES = 1,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned XWidth = COLUMNS > 1 ? $clog2(COLUMNS) : 1,
    localparam int unsigned YWidth = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [XWidth-1:0] x_i,
    input logic [YWidth-1:0] y_i,

    input logic push_i,
    input logic [FLIT_BITS-1:0] flit_i,
    output logic drop_o,  // a slot has become free

    // VC allocator. Outputs of the router are port * VCS + vc.
    output logic [PORTS-1:0] vc_req_o,     // a branch without VC, by port
    output logic [PORTS-1:0] crosses_o,  // by port: the dateline class
    output logic control_o,
    output logic copying_o,
    input logic [PORTS*VCS-1:0] vc_grant_i,  // for each port that asks at most one
    input logic [PORTS*VCS-1:0] free_i,      // outputs that no packet holds
    output logic [PORTS*VCS-1:0] vc_ack_o,

    // Switch allocator.
    input logic [PORTS*VCS*CountWidth-1:0] credits_i,  // of each output
    output logic [PORTS-1:0] switch_req_o,                  // has a flit and a credit for that port
    input logic [PORTS-1:0] granted_i,                 // ports that this VC may use now
    input logic [PORTS-1:0] accepted_i,                // the one among them that its input has chosen, or nothing
    output logic [PORTS-1:0] switch_ack_o,                  // ports that it will use: those that want the same flit

    // Switch.
    output logic [PORTS-1:0] sends_o,
    output logic [PORTS*VCS-1:0] outputs_o,  // by port, one-hot: the VC in which it sends
    output logic [FLIT_BITS-1:0] flit_o,

    // For observers.
    output logic routing_o,
    output logic vc_alloc_o,
    output logic vc_wait_o,
    output logic switch_alloc_o,
    output logic switch_wait_o,
    output logic copying_q_o,
    output logic [CountWidth-1:0] held_o
);

    localparam int unsigned Data = router_pkg::FlitFlags;
    localparam int unsigned Locals = PORTS - router_pkg::PortLocal;
    localparam int unsigned HeaderBits = COLUMNS * ROWS * Locals + 2 * (COLUMNS + ROWS) + CountWidth + 2;

    logic routing_d, routing_q, vc_alloc_d, vc_alloc_q, vc_wait_d, vc_wait_q;
    logic switch_alloc_d, switch_alloc_q, switch_wait_d, switch_wait_q;

    // The buffer.
    logic [CountWidth-1:0] held, place;
    logic head, tail;  // the front is one; the flit that leaves is one
    flit_buffer #(
        .FLIT_BITS(FLIT_BITS),
        .DEPTH(DEPTH)
    ) u_buffer (
        .clk_i,
        .rst_ni,
        .push_i,
        .flit_i,
        .drop_i(drop_o),
        .place_i(place),
        .flit_o,
        .front_is_head_o(head),
        .held_o(held)
    );
    assign tail = flit_o[router_pkg::FlitTail];

    // Route computation.
    logic [PORTS-1:0] route_ports, route_crosses, ports, ports_q, crosses_q;
    logic [CountWidth-1:0] route_length, length_q;
    logic route_multicast, route_control, routed, route_start, ahead, forks;
    logic multicast_q, control_q, copying_d, copying_q;
    route_computation #(
        .PORTS(PORTS),
        .DEPTH(DEPTH),
        .COLUMNS(COLUMNS),
        .ROWS(ROWS)
    ) u_route (
        .x_i,
        .y_i,
        .header_i(flit_o[Data+:HeaderBits]),
        .ports_o(route_ports),
        .crosses_o(route_crosses),
        .length_o(route_length),
        .multicast_o(route_multicast),
        .control_o(route_control)
    );
    logic route_done;
    stage_timer #(
        .CYCLES(ROUTING_CYCLES)
    ) u_route_timer (
        .clk_i,
        .rst_ni,
        .start_i(route_start),
        .done_o(route_done)
    );
    assign routed = routing_q && route_done;
    assign forks = (route_ports & (route_ports - 1'b1)) != '0;
    assign ahead = ROUTING_CYCLES == 0 && routed;
    assign ports = ahead ? route_ports : ports_q;
    assign crosses_o = ahead ? route_crosses : crosses_q;
    assign control_o = ahead ? route_control : control_q;
    assign copying_o = ahead ? forks : copying_q;

    // VC allocation: an answer is one VC, or none, for each port that asks.
    logic asking, answered;
    logic [PORTS-1:0] have_d, have_q, has, taken;
    logic [PORTS*VCS-1:0] answer, outputs_d, outputs_q;
    assign has = ahead ? '0 : have_q;
    assign asking = vc_alloc_q || ahead;
    assign vc_req_o = asking ? ports & ~has : '0;
    if (VC_ALLOC_CYCLES > 1) begin : gen_vc_wait
        logic waited;
        logic [PORTS*VCS-1:0] answer_q;
        stage_timer #(
            .CYCLES(VC_ALLOC_CYCLES - 1)
        ) u_timer (
            .clk_i,
            .rst_ni,
            .start_i(asking),
            .done_o(waited)
        );
        assign answered = vc_wait_q && waited;
        assign answer = answer_q & free_i;
        assign vc_wait_d = asking || (vc_wait_q && !answered);
        always_ff @(posedge clk_i) if (asking) answer_q <= vc_grant_i;
    end else begin : gen_vc_at_once
        logic unused;
        assign unused = ^free_i;
        assign answered = asking;
        assign answer = vc_grant_i;
        assign vc_wait_d = 1'b0;
    end
    assign vc_ack_o = answered ? answer : '0;
    for (genvar p = 0; p < PORTS; p++) begin : gen_taken
        assign taken[p] = vc_ack_o[VCS*p+:VCS] != '0;
        assign outputs_d[VCS*p+:VCS] = taken[p] ? vc_ack_o[VCS*p+:VCS] : outputs_q[VCS*p+:VCS];
    end
    assign have_d = (routed ? '0 : have_q) | taken;
    always_comb begin
        vc_alloc_d = vc_alloc_q || routed;
        if (asking) vc_alloc_d = 1'b0;
        if (answered) vc_alloc_d = (ports & ~have_d) != '0;
    end

    // Switch allocation. Each branch has sent N flits of the packet; `gone_q` have been dropped.
    logic [PORTS*CountWidth-1:0] sent_d, sent_q;
    logic [CountWidth-1:0] gone_d, gone_q, position, next;
    logic [PORTS-1:0] same_flit;
    assign outputs_o = outputs_q;
    for (genvar p = 0; p < PORTS; p++) begin : gen_switch_req
        logic [CountWidth-1:0] sent, ahead_of_front, credits, needed;
        logic here;
        assign sent = sent_q[CountWidth*p+:CountWidth];
        assign ahead_of_front = sent - gone_q;
        always_comb begin
            credits = '0;
            for (int unsigned v = 0; v < VCS; v++)
                if (outputs_q[VCS*p+v]) credits |= credits_i[CountWidth*(VCS*p+v)+:CountWidth];
        end
        assign needed = multicast_q && (copying_q ? sent == '0 : head) ? length_q : CountWidth'(1);
        assign here = !copying_q || (sent != length_q && ahead_of_front < held);
        assign switch_req_o[p] = switch_alloc_q && have_q[p] && here && credits >= needed;
        assign same_flit[p] = sent == position;
        assign sent_d[CountWidth*p+:CountWidth] = sent + CountWidth'(copying_q && sends_o[p]);
    end
    always_comb begin
        position = '0;
        for (int unsigned p = 0; p < PORTS; p++) if (accepted_i[p]) position |= sent_q[CountWidth*p+:CountWidth];
    end
    assign switch_ack_o = accepted_i != '0 ? granted_i & same_flit : '0;
    logic switch_answered;
    if (SWITCH_ALLOC_CYCLES > 1) begin : gen_switch_wait
        logic waited;
        logic [PORTS-1:0] switch_ack_q;
        stage_timer #(
            .CYCLES(SWITCH_ALLOC_CYCLES - 1)
        ) u_timer (
            .clk_i,
            .rst_ni,
            .start_i(switch_alloc_q),
            .done_o(waited)
        );
        assign switch_answered = switch_wait_q && waited;
        assign switch_wait_d = switch_alloc_q || (switch_wait_q && !switch_answered);
        assign sends_o = switch_answered ? switch_ack_q : '0;
        always_ff @(posedge clk_i) if (switch_alloc_q) switch_ack_q <= switch_ack_o;
    end else begin : gen_switch_at_once
        assign switch_answered = switch_alloc_q;
        assign switch_wait_d = 1'b0;
        assign sends_o = switch_ack_o;
    end

    // What leaves, and what becomes of the front.
    logic [CountWidth-1:0] left;
    logic finished, starts_packet, starts_body;
    always_comb begin
        next = '0;
        for (int unsigned p = 0; p < PORTS; p++) if (sends_o[p]) next = sent_q[CountWidth*p+:CountWidth];
    end
    assign place = copying_q && sends_o != '0 ? next - gone_q : '0;
    always_comb begin
        gone_d = length_q;
        for (int unsigned p = 0; p < PORTS; p++)
            gone_d = ports_q[p] && sent_d[CountWidth*p+:CountWidth] < gone_d ? sent_d[CountWidth*p+:CountWidth] : gone_d;
    end
    assign drop_o = copying_q ? gone_d != gone_q : sends_o != '0;
    assign finished = copying_q ? gone_d == length_q : sends_o != '0 && tail;
    assign left = held - CountWidth'(drop_o);
    assign starts_packet = push_i && left == '0 && flit_i[router_pkg::FlitHead];
    assign starts_body = push_i && left == '0 && !flit_i[router_pkg::FlitHead];
    assign route_start = starts_packet || (finished && left != '0);
    assign routing_d = route_start || (routing_q && !routed);
    assign copying_d = (routed ? forks : copying_q) && !finished;
    always_comb begin
        switch_alloc_d = switch_alloc_q;
        if (SWITCH_ALLOC_CYCLES > 1 && switch_alloc_q) switch_alloc_d = 1'b0;
        else if (switch_answered || (taken != '0 && !switch_wait_q)) switch_alloc_d = 1'b1;
        if (!copying_q && sends_o != '0 && left == '0) switch_alloc_d = 1'b0;
        if (finished) switch_alloc_d = 1'b0;
        if (starts_body && !copying_d && !switch_wait_d) switch_alloc_d = 1'b1;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            routing_q <= 1'b0;
            vc_alloc_q <= 1'b0;
            vc_wait_q <= 1'b0;
            switch_alloc_q <= 1'b0;
            switch_wait_q <= 1'b0;
            copying_q <= 1'b0;
            have_q <= '0;
        end else begin
            routing_q <= routing_d;
            vc_alloc_q <= vc_alloc_d;
            vc_wait_q <= vc_wait_d;
            switch_alloc_q <= switch_alloc_d;
            switch_wait_q <= switch_wait_d;
            copying_q <= copying_d;
            have_q <= finished ? '0 : have_d;
        end
    end
    always_ff @(posedge clk_i) begin
        if (routed) begin
            ports_q <= route_ports;
            crosses_q <= route_crosses;
            length_q <= route_length;
            multicast_q <= route_multicast;
            control_q <= route_control;
        end
        outputs_q <= outputs_d;
        sent_q <= routed ? '0 : sent_d;
        gone_q <= routed || !copying_q ? '0 : gone_d;
    end

    assign routing_o = routing_q;
    assign vc_alloc_o = vc_alloc_q;
    assign vc_wait_o = vc_wait_q;
    assign switch_alloc_o = switch_alloc_q;
    assign switch_wait_o = switch_wait_q;
    assign copying_q_o = copying_q;
    assign held_o = held;

    `SWITCHYARD_ASSERT(one_stage_for_a_packet_that_waits, 32'(routing_q) + 32'(vc_alloc_q || vc_wait_q) <= 32'd1)
    `SWITCHYARD_ASSERT(routes_a_head, !routing_q || (held != '0 && head))
    `SWITCHYARD_ASSERT(sends_what_it_holds, sends_o == '0 || place < held)
    `SWITCHYARD_ASSERT(sends_where_it_has_a_vc, (sends_o & ~have_q) == '0)
    `SWITCHYARD_ASSERT(goes_somewhere, !routed || route_ports != '0)

endmodule
