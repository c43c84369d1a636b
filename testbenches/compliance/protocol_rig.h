// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/memory_manager.h"

namespace switchyard::compliance {

using Payload = ::tlm::tlm_generic_payload;
using Rule = BaseProtocolRule;
using sc_core::sc_time;

inline const sc_time kNs(1, sc_core::SC_NS);

/// An initiator and a target with a checker between them. Both behave, until a test replaces one of the functions.
class Rig : public sc_core::sc_module {
public:
    explicit Rig(const sc_core::sc_module_name& name);

    // What the target does.
    std::function<void(Payload&, sc_time&)> b;
    std::function<::tlm::tlm_sync_enum(Payload&, ::tlm::tlm_phase&, sc_time&)> fw;
    std::function<bool(Payload&, ::tlm::tlm_dmi&)> dmi;
    std::function<unsigned(Payload&)> dbg;
    // What the initiator does.
    std::function<::tlm::tlm_sync_enum(Payload&, ::tlm::tlm_phase&, sc_time&)> bw;
    std::function<void(std::uint64_t, std::uint64_t)> invalidate;

    BaseProtocolChecker<32> checker;

    /// A good read of 4 bytes at 0x40 without memory manager, or a pooled one (released when the rig goes).
    Payload& plain(::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND);
    Payload& pooled(::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND);

    // Calls into the link, from the side where they belong.
    sc_time call_b(Payload& payload, sc_time delay = sc_core::SC_ZERO_TIME);
    ::tlm::tlm_sync_enum call_fw(Payload& payload, const ::tlm::tlm_phase& phase,
                                 sc_time delay = sc_core::SC_ZERO_TIME);
    ::tlm::tlm_sync_enum call_bw(Payload& payload, const ::tlm::tlm_phase& phase,
                                 sc_time delay = sc_core::SC_ZERO_TIME);
    bool call_dmi(Payload& payload, ::tlm::tlm_dmi& dmi);
    bool call_dmi(::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND, std::uint64_t address = 0x40);
    unsigned call_dbg(Payload& payload);
    void call_invalidate(std::uint64_t start, std::uint64_t end);

    /// Runs `body` as a thread process to the end of the simulation; as a method process.
    void run(std::function<void(Rig&)> body);
    void run_in_method(std::function<void(Rig&)> body);

    /// Rules that were broken so far.
    std::set<Rule> broken() const { return broken_; }

    static constexpr unsigned kBytes = 4;
    static std::array<unsigned char, 16> memory;

private:
    struct Initiator;
    struct Target;
    void fill(Payload& payload, ::tlm::tlm_command command);
    void thread();
    void method();

    struct Initiator : sc_core::sc_module, ::tlm::tlm_bw_transport_if<> {
        explicit Initiator(const sc_core::sc_module_name& name, Rig& owner)
            : sc_module(name), socket("socket"), rig(owner) {
            socket.bind(*this);
        }
        ::tlm::tlm_sync_enum nb_transport_bw(Payload& p, ::tlm::tlm_phase& phase, sc_time& t) override {
            return rig.bw(p, phase, t);
        }
        void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override { rig.invalidate(start, end); }
        ::tlm::tlm_initiator_socket<32> socket;
        Rig& rig;
    };
    struct Target : sc_core::sc_module, ::tlm::tlm_fw_transport_if<> {
        explicit Target(const sc_core::sc_module_name& name, Rig& owner)
            : sc_module(name), socket("socket"), rig(owner) {
            socket.bind(*this);
        }
        void b_transport(Payload& p, sc_time& t) override { rig.b(p, t); }
        ::tlm::tlm_sync_enum nb_transport_fw(Payload& p, ::tlm::tlm_phase& phase, sc_time& t) override {
            return rig.fw(p, phase, t);
        }
        bool get_direct_mem_ptr(Payload& p, ::tlm::tlm_dmi& dmi) override { return rig.dmi(p, dmi); }
        unsigned transport_dbg(Payload& p) override { return rig.dbg(p); }
        ::tlm::tlm_target_socket<32> socket;
        Rig& rig;
    };

    Initiator initiator_;
    Target target_;
    PayloadPool pool_{"pool"};
    std::vector<PooledPayload> held_;
    std::vector<std::unique_ptr<Payload>> plain_;
    std::function<void(Rig&)> thread_body_, method_body_;
    sc_core::sc_event method_start_;
    std::set<Rule> broken_;
};

/// A test that breaks one rule: `scenario` runs in a thread, afterwards exactly `rule` (and `also`) must be broken.
struct Violation {
    Rule rule;
    std::function<void(Rig&)> scenario;
    std::set<Rule> also = {};
};
/// One child process a violation.
void expect_violations(const std::vector<Violation>& violations);

// The tables of the three test files; together they must have each rule once.
std::vector<Violation> attribute_violations();
std::vector<Violation> transport_violations();
std::vector<Violation> direct_violations();

}  // namespace switchyard::compliance
