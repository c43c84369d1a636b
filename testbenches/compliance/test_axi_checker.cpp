// SPDX-License-Identifier: Apache-2.0
// Each rule of the AXI checker has a scenario in which it, and nothing else, fires.

#include <functional>
#include <set>
#include <utility>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/transactors/axi_checker.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr unsigned kFixed = 0, kIncr = 1, kWrap = 2, kReserved = 3;

/// All ten handshake wires in one hand; every step is a cycle.
struct Bench : sc_core::sc_module {
    sc_core::sc_clock clock{"clock", 2, sc_core::SC_NS};
    sc_core::sc_signal<bool> aresetn{"aresetn"};
    AxiSignals wires;
    AxiChecker checker{"checker", wires};
    std::set<AxiRule> broken;
    std::function<void(Bench&)> body;

    Bench(bool lite, std::function<void(Bench&)> scenario, const sc_core::sc_module_name& name = "bench")
        : sc_module(name), wires("wires", {lite, 4, 4}), body(std::move(scenario)) {
        checker.clock(clock);
        checker.aresetn(aresetn);
        checker.set_handler([this](const AxiViolation& v) { broken.insert(v.rule); });
        SWITCHYARD_HAS_PROCESS(Bench);
        SC_THREAD(run);
    }
    void tick(unsigned cycles = 1) {
        for (unsigned i = 0; i < cycles; ++i) sc_core::wait(clock.posedge_event());
    }
    void run() {
        tick();
        aresetn.write(true);
        tick(2);
        body(*this);
        tick(2);
        sc_core::sc_stop();
    }
    template <class Channel>
    void pass(Channel& channel) {
        channel.valid.write(true);
        channel.ready.write(true);
        tick();
        channel.valid.write(false);
        channel.ready.write(false);
    }
    void aw(const AxiBurst& burst) {
        burst.drive(wires.aw);
        pass(wires.aw);
    }
    void ar(const AxiBurst& burst) {
        burst.drive(wires.ar);
        pass(wires.ar);
    }
    void w(bool last, unsigned strobes = 0xF) {
        wires.w.last.write(last);
        wires.w.strobes.write(strobes);
        pass(wires.w);
    }
    void b(unsigned id, unsigned response = 0) {
        wires.b.id.write(id);
        wires.b.response.write(response);
        pass(wires.b);
    }
    void r(unsigned id, bool last, unsigned response = 0) {
        wires.r.id.write(id);
        wires.r.last.write(last);
        wires.r.response.write(response);
        pass(wires.r);
    }
    void write(const AxiBurst& burst) {
        aw(burst);
        for (unsigned i = 0; i < burst.beats(); ++i) w(i + 1 == burst.beats());
        b(burst.id);
    }
};

struct Scenario {
    AxiRule rule;
    std::function<void(Bench&)> drive;
    bool lite = false;
};

std::vector<Scenario> scenarios() {
    const AxiBurst one{0x100, 1, 0, 2, kIncr}, two{0x100, 1, 1, 2, kIncr};
    return {
        {AxiRule::valid_in_reset,
         [](Bench& t) {
             t.aresetn.write(false);
             t.tick(2);
             t.wires.ar.valid.write(true);
             t.tick();
             t.wires.ar.valid.write(false);
             t.tick();
         }},
        {AxiRule::valid_dropped,
         [](Bench& t) {
             t.wires.w.valid.write(true);
             t.tick();
             t.wires.w.valid.write(false);
         }},
        {AxiRule::payload_changed,
         [=](Bench& t) {
             one.drive(t.wires.ar);
             t.wires.ar.valid.write(true);
             t.tick();
             t.wires.ar.address.write(0x200);
             t.tick();
             t.pass(t.wires.ar);
         }},
        {AxiRule::burst_type_reserved,
         [](Bench& t) {
             t.ar({0x100, 1, 0, 2, kReserved});
         }},
        {AxiRule::burst_crosses_4k,
         [](Bench& t) {
             t.write({0xFF8, 1, 2, 2, kIncr});
         }},
        {AxiRule::size_too_wide,
         [](Bench& t) {
             t.ar({0x100, 1, 0, 3, kIncr});
         }},
        {AxiRule::wrap_length,
         [](Bench& t) {
             t.ar({0x100, 1, 2, 2, kWrap});
         }},
        {AxiRule::wrap_unaligned,
         [](Bench& t) {
             t.ar({0x102, 1, 3, 2, kWrap});
         }},
        {AxiRule::fixed_length,
         [](Bench& t) {
             t.ar({0x100, 1, 16, 2, kFixed});
         }},
        {AxiRule::write_last,
         [=](Bench& t) {
             t.aw(two);
             t.w(true);  // a beat too early
         }},
        {AxiRule::write_last,
         [=](Bench& t) {
             t.w(false);
             t.aw(one);  // its only beat, which came before it, was not the last
             t.tick();
         }},
        {AxiRule::strobe_outside_beat,
         [](Bench& t) {
             t.aw({0x101, 1, 0, 0, kIncr});
             t.w(true, 0x3);
         }},
        {AxiRule::write_response_unasked, [](Bench& t) { t.b(1); }},
        {AxiRule::write_response_unasked,
         [=](Bench& t) {
             t.aw(one);
             t.w(true);
             t.b(2);
         }},
        {AxiRule::write_response_early,
         [=](Bench& t) {
             t.aw(two);
             t.w(false);
             t.b(1);
         }},
        {AxiRule::exclusive_okay,
         [=](Bench& t) {
             t.ar(one);
             t.r(1, true, static_cast<unsigned>(AxiResponse::exokay));
         }},
        {AxiRule::read_data_unasked,
         [=](Bench& t) {
             t.ar(one);
             t.r(1, true);
             t.r(1, true);
         }},
        {AxiRule::read_last,
         [=](Bench& t) {
             t.ar(two);
             t.r(1, true);
         }},
        {AxiRule::read_last,
         [=](Bench& t) {
             t.ar(one);
             t.r(1, false);
         }},
        {AxiRule::lite_burst,
         [](Bench& t) {
             t.ar({0x100, 0, 1, 2, kIncr});
         },
         true},
        {AxiRule::lite_burst,
         [](Bench& t) {
             t.ar({0x100, 3, 0, 2, kIncr});
         },
         true},
        {AxiRule::lite_burst,
         [](Bench& t) {
             t.ar({0x100, 0, 0, 1, kIncr});  // narrow
         },
         true},
    };
}

}  // namespace

TEST_CASE("each broken AXI rule is found, and no other", "[axi]") {
    std::set<AxiRule> met;
    for (const Scenario& scenario : scenarios()) {
        const std::string id = rule_text(scenario.rule).id;
        INFO(id);
        met.insert(scenario.rule);
        in_child([&] {
            INFO(id);
            Bench bench(scenario.lite, scenario.drive);
            sc_core::sc_start();
            std::set<std::string> broken;
            for (const AxiRule rule : bench.broken) broken.insert(rule_text(rule).id);
            CHECK(broken == std::set<std::string>{id});
        });
    }
    CHECK(met.size() == kAxiRules);
}

TEST_CASE("an AXI4-Lite master drives neither sizes nor LAST, and nothing is broken", "[axi]") {
    in_child([] {
        Bench bench(true, [](Bench& t) {
            t.aw({0x104, 0, 0, 0, 0});
            t.w(false);
            t.b(0);
            t.ar({0x104, 0, 0, 0, 0});
            t.r(0, false);
            t.ar({0x108, 0, 0, 2, kIncr});  // what is implied may be there
            t.r(0, true);
        });
        sc_core::sc_start();
        CHECK(bench.broken.empty());
        CHECK(bench.checker.writes() == 1);
        CHECK(bench.checker.reads() == 2);
    });
}

TEST_CASE("good AXI traffic passes in silence", "[axi]") {
    in_child([] {
        Bench bench(false, [](Bench& t) {
            t.write({0x100, 1, 3, 2, kIncr});
            t.write({0x10C, 2, 3, 2, kWrap});
            t.write({0xFFC, 3, 15, 2, kFixed});
            t.w(false);  // data before their address
            t.w(true);
            t.aw({0xFF8, 4, 1, 2, kIncr});
            t.tick();
            t.b(4, static_cast<unsigned>(AxiResponse::slverr));
            t.ar({0x103, 1, 1, 0, kIncr});
            t.ar({0x200, 2, 0, 2, kIncr});
            t.r(2, true);
            t.r(1, false);
            t.r(1, true);
        });
        sc_core::sc_start();
        CHECK(bench.broken.empty());
        CHECK(bench.checker.writes() == 4);
        CHECK(bench.checker.reads() == 2);
    });
}

SIM_TEST("without a handler a broken AXI rule is an error that names rule, clause and burst", "[axi]") {
    Bench bench(false, [](Bench& t) { t.ar({0x100, 1, 2, 2, kWrap}); });
    bench.checker.set_handler({});
    const ExpectReport report("switchyard/axi/wrap_length");
    CHECK_THROWS_AS(sc_core::sc_start(), sc_core::sc_report);
    REQUIRE(report.messages().size() == 1);
    CHECK(report.messages()[0] ==
          "bench.checker: not so: a WRAP burst has 2, 4, 8 or 16 beats (ARM IHI 0022H A3.4.1): AR 0x100, 3 beats of 4 "
          "bytes, type 2, ID 1");
}
