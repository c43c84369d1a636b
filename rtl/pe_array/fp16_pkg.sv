// SPDX-License-Identifier: Apache-2.0
// Arithmetic on IEEE 754 binary16 operands, in the three steps that the pipelined modules register:
//
//   multiply()            exact product of two binary16 values, as a binary32 value
//   add()                 exact sum of two binary32 values, as 28 bits and a sticky bit
//   round32(), round16()  normalises and rounds the sum, once
//
//   mac32(a, b, c) = round32(add(multiply(a, b), c))         exact product added in binary32
//   fma16(a, b, c) = round16(add(multiply(a, b), widen(c)))  binary16 fused multiply-add
//
// Round to nearest even, subnormals kept, every NaN result canonical (0x7E00, 0x7FC00000).
// mac32(), fma16() and narrow() are functions of their own in Verilator's C++ too: an array of PEs that call them from
// always_ff simulates ten times as fast as one of modules.
package fp16_pkg;

    localparam logic [15:0] NAN16 = 16'h7E00;
    localparam logic [31:0] NAN32 = 32'h7FC00000;

    // A sum: sign [36], exponent [35:28], significand [27:0]: 2^(exponent - 127) * significand / 2^26, and bit 0 is
    // sticky. A value that needs no rounding (special values, zeros, binary32 subnormals) has its binary32 fields
    // there and bit 26 set. (Not a struct: yosys 0.23 refuses functions that return one.)

    // Exact product of two binary16 values. It has 22 significant bits between 2^-48 and 2^32: never a subnormal,
    // never an overflow in binary32.
    function automatic logic [31:0] multiply(input logic [15:0] a, input logic [15:0] b);
        logic        sign;
        logic [7:0]  exponent;
        logic [21:0] product;
        sign = a[15] ^ b[15];
        product = {11'd0, a[14:10] != 5'd0, a[9:0]} * {11'd0, b[14:10] != 5'd0, b[9:0]};
        if (a[14:10] == 5'h1F || b[14:10] == 5'h1F) begin
            // Infinity times zero, or a NaN on either side.
            if (product == 22'd0 || a[14:0] > 15'h7C00 || b[14:0] > 15'h7C00)
                multiply = NAN32;
            else multiply = {sign, 8'hFF, 23'd0};
        end else if (product == 22'd0) begin
            multiply = {sign, 31'd0};
        end else begin
            // The exponent of a product whose leading bit is bit 21; a subnormal's is that of the smallest normal.
            exponent = 8'd98 + {3'd0, a[14:10]} + {3'd0, b[14:10]} + {7'd0, a[14:10] == 5'd0}
                + {7'd0, b[14:10] == 5'd0};
            if (product[21:20] == 2'd0) begin
                // A subnormal operand: up to 21 leading zeros.
                if (product[21:6] == 16'd0) begin product = product << 16; exponent = exponent - 8'd16; end
                if (product[21:14] == 8'd0) begin product = product << 8; exponent = exponent - 8'd8; end
                if (product[21:18] == 4'd0) begin product = product << 4; exponent = exponent - 8'd4; end
                if (product[21:20] == 2'd0) begin product = product << 2; exponent = exponent - 8'd2; end
            end
            if (!product[21]) begin product = product << 1; exponent = exponent - 8'd1; end
            multiply = {sign, exponent, product[20:0], 2'd0};
        end
    endfunction

    // Binary16 to binary32: exact.
    function automatic logic [31:0] widen(input logic [15:0] x);
        logic [7:0]  exponent;
        logic [10:0] significand;
        exponent = 8'd112 + {3'd0, x[14:10]};
        significand = {1'b1, x[9:0]};
        if (x[14:10] == 5'h1F) begin
            widen = x[9:0] == 10'd0 ? {x[15], 8'hFF, 23'd0} : NAN32;
        end else if (x[14:0] == 15'd0) begin
            widen = {x[15], 31'd0};
        end else begin
            if (x[14:10] == 5'd0) begin
                significand[10] = 1'b0;
                exponent = 8'd113;
                if (significand[10:3] == 8'd0) begin significand = significand << 8; exponent = exponent - 8'd8; end
                if (significand[10:7] == 4'd0) begin significand = significand << 4; exponent = exponent - 8'd4; end
                if (significand[10:9] == 2'd0) begin significand = significand << 2; exponent = exponent - 8'd2; end
                if (!significand[10]) begin significand = significand << 1; exponent = exponent - 8'd1; end
            end
            widen = {x[15], exponent, significand[9:0], 13'd0};
        end
    endfunction

    // What needs no rounding, in the form of a sum.
    function automatic logic [36:0] exact(input logic [31:0] x);
        exact = {x[31], x[30:23], 2'b01, x[22:0], 3'd0};
    endfunction

    // p + c, where p is what multiply() gives.
    function automatic logic [36:0] add(input logic [31:0] p, input logic [31:0] c);
        logic        swap, subtract;
        logic [31:0] upper;
        logic [30:0] lower;
        logic [7:0]  distance;
        logic [4:0]  shift;
        logic [26:0] shifted, lost;
        logic [27:0] sum;
        if (p[30:0] > 31'h7F800000 || c[30:0] > 31'h7F800000) begin
            add = exact(NAN32);
        end else if (p[30:23] == 8'hFF) begin
            add = exact(c[30:23] == 8'hFF && c[31] != p[31] ? NAN32 : p);
        end else if (c[30:23] == 8'hFF) begin
            add = exact(c);
        end else if (p[30:0] == 31'd0) begin
            // Minus zero only when both are.
            add = exact({c[31] && (p[31] || c[30:0] != 31'd0), c[30:0]});
        end else begin
            swap = c[30:0] > p[30:0];
            upper = swap ? c : p;
            lower = swap ? p[30:0] : c[30:0];
            subtract = p[31] != c[31];
            distance = upper[30:23] - lower[30:23] - {7'd0, lower[30:23] == 8'd0};
            shift = distance > 8'd27 ? 5'd27 : distance[4:0];
            shifted = {lower[30:23] != 8'd0, lower[22:0], 3'd0};
            lost = shifted & ~(27'h7FFFFFF << shift);
            shifted = shifted >> shift;
            shifted[0] = shifted[0] | (lost != 27'd0);
            sum = {2'b01, upper[22:0], 3'd0};
            sum = subtract ? sum - {1'b0, shifted} : sum + {1'b0, shifted};
            add = sum == 28'd0 ? exact(32'd0) : {upper[31], upper[30:23], sum};
        end
    endfunction

    // Sign [34], exponent [33:26] and fraction [25:0] of a sum whose leading bit is brought to bit 26. The exponent
    // stays in range: a sum that cancels is a multiple of 2^-72, and one with an exponent of 254 has an addend too
    // small for a carry.
    function automatic logic [34:0] normalise(input logic [36:0] x);
        logic [7:0]  exponent;
        logic [27:0] sum;
        exponent = x[35:28];
        sum = x[27:0];
        if (sum[27]) begin
            sum = {1'b0, sum[27:2], sum[1] | sum[0]};
            exponent = exponent + 8'd1;
        end else if (!sum[26]) begin
            if (sum[26:11] == 16'd0) begin sum = sum << 16; exponent = exponent - 8'd16; end
            if (sum[26:19] == 8'd0) begin sum = sum << 8; exponent = exponent - 8'd8; end
            if (sum[26:23] == 4'd0) begin sum = sum << 4; exponent = exponent - 8'd4; end
            if (sum[26:25] == 2'd0) begin sum = sum << 2; exponent = exponent - 8'd2; end
            if (!sum[26]) begin sum = sum << 1; exponent = exponent - 8'd1; end
        end
        normalise = {x[36], exponent, sum[25:0]};
    endfunction

    // A sum to binary32. A product and an accumulator of binary32 cannot overflow: the product is below 2^32.
    function automatic logic [31:0] round32(input logic [36:0] x);
        logic [34:0] n;
        logic        up;
        n = normalise(x);
        up = n[2] && (n[3] || n[1:0] != 2'd0);
        round32 = {n[34], {n[33:26], n[25:3]} + {30'd0, up}};
    endfunction

    // A sum to binary16.
    function automatic logic [15:0] round16(input logic [36:0] x);
        logic [34:0] n;
        logic [7:0]  below;
        logic [4:0]  shift, exponent;
        logic [26:0] significand, lost;
        logic        up;
        n = normalise(x);
        if (n[33:26] == 8'hFF) begin
            round16 = n[25:3] == 23'd0 ? {n[34], 15'h7C00} : {n[34], NAN16[14:0]};
        end else if (n[33:26] >= 8'd143) begin
            round16 = {n[34], 15'h7C00};
        end else begin
            significand = {1'b1, n[25:0]};
            exponent = n[30:26] - 5'd16;  // 127 - 15, modulo 32
            if (n[33:26] < 8'd113) begin
                // Below the normal range: the leading bit moves down from the place of 2^-14.
                below = 8'd113 - n[33:26];
                shift = below > 8'd27 ? 5'd27 : below[4:0];
                lost = significand & ~(27'h7FFFFFF << shift);
                significand = significand >> shift;
                significand[0] = significand[0] | (lost != 27'd0);
                exponent = 5'd0;
            end
            up = significand[15] && (significand[16] || significand[14:0] != 15'd0);
            // A carry out of the fraction makes the next exponent, up to infinity.
            round16 = {n[34], {exponent, significand[25:16]} + {14'd0, up}};
        end
    endfunction

    // Exact product added to a binary32 accumulator, one rounding.
    function automatic logic [31:0] mac32(input logic [15:0] a, input logic [15:0] b, input logic [31:0] c);
        /*verilator no_inline_task*/
        mac32 = round32(add(multiply(a, b), c));
    endfunction

    // Binary16 fused multiply-add, one rounding.
    function automatic logic [15:0] fma16(input logic [15:0] a, input logic [15:0] b, input logic [15:0] c);
        /*verilator no_inline_task*/
        fma16 = round16(add(multiply(a, b), widen(c)));
    endfunction

    // Binary32 to binary16, one rounding.
    function automatic logic [15:0] narrow(input logic [31:0] x);
        /*verilator no_inline_task*/
        narrow = x[30:0] > 31'h7F800000 ? NAN16 : round16(exact(x));
    endfunction

endpackage
