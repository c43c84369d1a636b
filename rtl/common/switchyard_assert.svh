// SPDX-License-Identifier: Apache-2.0
// Assertions beside the logic, in one text for simulation and proof.
//
//   `SWITCHYARD_ASSERT(name, expr)                holds in each cycle out of reset
//   `SWITCHYARD_ASSERT_NEXT(name, before, after)  a cycle with `before` is followed by one with `after`
//   `SWITCHYARD_ASSUME(name, expr)                what the environment owes: assumed in a proof, checked in simulation
//
// `name` labels the assertion and shows in its message. Clock and reset are clk_i and rst_ni unless given. Verilator
// sees concurrent assertions (built with ASSERT or COVERAGE), yosys immediate ones under FORMAL, synthesis none.
// A proof has to begin in reset: SWITCHYARD_ASSERT_NEXT looks one cycle back.
`ifndef SWITCHYARD_ASSERT_SVH
`define SWITCHYARD_ASSERT_SVH

`ifdef FORMAL

`define SWITCHYARD_ASSERT(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni) \
    always @(posedge clk_) if (rst_n_) name_: assert (expr_);
`define SWITCHYARD_ASSERT_NEXT(name_, before_, after_, clk_ = clk_i, rst_n_ = rst_ni) \
    always @(posedge clk_) if (rst_n_ && $past(rst_n_) && $past(before_)) name_: assert (after_);
`define SWITCHYARD_ASSUME(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni) \
    always @(posedge clk_) if (rst_n_) name_: assume (expr_);

`elsif VERILATOR

`define SWITCHYARD_ASSERT(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni) \
    name_: assert property (@(posedge clk_) disable iff (!rst_n_) (expr_));
`define SWITCHYARD_ASSERT_NEXT(name_, before_, after_, clk_ = clk_i, rst_n_ = rst_ni) \
    name_: assert property (@(posedge clk_) disable iff (!rst_n_) (before_) |=> (after_));
`define SWITCHYARD_ASSUME(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni) \
    `SWITCHYARD_ASSERT(name_, expr_, clk_, rst_n_)

`else

`define SWITCHYARD_ASSERT(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni)
`define SWITCHYARD_ASSERT_NEXT(name_, before_, after_, clk_ = clk_i, rst_n_ = rst_ni)
`define SWITCHYARD_ASSUME(name_, expr_, clk_ = clk_i, rst_n_ = rst_ni)

`endif
`endif
