// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/dynn_offload/training_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform::dynn_offload_system {

using namespace memory_managers;

namespace {

const sc_core::sc_time& nanosecond() {
    static const sc_core::sc_time kOne(1, sc_core::SC_NS);
    return kOne;
}

}  // namespace

TrainingDevice::TrainingDevice(const sc_core::sc_module_name& module_name, const hw::PcieLink::Config& link_config,
                               const TransferTimes& times, double copy_setup_ns, std::uint64_t chunk_bytes,
                               const std::vector<const MemoryProgram*>& programs)
    : sc_module(module_name),
      link("link", link_config, registry),
      times_(times),
      copy_setup_ns_(copy_setup_ns),
      chunk_bytes_(chunk_bytes),
      programs_(programs),
      changed_("changed") {
    copies_.bind(link.from_device);
    host_.bind(link.from_host);
    link.to_host.bind(host_memory_);
    link.to_device.bind(device_memory_);
    host_memory_.register_b_transport(this, &TrainingDevice::serve_host);
    device_memory_.register_b_transport(this, &TrainingDevice::serve_device);
    SWITCHYARD_HAS_PROCESS(TrainingDevice);
    SC_THREAD(run);
}

void TrainingDevice::serve_host(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void TrainingDevice::serve_device(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void TrainingDevice::run() {
    for (const MemoryProgram* program : programs_) {
        program_ = program;
        timelines_.emplace_back();
        timeline_ = &timelines_.back();
        timeline_->begin.resize(program->actions.size());
        timeline_->end.resize(program->actions.size());
        done_.assign(program->actions.size(), false);
        begin_ = sc_core::sc_time_stamp();
        std::vector<sc_core::sc_process_handle> queues;
        for (unsigned queue = 0; queue < kQueues; ++queue)
            queues.push_back(sc_core::sc_spawn([this, queue] { run_queue(static_cast<Queue>(queue)); }));
        for (sc_core::sc_process_handle& queue : queues)
            if (!queue.terminated()) wait(queue.terminated_event());
        timeline_->ns = (sc_core::sc_time_stamp() - begin_) / nanosecond();
        double busy = 0;
        for (std::size_t i = 0; i < program->actions.size(); ++i)
            if (program->actions[i].queue == Queue::compute && program->actions[i].kind != ActionKind::fetch &&
                program->actions[i].kind != ActionKind::write_back)
                busy += timeline_->end[i] - timeline_->begin[i];
        timeline_->waiting_ns = timeline_->ns - busy;
        ++finished_;
    }
}

void TrainingDevice::run_queue(Queue queue) {
    for (std::size_t i = 0; i < program_->actions.size(); ++i) {
        const Action& action = program_->actions[i];
        if (action.queue != queue) continue;
        if (action.after != kNoAction)
            while (!done_[action.after]) wait(changed_);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        timeline_->begin[i] = (begin - begin_) / nanosecond();
        perform(action);
        const double ns = (sc_core::sc_time_stamp() - begin) / nanosecond();
        timeline_->end[i] = (sc_core::sc_time_stamp() - begin_) / nanosecond();
        switch (action.kind) {
            case ActionKind::compute:
                timeline_->compute_ns += ns;
                break;
            case ActionKind::recompute:
                timeline_->recompute_ns += ns;
                break;
            case ActionKind::host_compute:
                timeline_->host_ns += ns;
                break;
            case ActionKind::carry:
                timeline_->carry_ns += ns;
                timeline_->carried_bytes += action.bytes;
                break;
            case ActionKind::fetch:
                timeline_->to_device_bytes += action.bytes;
                break;
            case ActionKind::write_back:
                timeline_->to_host_bytes += action.bytes;
                break;
            case ActionKind::fault:
                timeline_->fault_ns += ns;
                break;
            case ActionKind::manage:
                timeline_->manage_ns += ns;
                break;
            case ActionKind::drop:
                break;
        }
        done_[i] = true;
        changed_.notify();
    }
}

void TrainingDevice::perform(const Action& action) {
    switch (action.kind) {
        case ActionKind::drop:
            return;
        case ActionKind::fetch:
            return transfer(true, action.bytes, action.transfers);
        case ActionKind::write_back:
            return transfer(false, action.bytes, action.transfers);
        case ActionKind::carry:
            return wait(nanoseconds(times_.on_device_ns(action.bytes), "a copy on the device"));
        default:
            return wait(nanoseconds(action.ns, "an action"));
    }
}

void TrainingDevice::transfer(bool to_device, std::uint64_t bytes, std::uint32_t transfers) {
    const std::uint64_t piece = ceil_div(bytes, std::uint64_t{transfers});
    for (std::uint64_t moved = 0; moved < bytes;) {
        if (moved % piece == 0) wait(nanoseconds(copy_setup_ns_, "setup_ns"));
        const auto chunk = static_cast<unsigned>(std::min({chunk_bytes_, bytes - moved, piece - moved % piece}));
        ::tlm::tlm_generic_payload payload;
        payload.set_command(to_device ? ::tlm::TLM_READ_COMMAND : ::tlm::TLM_WRITE_COMMAND);
        payload.set_address(moved);
        payload.set_data_ptr(dummy_buffer(chunk));
        payload.set_data_length(chunk);
        payload.set_streaming_width(chunk);
        sc_core::sc_time delay;
        copies_->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error())
            throw ModelError(*this, fmt::format("expected host memory to take a copy of {} bytes at {:#x}, found {}",
                                                chunk, moved, payload.get_response_string()));
        moved += chunk;
    }
}

}  // namespace switchyard::platform::dynn_offload_system
