// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "switchyard/testbenches/compliance/protocol_rig.h"
#include "switchyard/tlm/has_process.h"

TLM_DECLARE_EXTENDED_PHASE(beat);

namespace switchyard::compliance {
namespace {

using ::tlm::BEGIN_REQ;
using ::tlm::BEGIN_RESP;
using ::tlm::END_REQ;
using ::tlm::END_RESP;

void expect_clean(const std::function<void(Rig&)>& scenario, std::uint64_t transactions) {
    Rig rig("rig");
    rig.run(scenario);
    for (const Rule rule : rig.broken()) FAIL_CHECK(rule_text(rule).id);
    CHECK(rig.checker.monitor().transactions() == transactions);
}

}  // namespace

SIM_TEST("good b_transport calls pass unchanged", "[compliance]") {
    expect_clean(
        [](Rig& rig) {
            CHECK(rig.call_b(rig.plain(), 5 * kNs) == 15 * kNs);
            CHECK(rig.call_b(rig.pooled(::tlm::TLM_WRITE_COMMAND)) == 10 * kNs);
            Payload& ignored = rig.plain(::tlm::TLM_IGNORE_COMMAND);
            ignored.set_data_ptr(nullptr);
            ignored.set_data_length(0);
            ignored.set_streaming_width(0);
            rig.call_b(ignored);
            rig.b = [](Payload& p, sc_time& delay) {  // synchronises: delay may shrink by the time that passed
                sc_core::wait(delay);
                delay = sc_core::SC_ZERO_TIME;
                p.set_dmi_allowed(true);
                p.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
            };
            rig.call_b(rig.plain(), 7 * kNs);
        },
        4);
}

SIM_TEST("all phase sequences of Table 57 pass", "[compliance]") {
    expect_clean(
        [](Rig& rig) {
            const auto ok = [](Payload& p) { p.set_response_status(::tlm::TLM_OK_RESPONSE); };
            {  // four phases, an ignorable one between them
                Payload& p = rig.pooled();
                rig.call_fw(p, BEGIN_REQ, kNs);
                rig.call_fw(p, beat, kNs);
                rig.call_bw(p, END_REQ, 2 * kNs);
                ok(p);
                rig.call_bw(p, BEGIN_RESP, 3 * kNs);
                rig.call_fw(p, END_RESP, 4 * kNs);
            }
            {  // implicit END_REQ, END_RESP by return
                Payload& p = rig.pooled();
                rig.call_fw(p, BEGIN_REQ);
                ok(p);
                rig.bw = [](Payload&, ::tlm::tlm_phase& phase, sc_time&) {
                    phase = END_RESP;
                    return ::tlm::TLM_UPDATED;
                };
                rig.call_bw(p, BEGIN_RESP);
            }
            {  // TLM_COMPLETED by the initiator
                Payload& p = rig.pooled();
                rig.call_fw(p, BEGIN_REQ);
                ok(p);
                rig.bw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_COMPLETED; };
                rig.call_bw(p, BEGIN_RESP);
            }
            for (const ::tlm::tlm_phase_enum reply : {END_REQ, BEGIN_RESP}) {  // by return
                rig.fw = [&](Payload& p, ::tlm::tlm_phase& phase, sc_time& delay) {
                    if (phase == END_RESP) return ::tlm::TLM_COMPLETED;
                    if (reply == BEGIN_RESP) ok(p);
                    phase = reply;
                    delay += kNs;
                    return ::tlm::TLM_UPDATED;
                };
                Payload& p = rig.pooled();
                rig.call_fw(p, BEGIN_REQ);
                ok(p);
                rig.bw = [](Payload&, ::tlm::tlm_phase&, sc_time&) { return ::tlm::TLM_ACCEPTED; };
                if (reply == END_REQ) rig.call_bw(p, BEGIN_RESP, kNs);
                rig.call_fw(p, END_RESP, kNs);
            }
            rig.fw = [&](Payload& p, ::tlm::tlm_phase&, sc_time&) {  // early completion
                ok(p);
                return ::tlm::TLM_COMPLETED;
            };
            rig.call_fw(rig.pooled(), BEGIN_REQ);
        },
        6);
}

SIM_TEST("pipelined requests and responses out of order pass", "[compliance]") {
    expect_clean(
        [](Rig& rig) {
            Payload& first = rig.pooled();
            Payload& second = rig.pooled();
            rig.call_fw(first, BEGIN_REQ);
            rig.call_bw(first, END_REQ);
            rig.call_fw(second, BEGIN_REQ);
            second.set_response_status(::tlm::TLM_OK_RESPONSE);
            rig.call_bw(second, BEGIN_RESP);
            rig.call_fw(second, END_RESP);
            first.set_response_status(::tlm::TLM_OK_RESPONSE);
            rig.call_bw(first, BEGIN_RESP);
            rig.call_fw(first, END_RESP);
        },
        2);
}

SIM_TEST("good direct memory and debug accesses pass", "[compliance]") {
    expect_clean(
        [](Rig& rig) {
            CHECK(rig.call_dmi());
            CHECK(rig.call_dmi(::tlm::TLM_WRITE_COMMAND, 0x4F));
            rig.call_invalidate(0x40, 0x47);
            rig.dmi = [](Payload&, ::tlm::tlm_dmi& region) {
                region.allow_read_write();
                return false;
            };
            CHECK_FALSE(rig.call_dmi());
            CHECK(rig.call_dbg(rig.plain()) == Rig::kBytes);
            Payload& nothing = rig.plain();
            nothing.set_data_ptr(nullptr);
            nothing.set_data_length(0);
            CHECK(rig.call_dbg(nothing) == 0);
        },
        0);
}

SIM_TEST("a rule that is waived does not fire, and is not counted", "[compliance]") {
    Rig rig("rig");
    rig.checker.monitor().waive(Rule::dmi_hint_initial);
    rig.run([](Rig& r) {
        Payload& payload = r.plain();
        payload.set_dmi_allowed(true);
        r.call_b(payload);
    });
    CHECK(rig.broken().empty());
    CHECK(rig.checker.monitor().violations(Rule::dmi_hint_initial) == 0);
}

SIM_TEST("without a handler a violation is an SC_ERROR that names rule, clause and payload", "[compliance]") {
    testing::ExpectReport report("switchyard/base_protocol/data_length_zero");
    Rig rig("rig");
    rig.checker.monitor().set_handler(nullptr);
    bool thrown = false;
    rig.run([&](Rig& r) {
        Payload& payload = r.plain();
        payload.set_data_length(0);
        try {
            r.call_b(payload);
        } catch (const sc_core::sc_report&) {
            thrown = true;
        }
    });
    CHECK(thrown);
    REQUIRE(report.messages().size() == 1);
    CHECK_THAT(report.messages().front(), Catch::Matchers::ContainsSubstring("rig.checker") &&
                                              Catch::Matchers::ContainsSubstring("14.12 d") &&
                                              Catch::Matchers::ContainsSubstring("0x40"));
}

namespace {

/// SystemC's own sockets, whose adapters turn blocking calls into non-blocking ones and back.
struct Store : sc_core::sc_module {
    explicit Store(const sc_core::sc_module_name& name, bool blocking) : sc_module(name), socket("socket") {
        if (blocking)
            socket.register_b_transport(this, &Store::b_transport);
        else
            socket.register_nb_transport_fw(this, &Store::nb_transport_fw);
    }
    void b_transport(Payload& payload, sc_time& delay) {
        sc_core::wait(delay + kNs);
        delay = sc_core::SC_ZERO_TIME;
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase&, sc_time& delay) {
        delay += kNs;
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        return ::tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_target_socket<Store> socket;
};

struct Driver : sc_core::sc_module {
    explicit Driver(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.register_nb_transport_bw(this, &Driver::nb_transport_bw);
        SWITCHYARD_HAS_PROCESS(Driver);
        SC_THREAD(run);
    }
    Payload& next(PooledPayload& pooled) {
        pooled->set_write();
        pooled->set_data_ptr(data);
        pooled->set_data_length(4);
        pooled->set_streaming_width(4);
        return *pooled;
    }
    void run() {
        sc_time delay = kNs;
        PooledPayload blocking(pool), non_blocking(pool);
        socket->b_transport(next(blocking), delay);
        done += blocking->is_response_ok();
        ::tlm::tlm_phase phase = BEGIN_REQ;
        delay = kNs;
        if (socket->nb_transport_fw(next(non_blocking), phase, delay) != ::tlm::TLM_COMPLETED) sc_core::wait(response);
        done += non_blocking->is_response_ok();
    }
    ::tlm::tlm_sync_enum nb_transport_bw(Payload&, ::tlm::tlm_phase& phase, sc_time& delay) {
        if (phase != BEGIN_RESP) return ::tlm::TLM_ACCEPTED;
        response.notify(delay);
        phase = END_RESP;
        return ::tlm::TLM_UPDATED;
    }
    PayloadPool pool{"pool"};
    unsigned char data[4] = {};
    sc_core::sc_event response;
    int done = 0;
    tlm_utils::simple_initiator_socket<Driver> socket;
};

}  // namespace

TEST_CASE("SystemC's convenience sockets keep the rules, blocking and not", "[compliance]") {
    for (const bool blocking : {true, false}) {
        testing::in_child([&] {
            Driver driver("driver");
            BaseProtocolChecker<> checker("checker");
            Store store("store", blocking);
            driver.socket.bind(checker.target_socket);
            checker.initiator_socket.bind(store.socket);
            sc_core::sc_start();
            CHECK(driver.done == 2);
            CHECK(checker.monitor().transactions() == 2);
            CHECK(driver.pool.in_use() == 0);
        });
    }
}

}  // namespace switchyard::compliance
