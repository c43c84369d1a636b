// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/layer_controller/layer_controller.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::hw {

using sched::WeightSlice;
using sched::WorkUnit;

namespace {

::tlm::tlm_command command_of(bool writes) {
    return writes ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND;
}

void set(::tlm::tlm_generic_payload& payload, bool writes, std::uint64_t address, std::uint8_t* data,
         std::uint64_t bytes) {
    payload.set_command(command_of(writes));
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace

/// A layer under way. Units are counted over all input bands.
struct LayerController::Job {
    const LayerProgram* layer = nullptr;
    WeightSlice cached;
    sched::LayerPlan plan;
    std::vector<const sched::InputBand*> bands;  ///< of each unit
    std::vector<const WorkUnit*> units;
    std::vector<std::size_t> tiles;       ///< of each unit: number of its weight tile
    std::vector<std::size_t> first_unit;  ///< of each tile
    std::size_t fetched = 0, computed = 0, written = 0;
    std::string error;
};

LayerController::LayerController(const sc_core::sc_module_name& module_name, const Config& config,
                                 SimulationRegistry& registry)
    : sc_module(module_name),
      commands("commands"),
      dram("dram"),
      array("array"),
      persistent("persistent"),
      dynamic("dynamic"),
      streaming("streaming"),
      parameters("parameters"),
      output("output"),
      config_(config),
      clock_(config.clock_ghz),
      registry_(registry),
      payloads_("layer_controller") {
    commands.register_b_transport(this, &LayerController::b_transport);
    dram.register_nb_transport_bw(this, &LayerController::nb_transport_bw);
    SWITCHYARD_HAS_PROCESS(LayerController);
    if (timed()) {
        SC_THREAD(fetch);
        SC_THREAD(write);
        SC_METHOD(send_requests);
        sensitive << send_;
        dont_initialize();
    }
    register_counters(registry, name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void LayerController::b_transport(Payload& payload, sc_core::sc_time& delay) {
    if (!payload.is_write() || payload.get_data_length() != 8)
        return payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
    std::uint32_t words[2];
    std::memcpy(words, payload.get_data_ptr(), sizeof words);
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    try {
        if (words[0] == kServe) {
            serve(words[1]);
            ++stats_.queries;
            stats_.serve_cycles += cycles_since(begin);
        } else if (words[0] == kCache) {
            cache(words[1]);
            ++stats_.fills;
            stats_.fill_cycles += cycles_since(begin);
        } else {
            throw std::runtime_error(
                fmt::format("expected operation {} (serve) or {} (cache), found {}", kServe, kCache, words[0]));
        }
    } catch (const ModelError&) {
        throw;
    } catch (const std::runtime_error& error) {
        registry_.add_error(*this, error.what());
        return payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

std::uint64_t LayerController::cycles_since(const sc_core::sc_time& begin) const {
    return clock_.count(sc_core::sc_time_stamp() - begin);
}

WeightSlice LayerController::cached_slice(std::uint32_t tensor) const {
    return subgraph_ == kNothing ? WeightSlice{} : program_.subgraphs[subgraph_][tensor];
}

sched::LayerPlan LayerController::plan(const LayerProgram& layer, const WeightSlice& cached) const {
    sched::LayerPlan plan = plan_layer(layer.layer, cached, config_.shape.array, config_.shape.buffers);
    if (!plan.error.empty()) throw std::runtime_error(fmt::format("layer {}: {}", layer.name, plan.error));
    return plan;
}

const std::vector<LayerCost>& LayerController::costs(std::uint32_t subnet) {
    const auto [found, is_new] = costs_.try_emplace({subnet, subgraph_});
    if (is_new)
        found->second = subnet_costs(program_, program_.subnets[subnet],
                                     subgraph_ == kNothing ? nullptr : &program_.subgraphs[subgraph_], config_.shape);
    return found->second;
}

void LayerController::cache(std::uint32_t subgraph) {
    if (subgraph >= program_.subgraphs.size())
        throw std::runtime_error(
            fmt::format("expected a SubGraph below {}, found {}", program_.subgraphs.size(), subgraph));
    const std::vector<StridedPieces> pieces = subgraph_pieces(program_, program_.subgraphs[subgraph]);
    const std::uint64_t bytes = total_bytes(pieces);
    if (bytes > config_.shape.buffers.persistent)
        throw std::runtime_error(
            fmt::format("SubGraph {}: expected at most the {} bytes of the persistent buffer, found {}", subgraph,
                        config_.shape.buffers.persistent, bytes));
    subgraph_ = kNothing;  // what is there is overwritten
    std::vector<std::uint8_t> data(config_.has_values ? bytes : 0);
    access(false, pieces, data);
    if (!timed())
        wait(clock_.cycles(whole_time(fill_cost(program_, program_.subgraphs[subgraph], config_.shape.dram), "cycles",
                                      "filling the persistent buffer", WholeTime::up)));
    access_buffer(persistent, true, 0, data);
    stats_.subgraph_bytes += bytes;
    subgraph_ = subgraph;
    persistent_addresses_.clear();
    std::uint64_t address = 0;
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
        persistent_addresses_.push_back(address);
        address += program_.subgraphs[subgraph][t].bytes(program_.tensors[t].side);
    }
}

void LayerController::serve(std::uint32_t subnet) {
    if (subnet >= program_.subnets.size())
        throw std::runtime_error(fmt::format("expected a SubNet below {}, found {}", program_.subnets.size(), subnet));
    layer_cycles_.clear();
    const std::vector<LayerCost>* const cost = timed() ? nullptr : &costs(subnet);
    std::uint64_t cycles = 0;
    for (const LayerProgram& layer : program_.subnets[subnet]) {
        if (timed() || config_.has_values) {
            Job job;
            job.layer = &layer;
            job.cached = cached_slice(layer.tensor);
            job.plan = plan(layer, job.cached);
            for (const sched::InputBand& band : job.plan.bands)
                for (const WorkUnit& unit : band.units) {
                    if (unit.new_tile) job.first_unit.push_back(job.units.size());
                    job.tiles.push_back(job.first_unit.size() - 1);
                    job.bands.push_back(&band);
                    job.units.push_back(&unit);
                }
            const sc_core::sc_time begin = sc_core::sc_time_stamp();
            run_layer(job);
            if (!job.error.empty()) throw std::runtime_error(fmt::format("layer {}: {}", layer.name, job.error));
            if (timed()) layer_cycles_.push_back(cycles_since(begin));
        }
        if (cost == nullptr) continue;
        const LayerCost& of_layer = (*cost)[layer_cycles_.size()];
        if (!config_.has_values) {
            const std::uint64_t fetched = std::uint64_t{layer.layer.kernels} * sched::kParameterBytes;
            stats_.input_bytes += of_layer.input_bytes;
            stats_.parameter_bytes += fetched;
            stats_.weight_bytes += of_layer.weight_bytes - fetched;
            stats_.output_bytes += of_layer.output_bytes;
        }
        layer_cycles_.push_back(whole_time(of_layer.cycles, "cycles", layer.name, WholeTime::up));
        cycles += layer_cycles_.back();
    }
    if (!timed()) return wait(clock_.cycles(cycles));
    // The results are in memory, and a cycle to say so.
    while (!in_flight_.empty()) wait(in_memory_);
    wait(clock_.cycles(1));
}

void LayerController::run_layer(Job& job) {
    if (!timed()) {
        for (std::size_t u = 0; u < job.units.size(); ++u) {
            fetch_unit(job, u);
            compute_unit(job, u);
            write_unit(job, u);
        }
        return;
    }
    job_ = &job;
    job_begins_.notify();
    for (std::size_t u = 0; u < job.units.size(); ++u) {
        // The unit before the one before has left its bank of the output buffer.
        wait_until([&] { return job.fetched > u && job.written + 1 >= u; });
        compute_unit(job, u);
        ++job.computed;
        progress_.notify();
    }
    wait_until([&] { return job.written == job.units.size(); });
    job_ = nullptr;
}

void LayerController::fetch() {
    for (;;) {
        wait(job_begins_);
        Job& job = *job_;
        for (std::size_t u = 0; u < job.units.size(); ++u) {
            fetch_unit(job, u);
            ++job.fetched;
            progress_.notify();
        }
    }
}

void LayerController::write() {
    for (;;) {
        wait(job_begins_);
        Job& job = *job_;
        for (std::size_t u = 0; u < job.units.size(); ++u) {
            wait_until([&] { return job.computed > u; });
            wait(clock_.cycles(array_latency_cycles(config_.shape.array)));
            write_unit(job, u);
            ++job.written;
            progress_.notify();
        }
    }
}

void LayerController::fetch_unit(Job& job, std::size_t u) {
    const WorkUnit& unit = *job.units[u];
    const LayerProgram& layer = *job.layer;
    const std::size_t tile = job.tiles[u];
    const auto room = [this](std::uint64_t bytes) { return std::vector<std::uint8_t>(config_.has_values ? bytes : 0); };
    if (u == 0 || job.bands[u] != job.bands[u - 1]) {
        wait_until([&] { return !timed() || job.computed == u; });
        std::vector<std::uint8_t> data = room(job.bands[u]->input_bytes);
        access(false, input_pieces(layer, *job.bands[u]), data);
        access_buffer(streaming, true, 0, data);
        stats_.input_bytes += job.bands[u]->input_bytes;
    }
    if (unit.new_tile) {
        // The tile before the one before has been computed with: its half is free.
        const std::size_t done = !config_.shape.options.hides_weights ? u : tile < 2 ? 0 : job.first_unit[tile - 1];
        wait_until([&] { return !timed() || job.computed >= done; });
        std::vector<std::uint8_t> data = room(unit.fetch_bytes);
        access(false, tile_pieces(layer, program_.tensors[layer.tensor], job.cached, unit), data);
        const std::uint64_t records = std::uint64_t{unit.kernels} * sched::kParameterBytes;
        if (config_.has_values) {
            std::vector<std::uint8_t> tail(data.end() - static_cast<std::ptrdiff_t>(records), data.end());
            data.resize(data.size() - records);
            access_buffer(dynamic, true, tile % 2 * config_.shape.buffers.dynamic, data);
            access_buffer(parameters, true, tile % 2 * (config_.shape.buffers.parameters / 2), tail);
        }
        stats_.parameter_bytes += records;
        stats_.weight_bytes += unit.fetch_bytes - records;
    }
    if (unit.residual_bytes > 0) {
        wait_until([&] { return !timed() || job.written + 1 >= u; });
        std::vector<std::uint8_t> data = room(unit.residual_bytes);
        access(false, result_pieces(layer, layer.residual_address, unit), data);
        access_buffer(output, true, u % 2 * (config_.shape.buffers.output / 2) + 4 * unit.residual_bytes, data);
        stats_.input_bytes += unit.residual_bytes;
    }
}

void LayerController::compute_unit(Job& job, std::size_t u) {
    const WorkUnit& unit = *job.units[u];
    const LayerProgram& layer = *job.layer;
    DotProductWorkExtension& work = work_.extension();
    work.layer = layer.layer;
    work.cached = job.cached;
    work.unit = unit;
    work.input_begin = job.bands[u]->input_begin;
    work.input_end = job.bands[u]->input_end;
    work.persistent_address = job.cached.kernels == 0 ? 0 : persistent_addresses_[layer.tensor];
    work.dynamic_address = job.tiles[u] % 2 * config_.shape.buffers.dynamic;
    work.parameter_address = job.tiles[u] % 2 * (config_.shape.buffers.parameters / 2);
    work.input_address = 0;
    work.output_address = u % 2 * (config_.shape.buffers.output / 2);
    work.residual_address = work.output_address + 4 * unit.residual_bytes;
    work.input_zero = layer.input_zero;
    work.output_zero = layer.output_zero;
    work.has_values = config_.has_values;
    sc_core::sc_time delay;
    Payload& payload = work_.fresh();
    array->b_transport(payload, delay);
    if (payload.is_response_error())
        job.error = fmt::format("expected the array to compute a unit, found {}", payload.get_response_string());
    if (timed()) wait(delay);
}

void LayerController::write_unit(Job& job, std::size_t u) {
    const WorkUnit& unit = *job.units[u];
    std::vector<std::uint8_t> data(config_.has_values ? unit.result_bytes : 0);
    access_buffer(output, false, u % 2 * (config_.shape.buffers.output / 2), data);
    access(true, result_pieces(*job.layer, job.layer->output_address, unit), data);
    stats_.output_bytes += unit.result_bytes;
}

void LayerController::access_buffer(Socket& socket, bool writes, std::uint64_t address,
                                    std::vector<std::uint8_t>& data) {
    if (data.empty()) return;
    Payload payload;
    set(payload, writes, address, data.data(), data.size());
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    if (payload.is_response_error())
        throw ModelError(*this, fmt::format("{}: expected a buffer of {} bytes at {:#x}, found {}", socket.name(),
                                            data.size(), address, payload.get_response_string()));
}

void LayerController::access_debug(bool writes, const std::vector<StridedPieces>& pieces,
                                   std::vector<std::uint8_t>& data) {
    std::uint8_t* next = data.data();
    for (const StridedPieces& piece : pieces)
        for (std::uint64_t i = 0; i < piece.count; ++i, next += piece.bytes) {
            Payload payload;
            set(payload, writes, piece.address + i * piece.pitch, next, piece.bytes);
            if (const unsigned bytes = dram->transport_dbg(payload); bytes != piece.bytes)
                throw ModelError(*this, fmt::format("expected {} bytes of DRAM at {:#x}, found {}", piece.bytes,
                                                    payload.get_address(), bytes));
        }
}

void LayerController::access(bool writes, const std::vector<StridedPieces>& pieces, std::vector<std::uint8_t>& data) {
    if (pieces.empty()) return;
    if (!timed()) {
        if (!data.empty()) access_debug(writes, pieces, data);
        return;
    }
    Access access;
    std::uint8_t* next = data.empty() ? nullptr : data.data();
    for (const StridedPieces& piece : pieces)
        for (std::uint64_t i = 0; i < piece.count; ++i)
            for (std::uint64_t at = 0; at < piece.bytes; at += config_.request_bytes) {
                const std::uint64_t bytes = std::min<std::uint64_t>(config_.request_bytes, piece.bytes - at);
                Payload& payload = payloads_.allocate();
                set(payload, writes, piece.address + i * piece.pitch + at,
                    next != nullptr ? next : dummy_buffer(static_cast<unsigned>(bytes)), bytes);
                if (next != nullptr) next += bytes;
                requests_.emplace_back(&payload, &access);
                ++access.left;
            }
    send_.notify();
    while (access.left > 0) wait(access.done);
    if (!refusal_.empty()) throw ModelError(*this, refusal_);
}

void LayerController::send_requests() {
    while (requesting_ == nullptr && !requests_.empty()) {
        const auto [payload, access] = requests_.front();
        requests_.pop_front();
        in_flight_.emplace(payload, access);
        requesting_ = payload;
        ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        const ::tlm::tlm_sync_enum sync = dram->nb_transport_fw(*payload, phase, delay);
        if (sync == ::tlm::TLM_ACCEPTED) continue;
        requesting_ = nullptr;
        const bool responds = sync == ::tlm::TLM_UPDATED && phase == ::tlm::BEGIN_RESP;
        if (responds) {
            phase = ::tlm::END_RESP;
            delay = sc_core::SC_ZERO_TIME;
            dram->nb_transport_fw(*payload, phase, delay);
        }
        if (responds || sync == ::tlm::TLM_COMPLETED) complete(*payload);
    }
}

::tlm::tlm_sync_enum LayerController::nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time&) {
    // A response may come in place of END_REQ.
    if (requesting_ == &payload) {
        requesting_ = nullptr;
        send_.notify(sc_core::SC_ZERO_TIME);
        if (payload.is_write() && phase == ::tlm::END_REQ) accepted(payload);
    }
    if (phase != ::tlm::BEGIN_RESP) return ::tlm::TLM_ACCEPTED;
    complete(payload);
    phase = ::tlm::END_RESP;
    return ::tlm::TLM_COMPLETED;
}

void LayerController::accepted(Payload& payload) {
    Access*& access = in_flight_.at(&payload);
    if (--access->left == 0) access->done.notify(sc_core::SC_ZERO_TIME);
    access = nullptr;
}

void LayerController::complete(Payload& payload) {
    const auto found = in_flight_.find(&payload);
    Access* const access = found->second;
    in_flight_.erase(found);
    if (payload.is_response_error() && refusal_.empty())
        refusal_ = fmt::format("expected {} bytes of DRAM at {:#x}, found {}", payload.get_data_length(),
                               payload.get_address(), payload.get_response_string());
    payload.release();
    if (in_flight_.empty()) in_memory_.notify(sc_core::SC_ZERO_TIME);
    if (access != nullptr && --access->left == 0) access->done.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace switchyard::hw
