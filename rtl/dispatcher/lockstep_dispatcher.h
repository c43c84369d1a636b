// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>

#include <tlm_utils/passthrough_target_socket.h>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/rtl/dispatcher/rtl_dispatcher.h"

namespace switchyard::rtl {

/// The model `walk` and the RTL side by side: both get every command; the model talks to the other components, and the
/// RTL to a record of what they answered. Each transaction must be the same and at the same time, and so must result,
/// error, counters and `delay` at the end.
///
/// The first difference throws ModelError, which nobody catches: it names the transaction, what either side has, the
/// state of both, and the FST file <module>.lockstep.fst with the RTL's last cycles in the working directory. A run
/// without a difference leaves no file.
class LockstepDispatcher : public hw::KernelDispatcher {
public:
    /// `rtl_model`: the library's own unless a test has another.
    LockstepDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                       std::unique_ptr<DispatcherModel> rtl_model = make_dispatcher_model());

private:
    using Payload = ::tlm::tlm_generic_payload;
    using Serve = void (LockstepDispatcher::*)(int, Payload&, sc_core::sc_time&);
    enum Port : int { kFetch, kBlock, kSend };

    /// One call at a socket of the model, with what came of it.
    struct Transaction {
        Port port = kFetch;
        sc_core::sc_time start, end;
        ::tlm::tlm_response_status response = ::tlm::TLM_OK_RESPONSE;
        std::uint64_t address = 0;  ///< fetch
        KernelBytes bytes{};
        Command command;  ///< block
        PeWorkExtension work;
        SendExtension sent;  ///< send

        /// Of a call that begins.
        Transaction(Port port, const Payload& payload, const Command& command, const sc_core::sc_time& start);
        bool same(const Transaction& other) const;
        std::string text() const;
    };

    /// One of the two, with the sockets that it sees instead of the tile's components.
    struct Side {
        Side(LockstepDispatcher& owner, Serve serve, const std::string& name);
        void bind(KernelDispatcher& dispatcher);
        /// Sends it a command that begins at `begin`.
        template <class Socket>
        void run(Socket& socket, Payload& payload, const sc_core::sc_time& begin);
        /// How the command ended, in words.
        std::string outcome() const;

        SimulationRegistry registry;
        KernelDispatcher* dispatcher = nullptr;
        tlm_utils::simple_initiator_socket<LockstepDispatcher> dispatch, configure;
        tlm_utils::passthrough_target_socket_tagged<LockstepDispatcher> scratchpad, pe_array, network_interface;
        ExtendedPayload<DispatchExtension> request;
        DispatchExtension result;
        Command issued;  ///< last
        sc_core::sc_time delay;
        std::string error;  ///< of the command, "" if it went well
        std::uint32_t kernels = 0;
    };

    void rebuild(std::uint32_t kernels, sc_core::sc_time& delay) override;
    std::uint32_t kernels() const override { return model_side_.kernels; }
    void execute(DispatchExtension& request, sc_core::sc_time& delay) override;

    void record(int port, Payload& payload, sc_core::sc_time& delay);
    void replay(int port, Payload& payload, sc_core::sc_time& delay);
    /// Both have ended their command: the same way?
    void compare_ends(sc_core::sc_time& delay);
    [[noreturn]] void differ(const std::string& model, const std::string& rtl);

    Side model_side_, rtl_side_;
    std::unique_ptr<KernelDispatcher> model_;
    std::unique_ptr<RtlDispatcher> rtl_;
    std::deque<Transaction> record_;  ///< of the present command
    std::size_t position_ = 0;        ///< of the RTL in it
};

}  // namespace switchyard::rtl
