// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/tile/tile_controller.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/tlm/borrowed_extension.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/thread_stack.h"

namespace switchyard::hw {

TileController::TileController(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      events("events"),
      interface("interface"),
      dispatcher("dispatcher"),
      dispatcher_config("dispatcher_config"),
      scratchpad("scratchpad"),
      config_(config),
      registry_(registry),
      clock_(config.clock_ghz),
      messages_(std::string(this->name()) + ".messages"),
      completions_("completions") {
    events.register_b_transport(this, &TileController::events_transport);

    SWITCHYARD_HAS_PROCESS(TileController);
    SC_THREAD(process);  // a thread, since it calls b_transport
    sensitive << wake_ << completions_.event();

    if (log_ != nullptr) {
        const std::string tile = get_parent_object() != nullptr ? get_parent_object()->basename() : basename();
        kernels_track_ = log_->track("tiles", tile);
        dispatcher_track_ = log_->track("dispatchers", tile);
        waits_track_ = log_->track("network interface waits", tile);
    }
    register_counters(registry, this->name(), kCounters, [this]() -> const Stats& { return stats_; });
    registry.add_waiter(*this, [this] { return waits(); });
    registry.time_uses().operators.emplace_back([this](OperatorTimes& times) { add_times(times); });
}

void TileController::events_transport(Payload& payload, sc_core::sc_time&) {
    InterfaceEvent* event = nullptr;
    payload.get_extension(event);
    if (!event) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    using Kind = InterfaceEvent::Kind;
    switch (event->kind) {
        case Kind::config_write:
        case Kind::config_read:
            on_config(*event);
            return;
        case Kind::control:
            if (event->control != static_cast<std::uint32_t>(ControlCode::segment_start)) {
                throw ModelError(*this,
                                 fmt::format("expected control packet {} (segment_start), found {}",
                                             static_cast<std::uint32_t>(ControlCode::segment_start), event->control));
            }
            start_segment(event->segment, event->batch);
            break;
        case Kind::unit_ready:
            for (Input& input : operators_.at(event->operator_index).inputs) {
                if (input.edge->id != event->edge) continue;
                input.index_lists.at(event->unit) = event->index_list;
                input.arrivals[event->unit] = {sc_core::sc_time_stamp().value(), event->sent_at.value()};
            }
            if (event->merged) operators_.at(event->operator_index).merged.at(event->unit) = event->merged;
            break;
        case Kind::weights_ready:
            for (Weights& weights : operators_.at(event->operator_index).weights) {
                if (weights.edge->id != event->edge) continue;
                weights.state = Weights::State::present;
                weights.arrival = {sc_core::sc_time_stamp().value(), event->sent_at.value()};
            }
            break;
        case Kind::masks_ready:
            operators_.at(event->operator_index).masks_ready.at(event->unit) = true;
            operators_[event->operator_index].masks_at = sc_core::sc_time_stamp().value();
            break;
        case Kind::output_sent: {
            Operator& op = operators_.at(event->operator_index);
            --op.outputs_in_flight;
            op.output = {sc_core::sc_time_stamp().value(), event->sent_at.value()};
            op.output_to_memory = event->to_memory;
            op.output_edge = event->edge;
            op.output_slots.release(event->unit);
            break;
        }
    }
    // While an operator runs, only weights for the next segment can be asked for; the rest is seen to when it ends.
    if (!busy_ || event->kind == Kind::weights_ready) wake_.notify(sc_core::SC_ZERO_TIME);
}

void TileController::start_segment(std::uint16_t segment, std::uint32_t batch) {
    if (segment_ >= 0)
        throw ModelError(*this, fmt::format("expected the end of segment {} first, found the start of segment {}",
                                            segment_, segment));
    segment_ = segment;
    batch_ = batch;
    free_since_ = sc_core::sc_time_stamp().value();
    ++stats_.segments;
    active_ = operators_of(segment);
    prefetch_.clear();
    if (const int next = next_segment_after(segment); next != segment) {
        for (const std::size_t index : operators_of(next)) {
            if (fetch_of_weights(operators_[index]) == rules::WeightsFetch::when_own_are_there)
                prefetch_.push_back(index);
        }
    }
    for (const std::size_t index : active_) {
        Operator& op = operators_[index];
        for (Input& input : op.inputs) {
            input.index_lists.assign(op.placement->units, nullptr);
            input.arrivals.assign(op.placement->units, {});
        }
        op.masks_at = 0;
        op.output = {};
        op.merged.assign(op.placement->units, nullptr);
        op.masks_ready.assign(reads_masks(op) ? op.placement->units : 0, false);
        op.masks_requested = 0;
        op.next_unit = 0;
        op.outputs_in_flight = 0;
        op.invoked_kernel = -1;
        op.invocation_counted = false;
        op.output_slots = rules::OutputSlots(op.op->out_slots);
        load_weights(op);
    }
    InterfaceCommand open;
    open.kind = InterfaceCommand::Kind::open_segment;
    open.segment = segment;
    open.batch = batch;
    command(open);
}

void TileController::load_weights(Operator& op) {
    for (Weights& weights : op.weights) {
        if (weights.state != Weights::State::absent) continue;
        weights.state = Weights::State::loading;
        InterfaceCommand open;
        open.kind = InterfaceCommand::Kind::open_weights;
        open.edge = weights.edge->id;
        command(open);
    }
}

int TileController::next_segment_after(std::uint16_t segment) const {
    std::vector<std::uint16_t> segments;
    for (const Operator& op : operators_) segments.push_back(op.op->segment);
    return rules::segment_after(segments, segment);
}

std::vector<std::size_t> TileController::operators_of(int segment) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
        if (operators_[i].op->segment == segment) found.push_back(i);
    }
    return found;
}

rules::WeightsFetch TileController::fetch_of_weights(const Operator& op) const {
    std::vector<const TileOperator*> running;
    for (const std::size_t index : active_) running.push_back(operators_[index].op);
    return rules::fetch_of_weights(*op.op, *program_, running, *program_);
}

/// Every tile of an operator decides by the same rule, but at its own time; the one that leads the load waits for the
/// others' acknowledges, so an early decision costs nothing and a late one delays, never blocks.
void TileController::prefetch_weights() {
    if (prefetch_.empty()) return;
    for (const std::size_t index : active_) {
        for (const Weights& weights : operators_[index].weights) {
            if (weights.state != Weights::State::present) return;  // first what is needed first
        }
    }
    for (const std::size_t index : prefetch_) load_weights(operators_[index]);
    prefetch_.clear();
}

void TileController::finish_segment() {
    const auto segment = static_cast<std::uint16_t>(segment_);
    segment_ = -1;
    const auto last = std::max_element(active_.begin(), active_.end(), [this](std::size_t a, std::size_t b) {
        return operators_[a].output.at < operators_[b].output.at;
    });
    if (last != active_.end()) charge_wait(operators_[*last], operators_[*last].placement->units);
    InterfaceCommand close;
    close.kind = InterfaceCommand::Kind::close_segment;
    close.segment = segment;
    command(close);
    InterfaceCommand done;
    done.kind = InterfaceCommand::Kind::send_control;
    done.control = static_cast<std::uint32_t>(ControlCode::segment_done);
    done.segment = segment;
    done.batch = batch_;
    command(done);
    for (const std::size_t index : active_) {
        for (Weights& weights : operators_[index].weights) {
            if (!rules::weights_stay(*weights.edge)) weights.state = Weights::State::absent;
        }
    }
    active_.clear();
    prefetch_.clear();
    for (const std::size_t index : operators_of(next_segment_after(segment))) load_weights(operators_[index]);
}

void TileController::request_masks(Operator& op) {
    if (!reads_masks(op)) return;
    const unsigned window = rules::masks_window(op.next_unit, config_.mask_prefetch_units, op.placement->units);
    for (; op.masks_requested < window; ++op.masks_requested) {
        InterfaceCommand fetch;
        fetch.kind = InterfaceCommand::Kind::fetch_masks;
        fetch.operator_index = static_cast<std::uint16_t>(&op - operators_.data());
        fetch.unit = static_cast<std::uint16_t>(op.masks_requested);
        fetch.batch = batch_;
        command(fetch);
    }
}

void TileController::process() {
    run_on_shifted_stack([this] {
        for (;; wait()) run();
    });
}

void TileController::run() {
    Completion completion;
    while (completions_.pop_due(completion)) {
        Operator& op = operators_[completion.index];
        for (Input& input : op.inputs) {
            input.index_lists[completion.unit].reset();
            InterfaceCommand release;
            release.kind = InterfaceCommand::Kind::release_unit;
            release.edge = input.edge->id;
            release.unit = static_cast<std::uint16_t>(completion.unit);
            command(release);
        }
        op.merged[completion.unit].reset();
        ++op.next_unit;
        busy_ = false;
        free_since_ = sc_core::sc_time_stamp().value();
    }
    if (segment_ < 0) return;
    bool done = true;
    for (const std::size_t index : active_) {
        Operator& op = operators_[index];
        request_masks(op);
        if (!busy_) try_dispatch(index);
        done = done && op.done();
    }
    if (done && !busy_) {
        finish_segment();
    } else {
        prefetch_weights();
    }
}

SampleIndexListPtr TileController::index_list_of(const Operator& op, unsigned unit) const {
    SampleIndexListPtr common;
    for (const Input& input : op.inputs) {
        SampleIndexListPtr index_list = input.index_lists[unit];
        for (unsigned level = 0; level < input.edge->pops; ++level) index_list = index_list->outer;
        if (common && !(common->samples == index_list->samples)) {
            throw ModelError(*this,
                             fmt::format("operator {} unit {}: expected the same samples from all inputs, found {} "
                                         "samples and {} others",
                                         op.op->op_id, unit, common->samples.size(), index_list->samples.size()));
        }
        common = std::move(index_list);
    }
    if (op.placement->shape.kind != OpKind::merge) return common;
    const std::vector<std::uint32_t>&all = common->samples.ids(), &merged = op.merged[unit]->ids;
    const auto foreign = std::find_if(merged.begin(), merged.end(), [&all](std::uint32_t id) {
        return !std::binary_search(all.begin(), all.end(), id);
    });
    if (foreign != merged.end())
        throw ModelError(*this,
                         fmt::format("operator {} unit {}: expected samples of the unit from all inputs, found {}",
                                     op.op->op_id, unit, *foreign));
    return common;
}

rules::UnitWait TileController::wait_of_next(const Operator& op) const {
    rules::NextUnit next;
    next.unit = op.next_unit;
    next.units = op.placement->units;
    next.outputs_in_flight = op.outputs_in_flight;
    next.output_slots = op.op->out_slots;
    next.weights_present = std::all_of(op.weights.begin(), op.weights.end(),
                                       [](const Weights& one) { return one.state == Weights::State::present; });
    const bool ends = next.unit == next.units;
    next.inputs_ready = ends || std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Input& input) {
                            return input.index_lists[next.unit] != nullptr;
                        });
    next.masks_read = ends || op.masks_ready.empty() || op.masks_ready[next.unit];
    return rules::wait_of(next);
}

DispatchExtension TileController::dispatch_of(std::size_t index, const SampleIndexListPtr& index_list) {
    Operator& op = operators_[index];
    const unsigned unit = op.next_unit;
    if (unit % op.placement->units_of_invocation() == 0) {
        op.invoked_kernel = -1;
        op.invocation_counted = false;
    }
    DispatchExtension dispatch;
    dispatch.operator_index = static_cast<std::uint16_t>(index);
    const unsigned allocation = op.placement->allocation_for(*index_list);
    const std::size_t first = op.placement->first_partition(allocation);
    dispatch.kernel_first = static_cast<std::uint16_t>(op.op->kernel_first + first);
    dispatch.kernel_count = static_cast<std::uint16_t>(op.placement->last_partition(allocation) - first);
    if (op.invoked_kernel >= 0) {
        dispatch.kernel_first = static_cast<std::uint16_t>(op.invoked_kernel);
        dispatch.kernel_count = 1;
    }
    dispatch.invocation_samples = index_list->batch_samples;
    dispatch.continued = op.invocation_counted;
    dispatch.rank = op.op->rank;
    dispatch.unit = static_cast<std::uint16_t>(unit);
    dispatch.batch = batch_;
    dispatch.index_list = index_list;
    dispatch.dyn_dim = static_cast<std::uint32_t>(dispatch.index_list->samples.size());
    const Edge& first_input = *op.inputs.front().edge;
    dispatch.input_offset = static_cast<std::uint32_t>(rules::input_slot(first_input, unit));
    dispatch.input_bytes = first_input.slot_bytes;
    dispatch.weight_offset = op.weights.empty() ? 0 : op.weights.front().edge->slot_offset;
    dispatch.output_offset = static_cast<std::uint32_t>(rules::output_slot(*op.op, unit));
    dispatch.multicast = op.op->out_edges.size() > 1;
    dispatch.channelwise = op.placement->shape.kind == OpKind::depthwise;
    dispatch.operand_bytes = op.placement->shape.operand_bytes;
    dispatch.result_bytes = op.placement->shape.element_bytes;
    if (config_.values) dispatch.values = &values_of(op, unit, dispatch.index_list->samples);
    return dispatch;
}

bool TileController::try_dispatch(std::size_t index) {
    Operator& op = operators_[index];
    if (wait_of_next(op) != rules::UnitWait::none) return false;
    const unsigned unit = op.next_unit;
    const SampleIndexListPtr index_list = index_list_of(op, unit);
    const bool empty = index_list->samples.empty();
    if (!op.output_slots.may_take(unit, empty)) return false;
    DispatchExtension dispatch = dispatch_of(index, index_list);
    charge_wait(op, unit);
    sc_core::sc_time delay;
    const std::size_t known = registry_.errors().size();
    if (!send(dispatcher, dispatch, delay))
        throw registry_.failure(*this,
                                fmt::format("operator {}: expected the dispatcher to take dyn_dim {}, found a refusal",
                                            op.op->op_id, dispatch.dyn_dim),
                                known);
    // An invocation counts with its first unit, by the samples that it is for.
    if (op.invoked_kernel < 0)
        profiler_.count(index, dispatch.selected_by() == 0 ? -1 : dispatch.kernel - op.op->kernel_first);
    if (op.placement->invoked_by_batch()) {
        op.invoked_kernel = dispatch.kernel;
        op.invocation_counted |= !empty;
    }
    ++stats_.units;
    stats_.empty_units += dispatch.dyn_dim == 0 ? 1 : 0;
    stats_.busy_cycles += dispatch.cycles;
    times_[op.op->op_id][TimeUse::compute] += delay.value();
    if (log_ != nullptr) log_kernel(op, dispatch, delay);
    stats_.macs += dispatch.macs;
    ++op.outputs_in_flight;
    op.output_slots.take(unit, empty);
    busy_ = true;
    completions_.push(Completion{index, unit}, delay);
    return true;
}

template <class Extension>
bool TileController::send(tlm_utils::simple_initiator_socket<TileController>& socket, Extension& extension,
                          sc_core::sc_time& delay) {
    Payload& payload = messages_.allocate();
    payload.set_data_ptr(dummy_buffer(1));
    payload.set_data_length(1);
    payload.set_streaming_width(1);
    {
        const BorrowedExtension shown(payload, extension);
        socket->b_transport(payload, delay);
    }
    const bool ok = payload.is_response_ok();
    payload.release();
    return ok;
}

void TileController::command(InterfaceCommand& command) {
    sc_core::sc_time delay;
    send(interface, command, delay);
}

void TileController::send_control(ControlCode code) {
    InterfaceCommand send;
    send.kind = InterfaceCommand::Kind::send_control;
    send.control = static_cast<std::uint32_t>(code);
    command(send);
}

std::string TileController::waits() const {
    if (segment_ < 0) return "";
    std::string text;
    for (const std::size_t index : active_) {
        const Operator& op = operators_[index];
        if (op.done()) continue;
        text += (text.empty() ? "segment " + std::to_string(segment_) + " of batch " + std::to_string(batch_) + ": "
                              : "; ") +
                "operator " + std::to_string(op.op->op_id);
        if (op.next_unit == op.placement->units) {
            text += ": " + std::to_string(op.outputs_in_flight) + " outputs to be taken";
            continue;
        }
        text += " unit " + std::to_string(op.next_unit) + ":";
        for (const Weights& weights : op.weights) {
            if (weights.state != Weights::State::present)
                text += " weights (edge " + std::to_string(weights.edge->id) + ")";
        }
        for (const Input& input : op.inputs) {
            if (!input.index_lists[op.next_unit]) text += " input (edge " + std::to_string(input.edge->id) + ")";
        }
        if (op.outputs_in_flight >= op.op->out_slots || !op.output_slots.may_take(op.next_unit, false))
            text += " output slot";
        if (!op.masks_ready.empty() && !op.masks_ready[op.next_unit]) text += " recorded masks";
    }
    return text;
}

}  // namespace switchyard::hw
