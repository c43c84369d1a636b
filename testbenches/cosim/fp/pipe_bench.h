// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/testbenches/cosim/fp/fp_unit.h"

namespace switchyard::testing {

inline std::uint32_t pipe_result(Acc16, std::uint16_t a, std::uint16_t b, std::uint32_t c) {
    return numerics::fma16(a, b, std::uint16_t(c));
}

inline std::uint32_t pipe_result(Acc32, std::uint16_t a, std::uint16_t b, std::uint32_t c) {
    return numerics::to_bits(numerics::mac32(a, b, numerics::to_float(c)));
}

/// How likely a side is to offer and to take in a cycle, of 8.
struct Traffic {
    unsigned offer, take;
};

/// Functional coverage of the handshakes.
struct Handshakes {
    std::uint64_t refused = 0, stalled = 0, back_to_back = 0, bubbles = 0;

    std::vector<std::pair<std::string, std::uint64_t>> points() const {
        return {{"an offer is refused", refused},
                {"a result waits", stalled},
                {"results in two cycles on end", back_to_back},
                {"nothing is offered", bubbles}};
    }
};

/// A scoreboard around a Verilated pipeline: what goes in comes out, in order, once, with the right value. Throws
/// std::runtime_error at the first difference.
template <class Format, class Model>
class PipeBench {
public:
    explicit PipeBench(std::uint64_t seed) : random_(seed), stimulus_(seed) {
        model_->rst_ni = 0;
        cycle(false, false);
        cycle(false, false);
        model_->rst_ni = 1;
    }

    void run(Traffic traffic, int cycles) {
        for (int i = 0; i < cycles; ++i) {
            // An offer stands until it is taken.
            if (!offering_ && random_() % 8 < traffic.offer) {
                const auto [a, b, c] = Format::triple(stimulus_);
                model_->a_i = a;
                model_->b_i = b;
                model_->c_i = c;
                offering_ = true;
            }
            cycle(offering_, random_() % 8 < traffic.take);
        }
    }

    /// Cycles that a single item needs from offer to result.
    int latency() {
        run({0, 8}, 10);
        require(waiting_.empty(), "results are missing");
        run({8, 0}, 1);
        int cycles = 1;
        for (; !model_->valid_o && cycles < 100; ++cycles) run({0, 0}, 1);
        run({0, 8}, 10);
        return cycles;
    }

    const Handshakes& handshakes() const { return handshakes_; }
    std::size_t in_flight() const { return waiting_.size(); }
    int results() const { return results_; }
    const rtl::ModelContext& context() const { return clocked_.context(); }

private:
    static void require(bool holds, const char* what) {
        if (!holds) throw std::runtime_error(what);
    }

    void cycle(bool offer, bool take) {
        model_->valid_i = offer;
        model_->ready_i = take;
        model_->clk_i = 0;
        clocked_.eval();
        if (model_->rst_ni) sample(offer, take);
        model_->clk_i = 1;
        clocked_.eval();
    }

    /// What the coming clock edge sees.
    void sample(bool offer, bool take) {
        const bool accepted = offer && model_->ready_o;
        const bool delivered = model_->valid_o && take;
        handshakes_.refused += offer && !accepted;
        handshakes_.stalled += model_->valid_o && !take;
        handshakes_.back_to_back += delivered && delivered_;
        handshakes_.bubbles += !offer;
        delivered_ = delivered;
        if (delivered) {
            require(!waiting_.empty(), "a result without operands");
            require(model_->y_o == waiting_.front(), "wrong result");
            waiting_.pop_front();
            ++results_;
        }
        if (accepted) {
            waiting_.push_back(pipe_result(Format(), model_->a_i, model_->b_i, model_->c_i));
            offering_ = false;
        }
    }

    rtl::ContextModel<Model> clocked_;
    Model* const model_ = &clocked_.top();
    std::mt19937_64 random_;
    FpStimulus stimulus_;
    std::deque<std::uint32_t> waiting_;
    Handshakes handshakes_;
    int results_ = 0;
    bool offering_ = false;
    bool delivered_ = false;
};

/// The regression of a pipelined unit: random traffic, its latency, throughput and room, without and with waiting.
template <class Format, class Model>
void pipe_regression(PipeBench<Format, Model>& bench) {
    const auto expect = [](std::size_t measured, std::size_t expected, const char* what) {
        if (measured != expected)
            throw std::runtime_error(std::string(what) + ": " + std::to_string(measured) + ", not " +
                                     std::to_string(expected));
    };
    expect(std::size_t(bench.latency()), 3, "latency");
    for (const Traffic traffic : {Traffic{8, 8}, Traffic{4, 8}, Traffic{8, 4}, Traffic{4, 4}, Traffic{8, 1}})
        bench.run(traffic, 4000);

    // One item a cycle when nobody waits, three in store when nothing is taken, none lost.
    bench.run({0, 8}, 10);
    expect(bench.in_flight(), 0, "items left behind");
    const int before = bench.results();
    bench.run({8, 8}, 103);
    expect(std::size_t(bench.results() - before), 100, "results in 103 cycles");
    bench.run({8, 0}, 10);
    expect(bench.in_flight(), 3, "items in store");
    bench.run({0, 8}, 10);
    expect(bench.in_flight(), 0, "items left behind");
}

}  // namespace switchyard::testing
