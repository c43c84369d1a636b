// SPDX-License-Identifier: Apache-2.0
// An input-buffered wormhole router with virtual channels and credits. hw::flit::FlitNetwork is its model: the same stages,
// arbiters and pointers, cycle by cycle.
//
// Each input VC has a buffer of DEPTH flits. A head goes through route computation, VC allocation and switch allocation,
// the flits behind it through the last one; each takes as many cycles as its parameter says, then SWITCH_CYCLES through the
// switch and one to the pins. With one cycle each a head that is at the pins in cycle t leaves them in cycle t + 6 on a
// router that has nothing else to do: written at the end of t, route, VC, switch, traversal, pins.
//
// Ports 0 to 3 are north, east, south, west; the others endpoints. A link carries a flit of a VC a cycle; a credit says that
// a slot in that VC's buffer is free. Links of several cycles are registers outside.
//
// Straps, constant from the reset on: its place, the VCs of the traffic and dateline classes, and the depth of the
// buffers behind its outputs. See route_computation for the header of a packet.
`include "switchyard_assert.svh"

module router #(
    parameter int unsigned PORTS = 5,
    parameter int unsigned VCS = 4,
    parameter int unsigned DEPTH = 8,
    parameter int unsigned COLUMNS = 4,  // of the largest network
    parameter int unsigned ROWS = 4,
    parameter int unsigned PAYLOAD_BITS = 32,  // of a head flit, behind its header; the other flits have more
    parameter int unsigned ROUTING_CYCLES = 1,
    parameter int unsigned VC_ALLOC_CYCLES = 1,
    parameter int unsigned SWITCH_ALLOC_CYCLES = 1,
    parameter int unsigned SWITCH_CYCLES = 1,
    localparam int unsigned N = PORTS * VCS,
    localparam int unsigned Locals = PORTS - router_pkg::PortLocal,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned HeaderBits = COLUMNS * ROWS * Locals + 2 * (COLUMNS + ROWS) + CountWidth + 2,
    localparam int unsigned FlitBits = router_pkg::FlitFlags + HeaderBits + PAYLOAD_BITS,
    localparam int unsigned VcWidth = VCS > 1 ? $clog2(VCS) : 1,
    localparam int unsigned XWidth = COLUMNS > 1 ? $clog2(COLUMNS) : 1,
    localparam int unsigned YWidth = ROWS > 1 ? $clog2(ROWS) : 1,
    localparam int unsigned IndexWidth = $clog2(N),
    localparam int unsigned PortWidth = $clog2(PORTS)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [XWidth-1:0] x_i,
    input logic [YWidth-1:0] y_i,
    input logic [router_pkg::Groups*VCS-1:0] class_low_i,   // VCs of data, then of control, below the dateline
    input logic [router_pkg::Groups*VCS-1:0] class_high_i,  // and beyond it; without a dateline the same
    input logic [CountWidth-1:0] places_i,

    input logic [PORTS-1:0] flit_valid_i,
    input logic [PORTS*VcWidth-1:0] flit_vc_i,
    input logic [PORTS*FlitBits-1:0] flit_i,
    output logic [PORTS-1:0] credit_valid_o,
    output logic [PORTS*VcWidth-1:0] credit_vc_o,

    output logic [PORTS-1:0] flit_valid_o,
    output logic [PORTS*VcWidth-1:0] flit_vc_o,
    output logic [PORTS*FlitBits-1:0] flit_o,
    input logic [PORTS-1:0] credit_valid_i,
    input logic [PORTS*VcWidth-1:0] credit_vc_i,

    // For observers. By VC of the inputs: port * VCS + vc.
    output logic busy_o,  // without anything at the inputs, another cycle would still change something
    output logic [N-1:0] routing_o,
    output logic [N-1:0] vc_alloc_o,
    output logic [N-1:0] vc_wait_o,
    output logic [N-1:0] switch_alloc_o,
    output logic [N-1:0] switch_wait_o,
    output logic [N-1:0] copying_o,
    output logic [N*CountWidth-1:0] held_o,
    output logic [N*IndexWidth-1:0] vc_accept_pointers_o,
    output logic [PORTS*PortWidth-1:0] switch_accept_pointers_o,
    output logic [PORTS*VcWidth-1:0] switch_turns_o,
    // By VC of the outputs, and by output.
    output logic [N-1:0] free_o,
    output logic [N*CountWidth-1:0] credits_o,
    output logic [N*IndexWidth-1:0] vc_grant_pointers_o,
    output logic [PORTS*PortWidth-1:0] switch_grant_pointers_o
);

    logic [XWidth-1:0] x_q;
    logic [YWidth-1:0] y_q;
    logic [router_pkg::Groups*VCS-1:0] class_low_q, class_high_q;
    logic [CountWidth-1:0] places_q;
    always_ff @(posedge clk_i) begin
        x_q <= x_i;
        y_q <= y_i;
        class_low_q <= class_low_i;
        class_high_q <= class_high_i;
        places_q <= places_i;
    end

    // By input VC, then port or output VC.
    logic [N*PORTS-1:0] vc_req, crosses, switch_req, granted, accepted, switch_ack, sends;
    logic [N*N-1:0] vc_grants, vc_ack, outputs;
    logic [N*FlitBits-1:0] flits;
    logic [N-1:0] control, copying, drops;

    for (genvar i = 0; i < N; i++) begin : gen_input_vc
        localparam int unsigned Port = i / VCS;
        localparam int unsigned Vc = i % VCS;
        input_vc #(
            .PORTS(PORTS),
            .VCS(VCS),
            .DEPTH(DEPTH),
            .COLUMNS(COLUMNS),
            .ROWS(ROWS),
            .FLIT_BITS(FlitBits),
            .ROUTING_CYCLES(ROUTING_CYCLES),
            .VC_ALLOC_CYCLES(VC_ALLOC_CYCLES),
            .SWITCH_ALLOC_CYCLES(SWITCH_ALLOC_CYCLES)
        ) u_vc (
            .clk_i,
            .rst_ni,
            .x_i(x_q),
            .y_i(y_q),
            .push_i(flit_valid_i[Port] && flit_vc_i[VcWidth*Port+:VcWidth] == VcWidth'(Vc)),
            .flit_i(flit_i[FlitBits*Port+:FlitBits]),
            .drop_o(drops[i]),
            .vc_req_o(vc_req[PORTS*i+:PORTS]),
            .crosses_o(crosses[PORTS*i+:PORTS]),
            .control_o(control[i]),
            .copying_o(copying[i]),
            .vc_grant_i(vc_grants[N*i+:N]),
            .free_i(free_o),
            .vc_ack_o(vc_ack[N*i+:N]),
            .credits_i(credits_o),
            .switch_req_o(switch_req[PORTS*i+:PORTS]),
            .granted_i(granted[PORTS*i+:PORTS]),
            .accepted_i(accepted[PORTS*i+:PORTS]),
            .switch_ack_o(switch_ack[PORTS*i+:PORTS]),
            .sends_o(sends[PORTS*i+:PORTS]),
            .outputs_o(outputs[N*i+:N]),
            .flit_o(flits[FlitBits*i+:FlitBits]),
            .routing_o(routing_o[i]),
            .vc_alloc_o(vc_alloc_o[i]),
            .vc_wait_o(vc_wait_o[i]),
            .switch_alloc_o(switch_alloc_o[i]),
            .switch_wait_o(switch_wait_o[i]),
            .copying_q_o(copying_o[i]),
            .held_o(held_o[CountWidth*i+:CountWidth])
        );
    end

    vc_allocator #(
        .PORTS(PORTS),
        .VCS(VCS)
    ) u_vc_allocator (
        .clk_i,
        .rst_ni,
        .class_low_i(class_low_q),
        .class_high_i(class_high_q),
        .free_i(free_o),
        .vc_req_i(vc_req),
        .crosses_i(crosses),
        .control_i(control),
        .copying_i(copying),
        .grant_o(vc_grants),
        .grant_pointers_o(vc_grant_pointers_o),
        .accept_pointers_o(vc_accept_pointers_o)
    );

    switch_allocator #(
        .PORTS(PORTS),
        .VCS(VCS)
    ) u_switch_allocator (
        .clk_i,
        .rst_ni,
        .switch_req_i(switch_req),
        .granted_o(granted),
        .accepted_o(accepted),
        .switch_ack_i(switch_ack),
        .grant_pointers_o(switch_grant_pointers_o),
        .accept_pointers_o(switch_accept_pointers_o),
        .turns_o(switch_turns_o)
    );

    // The switch: an input sends one flit a cycle, an output takes one.
    logic [PORTS*FlitBits-1:0] input_flit;
    logic [PORTS*PORTS-1:0] crosspoints;  // by output, then input
    logic [PORTS*N-1:0] leaving;          // by output, then input VC
    logic [PORTS-1:0] busy;
    for (genvar a = 0; a < PORTS; a++) begin : gen_input
        logic [PORTS*VCS-1:0] from_here;
        assign from_here = sends[PORTS*VCS*a+:PORTS*VCS];
        always_comb begin
            input_flit[FlitBits*a+:FlitBits] = '0;
            for (int unsigned v = 0; v < VCS; v++)
                if (from_here[PORTS*v+:PORTS] != '0)
                    input_flit[FlitBits*a+:FlitBits] |= flits[FlitBits*(VCS*a+v)+:FlitBits];
        end
        for (genvar b = 0; b < PORTS; b++) begin : gen_crosspoint
            assign crosspoints[PORTS*b+a] = leaving[N*b+VCS*a+:VCS] != '0;
        end

        // Credits for the input before.
        logic credit_valid_q;
        logic [VcWidth-1:0] credit_vc, credit_vc_q;
        always_comb begin
            credit_vc = '0;
            for (int unsigned v = 0; v < VCS; v++) if (drops[VCS*a+v]) credit_vc |= VcWidth'(v);
        end
        always_ff @(posedge clk_i or negedge rst_ni) begin
            if (!rst_ni) begin
                credit_valid_q <= 1'b0;
                credit_vc_q <= '0;
            end else begin
                credit_valid_q <= drops[VCS*a+:VCS] != '0;
                if (drops[VCS*a+:VCS] != '0) credit_vc_q <= credit_vc;
            end
        end
        assign credit_valid_o[a] = credit_valid_q;
        assign credit_vc_o[VcWidth*a+:VcWidth] = credit_vc_q;
    end

    // For the assertions: they show no toggle while those hold.
    /* verilator coverage_off */
    logic [N-1:0] taken_twice;
    logic [PORTS-1:0] sent_twice;
    /* verilator coverage_on */
    for (genvar b = 0; b < PORTS; b++) begin : gen_output
        logic [FlitBits-1:0] flit;
        logic [VCS-1:0] vc;
        for (genvar i = 0; i < N; i++) begin : gen_leaving
            assign leaving[N*b+i] = sends[PORTS*i+b];
        end
        always_comb begin
            flit = '0;
            for (int unsigned a = 0; a < PORTS; a++)
                if (crosspoints[PORTS*b+a]) flit |= input_flit[FlitBits*a+:FlitBits];
            vc = '0;
            for (int unsigned i = 0; i < N; i++) if (leaving[N*b+i]) vc |= outputs[N*i+VCS*b+:VCS];
        end
        output_port #(
            .PORT(b),
            .LOCALS(Locals),
            .VCS(VCS),
            .COLUMNS(COLUMNS),
            .ROWS(ROWS),
            .FLIT_BITS(FlitBits),
            .SWITCH_CYCLES(SWITCH_CYCLES)
        ) u_port (
            .clk_i,
            .rst_ni,
            .x_i(x_q),
            .y_i(y_q),
            .valid_i(leaving[N*b+:N] != '0),
            .vc_i(vc),
            .flit_i(flit),
            .valid_o(flit_valid_o[b]),
            .vc_o(flit_vc_o[VcWidth*b+:VcWidth]),
            .flit_o(flit_o[FlitBits*b+:FlitBits]),
            .busy_o(busy[b])
        );

        for (genvar v = 0; v < VCS; v++) begin : gen_output_vc
            logic [N-1:0] taken_by;
            for (genvar i = 0; i < N; i++) begin : gen_taken_by
                assign taken_by[i] = vc_ack[N*i+VCS*b+v];
            end
            output_vc #(
                .DEPTH(DEPTH)
            ) u_vc (
                .clk_i,
                .rst_ni,
                .places_i(places_q),
                .alloc_i(taken_by != '0),
                .send_i(vc[v]),
                .tail_i(flit[router_pkg::FlitTail]),
                .credit_i(credit_valid_i[b] && credit_vc_i[VcWidth*b+:VcWidth] == VcWidth'(v)),
                .free_o(free_o[VCS*b+v]),
                .credits_o(credits_o[CountWidth*(VCS*b+v)+:CountWidth])
            );
            assign taken_twice[VCS*b+v] = (taken_by & (taken_by - 1'b1)) != '0;
        end
        assign sent_twice[b] = (leaving[N*b+:N] & (leaving[N*b+:N] - 1'b1)) != '0;
    end

    `SWITCHYARD_ASSERT(output_vc_taken_by_one, taken_twice == '0)
    `SWITCHYARD_ASSERT(output_takes_one_flit, sent_twice == '0)

    assign busy_o = (routing_o | vc_alloc_o | vc_wait_o | switch_alloc_o | switch_wait_o) != '0 || busy != '0 ||
        credit_valid_o != '0;

endmodule
