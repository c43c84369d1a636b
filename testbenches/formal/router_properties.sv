// The router in the middle of a row of three, with any packets at its west, east and local inputs, any waits and any
// credits: no flit is lost, doubled or reordered on its way from a VC of an input. Each flit carries the input it came by
// and its number there. A packet goes to one of the three outputs; with MULTICAST to any of them, and is two flits long.
`include "switchyard_assert.svh"

module router_properties #(
    parameter int unsigned DEPTH = 2,
    parameter int unsigned MULTICAST = 0,
    localparam int unsigned Ports = 5,
    localparam int unsigned Columns = 3,
    localparam int unsigned NumberWidth = 3,
    localparam int unsigned CountWidth = $clog2(DEPTH + 1),
    localparam int unsigned PayloadBits = 2 + NumberWidth,
    localparam int unsigned FlitBits = 2 + Columns + 2 * (Columns + 1) + CountWidth + 2 + PayloadBits
) (
    input logic clk_i,
    input logic [2:0] push_i,  // west, east, local
    input logic [2:0] tail_i,
    input logic [3*Columns-1:0] destinations_i,
    input logic [2:0] credit_i
);

    logic rst_ni = 1'b0;
    logic started_q = 1'b0;  // a cycle in reset, for the straps
    always_ff @(posedge clk_i) begin
        started_q <= 1'b1;
        rst_ni <= started_q;
    end

    localparam int unsigned West = router_pkg::PortWest;
    localparam int unsigned East = router_pkg::PortEast;
    localparam int unsigned Local = router_pkg::PortLocal;

    logic [Ports-1:0] flit_valid, credit_valid, out_valid, credits;
    logic [Ports*FlitBits-1:0] flits, out_flits;
    logic [Ports*CountWidth-1:0] held;
    router #(
        .PORTS(Ports),
        .VCS(1),
        .DEPTH(DEPTH),
        .COLUMNS(Columns),
        .ROWS(1),
        .PAYLOAD_BITS(PayloadBits)
    ) u_router (
        .clk_i,
        .rst_ni,
        .x_i(2'd1),
        .y_i(1'b0),
        .class_low_i(2'b01),
        .class_high_i(2'b01),
        .places_i(CountWidth'(DEPTH)),
        .flit_valid_i(flit_valid),
        .flit_vc_i('0),
        .flit_i(flits),
        .credit_valid_o(credit_valid),
        .flit_valid_o(out_valid),
        .flit_o(out_flits),
        .credit_valid_i(credits),
        .credit_vc_i('0),
        .held_o(held)
    );

    assign credits[0] = 1'b0;
    assign credits[2] = 1'b0;
    assign flit_valid[0] = 1'b0;
    assign flit_valid[2] = 1'b0;
    assign flits[0+:FlitBits] = '0;
    assign flits[2*FlitBits+:FlitBits] = '0;

    // What comes in, by input: places that the sender knows to be free, the number of the next flit and of the next one
    // that is to leave.
    logic [3*NumberWidth-1:0] came_q, left_q;
    logic [2:0] leaves, wrong_number;
    for (genvar s = 0; s < 3; s++) begin : gen_source
        localparam int unsigned Port = s == 0 ? West : s == 1 ? East : Local;
        logic inside_q, push, head, tail;
        logic [CountWidth-1:0] used_q;
        logic [Columns-1:0] asked, destinations;
        assign asked = destinations_i[Columns*s+:Columns];
        // The column to the west is reached westward.
        assign destinations = MULTICAST != 0 ? (asked == '0 ? Columns'(1) : asked) :
            asked[0] ? Columns'(1) : asked[1] ? Columns'(2) : Columns'(4);
        assign push = push_i[s] && rst_ni && used_q != CountWidth'(DEPTH);
        assign head = !inside_q;
        assign tail = MULTICAST != 0 ? inside_q : tail_i[s];
        always_ff @(posedge clk_i) begin
            if (!rst_ni) begin
                inside_q <= 1'b0;
                used_q <= '0;
                came_q[NumberWidth*s+:NumberWidth] <= '0;
            end else begin
                used_q <= used_q + CountWidth'(push) - CountWidth'(credit_valid[Port]);
                if (push) begin
                    inside_q <= !tail;
                    came_q[NumberWidth*s+:NumberWidth] <= came_q[NumberWidth*s+:NumberWidth] + 1'b1;
                end
            end
        end
        assign flit_valid[Port] = push;
        assign flits[FlitBits*Port+:FlitBits] = {2'(s), came_q[NumberWidth*s+:NumberWidth], 1'b0, MULTICAST != 0,
            CountWidth'(2), 1'b0, 1'b0, Columns'(0), Columns'(1), destinations, tail, head};
        assign credits[Port] = credit_i[s] && rst_ni;

        // Without copies: the flits of an input leave one after the other, by whatever output, all with the same delay.
        logic [2:0] mine;
        for (genvar o = 0; o < 3; o++) begin : gen_exit
            localparam int unsigned Out = o == 0 ? West : o == 1 ? East : Local;
            assign mine[o] = out_valid[Out] && out_flits[FlitBits*(Out+1)-1-:2] == 2'(s);
        end
        assign leaves[s] = mine != '0;
        logic [NumberWidth-1:0] number;
        assign number = mine[0] ? out_flits[FlitBits*(West+1)-3-:NumberWidth] :
            mine[1] ? out_flits[FlitBits*(East+1)-3-:NumberWidth] : out_flits[FlitBits*(Local+1)-3-:NumberWidth];
        assign wrong_number[s] = MULTICAST == 0 && leaves[s] && (number != left_q[NumberWidth*s+:NumberWidth] ||
            (mine & (mine - 1'b1)) != '0 || number == came_q[NumberWidth*s+:NumberWidth]);
        always_ff @(posedge clk_i) begin
            if (!rst_ni) left_q[NumberWidth*s+:NumberWidth] <= '0;
            else if (leaves[s]) left_q[NumberWidth*s+:NumberWidth] <= left_q[NumberWidth*s+:NumberWidth] + 1'b1;
        end
    end

    // Each output VC: packets are whole, and come one after the other.
    logic [2:0] broken, misrouted;
    for (genvar o = 0; o < 3; o++) begin : gen_output
        localparam int unsigned Out = o == 0 ? West : o == 1 ? East : Local;
        logic inside_q, head, tail;
        logic [1:0] source, source_q;
        logic [NumberWidth-1:0] number, number_q;
        logic [Columns-1:0] destinations;
        assign {source, number} = out_flits[FlitBits*(Out+1)-1-:2+NumberWidth];
        assign head = out_flits[FlitBits*Out+router_pkg::FlitHead];
        assign tail = out_flits[FlitBits*Out+router_pkg::FlitTail];
        assign destinations = out_flits[FlitBits*Out+router_pkg::FlitFlags+:Columns];
        always_ff @(posedge clk_i) begin
            if (!rst_ni) inside_q <= 1'b0;
            else if (out_valid[Out]) inside_q <= !tail;
            if (out_valid[Out]) begin
                source_q <= source;
                number_q <= number;
            end
        end
        assign broken[o] = out_valid[Out] && (head == inside_q ||
            (inside_q && (source != source_q || number != number_q + 1'b1)));
        // Those behind the port, and none else: west is column 0, here column 1, east column 2.
        assign misrouted[o] = out_valid[Out] && head &&
            destinations != (o == 0 ? Columns'(1) : o == 1 ? Columns'(4) : Columns'(2));
    end

    `SWITCHYARD_ASSERT(flits_leave_once_and_in_order, wrong_number == '0)
    `SWITCHYARD_ASSERT(packets_leave_whole, broken == '0)
    `SWITCHYARD_ASSERT(packets_go_where_they_should, misrouted == '0)
    `SWITCHYARD_ASSERT(elsewhere_nothing, !out_valid[router_pkg::PortNorth] && !out_valid[router_pkg::PortSouth])

endmodule
