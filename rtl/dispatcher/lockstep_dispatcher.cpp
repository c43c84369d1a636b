// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dispatcher/lockstep_dispatcher.h"

#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace switchyard::rtl {
namespace {

auto fields(const PeWorkExtension& w) {
    return std::make_tuple(w.vector_op, w.channelwise, w.rows, w.columns, w.row_outputs, w.column_outputs, w.reduction,
                           w.outputs, w.repeats, w.first, w.last, w.input_offset, w.weight_offset, w.output_offset);
}

auto fields(const SendExtension& s) {
    return std::make_tuple(s.operator_index, s.unit, s.batch, s.dyn_dim, s.output_offset, s.multicast, s.index_list);
}

}  // namespace

LockstepDispatcher::Transaction::Transaction(Port which, const Payload& payload, const Command& issued,
                                             const sc_core::sc_time& begin)
    : port(which), start(begin), end(begin) {
    if (port == kFetch) {
        address = payload.get_address();
    } else if (port == kBlock) {
        command = issued;
        work = *payload.get_extension<PeWorkExtension>();
    } else {
        sent = *payload.get_extension<SendExtension>();
    }
}

bool LockstepDispatcher::Transaction::same(const Transaction& other) const {
    return port == other.port && start == other.start && address == other.address &&
           command.position == other.command.position && fields(work) == fields(other.work) &&
           fields(sent) == fields(other.sent);
}

std::string LockstepDispatcher::Transaction::text() const {
    const std::string when = "after " + start.to_string();
    if (port == kFetch) return fmt::format("{}: fetch from {:#x}", when, address);
    if (port == kSend)
        return fmt::format("{}: {} of operator {}, unit {}, batch {}, dyn_dim {}, at {:#x}", when,
                           sent.multicast ? "multicast" : "unicast", sent.operator_index, sent.unit, sent.batch,
                           sent.dyn_dim, sent.output_offset);
    return fmt::format(
        "{}: {}block at n, k, p, q = {} of {} x {} PEs with {} x {} accumulators, {} outputs of {} products{}{}, "
        "operands at {:#x}, {:#x}, {:#x}",
        when, work.vector_op ? "vector " : "", fmt::join(command.position, ", "), work.rows, work.columns,
        work.row_outputs, work.column_outputs, work.outputs, work.reduction, work.first ? ", first" : "",
        work.last ? ", last" : "", work.input_offset, work.weight_offset, work.output_offset);
}

LockstepDispatcher::Side::Side(LockstepDispatcher& owner, Serve serve, const std::string& name)
    : dispatch((name + "_dispatch").c_str()),
      configure((name + "_configure").c_str()),
      scratchpad((name + "_scratchpad").c_str()),
      pe_array((name + "_pe_array").c_str()),
      network_interface((name + "_network_interface").c_str()) {
    scratchpad.register_b_transport(&owner, serve, kFetch);
    pe_array.register_b_transport(&owner, serve, kBlock);
    network_interface.register_b_transport(&owner, serve, kSend);
}

void LockstepDispatcher::Side::bind(KernelDispatcher& side) {
    dispatcher = &side;
    dispatch.bind(side.dispatch);
    configure.bind(side.configure);
    side.scratchpad.bind(scratchpad);
    side.pe_array.bind(pe_array);
    side.network_interface.bind(network_interface);
    side.observe([this](const Command& command) { issued = command; });
}

template <class Socket>
void LockstepDispatcher::Side::run(Socket& socket, Payload& payload, const sc_core::sc_time& begin) {
    const std::size_t known = registry.errors().size();
    delay = begin;
    socket->b_transport(payload, delay);
    error.clear();
    if (registry.errors().size() > known) {
        // "time: module: cause"
        const std::string module = std::string(dispatcher->name()) + ": ";
        const std::string& text = registry.errors().back();
        error = text.substr(text.find(module) + module.size());
    }
}

std::string LockstepDispatcher::Side::outcome() const {
    const Stats& stats = dispatcher->stats();
    return fmt::format(
        "end after {} with {}: kernel {}, {} cycles, {} macs, {} blocks and {} skipped; {} kernels, {} dispatches, "
        "{} blocks, {} skipped, {} search cycles, {} without a kernel, selected {}",
        delay.to_string(), error.empty() ? "success" : "\"" + error + "\"", result.kernel, result.cycles, result.macs,
        result.blocks_issued, result.blocks_skipped, kernels, stats.dispatches, stats.blocks_issued,
        stats.blocks_skipped, stats.search_cycles, stats.none_found, fmt::join(stats.kernels_selected, " "));
}

LockstepDispatcher::LockstepDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                                       std::unique_ptr<DispatcherModel> rtl_model)
    : KernelDispatcher(name, config, registry),
      model_side_(*this, &LockstepDispatcher::record, "model_side"),
      rtl_side_(*this, &LockstepDispatcher::replay, "rtl_side") {
    Config walk = config;
    walk.impl = "walk";
    model_ = hw::make_kernel_dispatcher("model", walk, model_side_.registry);
    rtl_ = std::make_unique<RtlDispatcher>("rtl", config, rtl_side_.registry, std::move(rtl_model),
                                           std::string(this->name()) + ".lockstep.fst");
    model_side_.bind(*model_);
    rtl_side_.bind(*rtl_);
}

void LockstepDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    record_.clear();
    position_ = 0;
    for (Side* side : {&model_side_, &rtl_side_}) {
        Payload payload;
        payload.set_write();
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&kernels));
        payload.set_data_length(sizeof kernels);
        payload.set_streaming_width(sizeof kernels);
        side->run(side->configure, payload, delay);
        payload.set_read();
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&side->kernels));
        side->configure->transport_dbg(payload);
    }
    compare_ends(delay);
}

void LockstepDispatcher::execute(DispatchExtension& request, sc_core::sc_time& delay) {
    record_.clear();
    position_ = 0;
    for (Side* side : {&model_side_, &rtl_side_}) {
        side->request.extension() = request;
        side->run(side->dispatch, side->request.fresh(), delay);
        side->result = side->request.extension();
    }
    request = model_side_.result;
    compare_ends(delay);
}

void LockstepDispatcher::record(int port, Payload& payload, sc_core::sc_time& delay) {
    Transaction& transaction = record_.emplace_back(static_cast<Port>(port), payload, model_side_.issued, delay);
    auto& socket = port == kFetch ? scratchpad : port == kBlock ? pe_array : network_interface;
    socket->b_transport(payload, delay);
    transaction.end = delay;
    transaction.response = payload.get_response_status();
    if (port == kFetch) {
        std::memcpy(transaction.bytes.data(), payload.get_data_ptr(), kKernelBytes);
    } else if (port == kBlock) {
        transaction.work = *payload.get_extension<PeWorkExtension>();
    }
}

void LockstepDispatcher::replay(int port, Payload& payload, sc_core::sc_time& delay) {
    const Transaction transaction(static_cast<Port>(port), payload, rtl_side_.issued, delay);
    if (position_ == record_.size()) differ(model_side_.outcome(), transaction.text());
    const Transaction& expected = record_[position_++];
    if (!transaction.same(expected)) differ(expected.text(), transaction.text());
    delay = expected.end;
    payload.set_response_status(expected.response);
    if (port == kFetch) {
        std::memcpy(payload.get_data_ptr(), expected.bytes.data(), kKernelBytes);
    } else if (port == kBlock) {
        *payload.get_extension<PeWorkExtension>() = expected.work;
    }
}

void LockstepDispatcher::compare_ends(sc_core::sc_time& delay) {
    if (position_ < record_.size()) differ(record_[position_].text(), rtl_side_.outcome());
    if (const std::string model = model_side_.outcome(), rtl = rtl_side_.outcome(); model != rtl) differ(model, rtl);
    delay = model_side_.delay;
    stats_ = model_->stats();
    if (!model_side_.error.empty()) throw std::runtime_error(model_side_.error);
}

void LockstepDispatcher::differ(const std::string& model, const std::string& rtl) {
    throw ModelError(*this,
                     fmt::format("lockstep: transaction {} of dispatch {} differs. Model: {}. RTL: {}; {}{}", position_,
                                 model_->stats().dispatches, model, rtl, rtl_->state(), rtl_->model().evidence()));
}

}  // namespace switchyard::rtl
