// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/stage_fabric.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/tile/profiler.h"
#include "switchyard/sw_scheduler/adyna/image/kernel_store.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform {

namespace {

// The pipelines' lead over simulated time, for which they do not see what the host begins: as long as a chunk of DMA is
// on the host's link, within what costs little host time and what a batch does not notice. Without DMA it grows.
constexpr double kMinQuantumCycles = 256, kMaxQuantumCycles = 4096;
constexpr unsigned kMaxQuanta = 16;

}  // namespace

StageFabric::Loaded::Loaded(const PlatformConfig& platform, const std::vector<const TileProgram*>& programs,
                            std::uint32_t batch_samples, KernelMeter& kernels, NetworkMeter& network,
                            Resources& resources)
    : map(programs),
      counts(map, batch_samples),
      transfers(platform, map, network),
      timeline(platform, map, counts, transfers, kernels, resources) {}

StageFabric::StageFabric(const sc_core::sc_module_name& module_name, const PlatformConfig& platform,
                         SimulationRegistry& registry)
    : sc_module(module_name),
      from_host("from_host"),
      to_host("to_host"),
      platform_(platform),
      registry_(registry),
      clock_(platform.chip.clock_ghz),
      host_(platform.endpoints().host),
      packets_of_host_(platform.noc, platform.hbm, platform.endpoints().map.routers()),
      kernels_("kernels", platform),
      network_("network_meter", platform),
      counters_(get_parent_object() != nullptr ? get_parent_object()->name() : name(), platform,
                packets_of_host_.router_links(), packets_of_host_.links(), registry, [this] { refresh(); }),
      tiles_(platform.tiles()),
      resources_(platform, packets_of_host_.router_links(), packets_of_host_.links()),
      quantum_(cycles(std::clamp(platform.host.dma_chunk_bytes / platform.host.link_bytes_per_cycle, kMinQuantumCycles,
                                 kMaxQuantumCycles))),
      packets_(std::string(name()) + ".packets"),
      travels_("travels") {
    for (unsigned i = 0; i < platform.hbm.interfaces(); ++i) memory_.emplace_back(platform.hbm.region_bytes);
    from_host.register_b_transport(this, &StageFabric::accept);

    SWITCHYARD_HAS_PROCESS(StageFabric);
    SC_THREAD(serve);  // a thread, since it calls b_transport
}

sc_core::sc_time StageFabric::cycles(double count) const {
    return clock_.cycles(whole_time(count, "cycles", "an access", WholeTime::up));
}

double StageFabric::now_cycles() const {
    return static_cast<double>(clock_.count(sc_core::sc_time_stamp()));
}

void StageFabric::accept(Payload& payload, sc_core::sc_time& delay) {
    const auto* const packet = payload.get_extension<PacketExtension>();
    if (packet == nullptr || packet->destinations.empty()) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    const Endpoint endpoints = host_;
    for (const Endpoint destination : packet->destinations) {
        if (destination < endpoints) continue;
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        registry_.add_error(*this, fmt::format("a packet to endpoint {}", destination));
        return;
    }
    if (delay == sc_core::SC_ZERO_TIME) {
        depart(PooledPayload::share(payload));
    } else {
        travels_.push({PooledPayload::share(payload), Travel::State::departs}, delay);
    }
    std::uint64_t travel = 0;
    for (const Endpoint destination : packet->destinations)
        travel = std::max(travel, packets_of_host_.packet_cycles(host_, destination, packet->payload_bytes));
    delay += clock_.cycles(travel);  // if nothing else is on its way
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void StageFabric::depart(PooledPayload payload, const sc_core::sc_time& after) {
    const PacketExtension& packet = payload.packet();
    std::uint64_t head = 0;
    for (const Endpoint destination : packet.destinations)
        head = std::max(head, packets_of_host_.head_cycles(packet.source, destination));
    packets_of_host_.add_packet(packet.source, packet.destinations, packet.payload_bytes);
    packets_of_host_.take(of_packet_);
    counters_.add(of_packet_, 1);
    const double now = now_cycles(), start = now + static_cast<double>(clock_.count(after));
    sc_core::sc_time delay = cycles(resources_.carry(of_packet_, start) - now + static_cast<double>(head));
    if (packet.source == host_) {
        travels_.push({std::move(payload), Travel::State::arrives}, delay);
        return;
    }
    to_host->b_transport(*payload, delay);
    if (!payload->is_response_ok())
        throw ModelError(*this,
                         "expected the host interface to take a packet, found " + payload->get_response_string());
}

void StageFabric::serve() {
    for (;;) {
        Travel travel;
        while (travels_.pop_due(travel)) {
            if (travel.state == Travel::State::departs) {
                depart(std::move(travel.payload));
            } else {
                serve(*travel.payload);
            }
        }
        travel.payload = {};
        const bool running = loaded_ && loaded_->timeline.running();
        const sc_core::sc_time lead = lead_;
        if (running) run_ahead(lead);
        if (running && loaded_->timeline.running()) {
            wait(lead, travels_.event());
        } else {
            wait(travels_.event());
        }
    }
}

void StageFabric::run_ahead(const sc_core::sc_time& lead) {
    counted_ = false;
    try {
        loaded_->timeline.run_until(now_cycles() + static_cast<double>(clock_.count(lead)));
    } catch (const std::runtime_error& error) {
        throw ModelError(*this, error.what());
    }
    counted_ = false;  // a timeline may have read counters in between
    lead_ = std::min(2 * lead, kMaxQuanta * quantum_);
    if (!loaded_->timeline.running()) end_segment();
}

void StageFabric::serve(Payload& payload) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    if (const auto* const request = payload.get_extension<MemoryExtension>()) {
        if (request->operation == MemoryOperation::read) return read_memory(payload, packet, *request);
        if (request->operation == MemoryOperation::write) return write_memory(payload, packet, *request);
    }
    const auto* const message = payload.get_extension<AdynaMessage>();
    if (message && message->kind == MessageKind::config) {
        for (const Endpoint tile : packet.destinations) {
            if (payload.is_write()) {
                write_config(payload, tile);
            } else if (payload.get_address() == kTileProfileRead) {
                read_profile(tile);
            } else {
                throw ModelError(*this, fmt::format("expected a configuration read of address {:#x}, found {:#x}",
                                                    kTileProfileRead, payload.get_address()));
            }
        }
    } else if (message && message->kind == MessageKind::control) {
        if (message->control != static_cast<std::uint32_t>(ControlCode::segment_start))
            throw ModelError(*this,
                             fmt::format("expected control packet {}, segment_start, found {}",
                                         static_cast<std::uint32_t>(ControlCode::segment_start), message->control));
        begin_segment(packet, *message);
    } else {
        throw ModelError(
            *this,
            fmt::format("expected a packet of memory, configuration or control, found none of them from endpoint {}",
                        packet.source));
    }
}

PooledPayload StageFabric::packet(Endpoint source, std::uint64_t address, std::uint64_t bytes) {
    PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    packet.source = source;
    packet.destinations = {host_};
    packet.payload_bytes = bytes;
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_address(address);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    return payload;
}

PooledPayload StageFabric::control_packet(Endpoint tile, ControlCode code) {
    PooledPayload payload = packet(tile, 0, 0);
    auto& message = payload.extension<AdynaMessage>();
    message.kind = MessageKind::control;
    message.control = static_cast<std::uint32_t>(code);
    return payload;
}

void StageFabric::answer(PooledPayload payload, const sc_core::sc_time& after) {
    travels_.push({std::move(payload), Travel::State::departs}, after);
}

void StageFabric::write_config(const Payload& payload, Endpoint tile) {
    const std::uint64_t address = payload.get_address();
    const std::size_t size = payload.get_data_length();
    TileMemory& memory = tiles_.at(tile);
    std::uint32_t word = 0;
    if (address >= kTileProgramCommit && size == sizeof word) std::memcpy(&word, payload.get_data_ptr(), sizeof word);
    if (address == kTileProgramCommit) {
        commit(tile, word);
    } else if (address == kTileProfileClear) {
        if (loaded_) loaded_->timeline.clear_selected();
    } else if (address < kTileProgramCommit) {
        memory.bytes.resize(std::max<std::size_t>(memory.bytes.size(), address + size));
        std::copy_n(payload.get_data_ptr(), size, memory.bytes.begin() + static_cast<std::ptrdiff_t>(address));
    } else {
        throw ModelError(*this, fmt::format("expected a configuration write to at most {:#x}, or to {:#x}, found {:#x}",
                                            kTileProgramCommit, kTileProfileClear, address));
    }
}

void StageFabric::commit(Endpoint tile, std::size_t size) {
    refresh();
    loaded_.reset();
    kernels_.clear();
    TileMemory& memory = tiles_[tile];
    ControlCode code = ControlCode::program_ready;
    try {
        if (size > memory.bytes.size())
            throw InputError(fmt::format("expected a program of {} bytes, found {}", size, memory.bytes.size()));
        auto program = std::make_unique<TileProgram>(decode_tile_program(memory.bytes.data(), size));
        const std::uint64_t room =
            kernel_store_bytes(platform_.scratchpad.kernel_share, platform_.scratchpad.capacity_bytes);
        if (!platform_.chip.ideal_kernel_store && program->kernels.size() * kKernelBytes > room)
            throw InputError(fmt::format("expected kernels of at most {} bytes, found {}", room,
                                         program->kernels.size() * kKernelBytes));
        memory.ready_at = now_cycles() + static_cast<double>(kernels_.configuration_cycles(*program));
        memory.program = std::move(program);
    } catch (const InputError&) {
        code = ControlCode::program_error;
    }
    depart(control_packet(tile, code));
}

void StageFabric::read_profile(Endpoint tile) {
    std::vector<ProfileRecord> records;
    const TileProgram* const program = tiles_.at(tile).program.get();
    if (program != nullptr && loaded_) {
        hw::Profiler profiler;
        profiler.reset(*program);
        for (std::size_t i = 0; i < program->operators.size(); ++i) {
            const int stage = loaded_->map.stage_of(program->operators[i].op_id);
            const std::vector<std::uint32_t>& selected = loaded_->timeline.selected(static_cast<unsigned>(stage));
            for (std::size_t kernel = 0; kernel < selected.size(); ++kernel)
                profiler.count(i, static_cast<int>(kernel) - 1, selected[kernel]);
        }
        records = profiler.records(*program);
    }
    PooledPayload reply = packet(tile, 0, records.size() * sizeof(ProfileRecord));
    reply.extension<AdynaMessage>().kind = MessageKind::config;
    PacketExtension& extension = reply.packet();
    extension.has_values = true;
    if (!records.empty()) {  // a tile without an operator has none
        extension.values.resize(records.size() * sizeof(ProfileRecord));
        std::memcpy(extension.values.data(), records.data(), extension.values.size());
        reply->set_data_ptr(extension.values.data());
    }
    depart(std::move(reply));
}

SparseMemory& StageFabric::stored(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t region = platform_.hbm.region_bytes, interface = address / region, offset = address % region;
    if (interface >= memory_.size() || bytes > region - offset)
        throw ModelError(
            *this, fmt::format("expected bytes in one of {} regions of memory of {} bytes each, found {} at {:#x}",
                               memory_.size(), region, bytes, address));
    return memory_[interface];
}

void StageFabric::fetch(std::uint64_t address, void* values, std::uint64_t bytes) {
    stored(address, bytes).read(address % platform_.hbm.region_bytes, static_cast<unsigned char*>(values), bytes);
}

void StageFabric::read_memory(const Payload& payload, const PacketExtension& packet, const MemoryExtension& request) {
    const std::uint64_t address = payload.get_address(), bytes = request.requested_bytes;
    const SparseMemory& memory = stored(address, bytes);
    const sc_core::sc_time ready = access(address, bytes, false);
    PooledPayload reply = this->packet(packet.destinations.front(), address, bytes);
    auto& answered = reply.extension<MemoryExtension>();
    answered.operation = MemoryOperation::read_data;
    answered.tag = request.tag;
    PacketExtension& extension = reply.packet();
    extension.has_values = packet.has_values;
    if (packet.has_values) {
        extension.values.resize(bytes);
        memory.read(address % platform_.hbm.region_bytes, extension.values.data(), bytes);
        reply->set_data_ptr(extension.values.data());
    }
    answer(std::move(reply), ready);
}

void StageFabric::write_memory(const Payload& payload, const PacketExtension& packet, const MemoryExtension& request) {
    const std::uint64_t address = payload.get_address(), bytes = packet.payload_bytes;
    SparseMemory& memory = stored(address, bytes);
    if (packet.has_values) memory.write(address % platform_.hbm.region_bytes, payload.get_data_ptr(), bytes);
    const sc_core::sc_time ready = access(address, bytes, true);
    PooledPayload reply = this->packet(packet.destinations.front(), address, 0);
    auto& answered = reply.extension<MemoryExtension>();
    answered.operation = MemoryOperation::write_done;
    answered.tag = request.tag;
    answer(std::move(reply), ready);
}

sc_core::sc_time StageFabric::access(std::uint64_t address, std::uint64_t bytes, bool write) {
    packets_of_host_.add_request(address, bytes, write);
    packets_of_host_.take(of_packet_);
    counters_.add(of_packet_, 1);
    lead_ = quantum_;
    const double now = now_cycles();
    return cycles(resources_.serve(of_packet_, now).last - now);
}

void StageFabric::load() {
    std::vector<const TileProgram*> programs;
    std::uint32_t batch_samples = 1;
    for (const TileMemory& tile : tiles_) {
        if (!tile.program) continue;
        programs.push_back(tile.program.get());
        for (const TileOperator& op : tile.program->operators) {
            const OperatorPlacement& placement = tile.program->placement(op.op_id);
            batch_samples = std::max(batch_samples, placement.units * placement.unit_samples);
        }
    }
    try {
        loaded_ = std::make_unique<Loaded>(platform_, programs, batch_samples, kernels_, network_, resources_);
        for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
            if (tiles_[tile].program)
                loaded_->timeline.begin_not_before(static_cast<Endpoint>(tile), tiles_[tile].ready_at);
    } catch (const InputError& error) {
        throw ModelError(*this, error.what());
    }
}

void StageFabric::read_masks(const std::vector<unsigned>& stages, std::uint32_t batch) {
    std::vector<const Stage*> gates;
    for (const unsigned index : stages) {
        const Stage& gate = loaded_->map.stages()[index];
        if (gate.share->gate_switch == kNone) continue;
        gates.push_back(&gate);
        const std::uint32_t samples = gate.placement->units * gate.placement->unit_samples;
        std::vector<std::uint64_t> masks(samples);
        fetch(gate.share->mask_address + batch % 2 * gate.share->mask_bank_stride, masks.data(),
              samples * sizeof(std::uint64_t));
        loaded_->counts.set_masks(gate.share->gate_switch, std::move(masks));
    }
    // A gate behind another one sees the samples that this one lets through, whichever of the two comes first.
    for (const Stage* const gate : gates) {
        const std::vector<std::uint64_t>& masks = loaded_->counts.masks(gate->share->gate_switch);
        std::vector<std::uint64_t> taken(gate->share->gate_branches, 0);
        for (std::uint32_t id = 0; id < masks.size(); ++id) {
            if (loaded_->counts.count(gate->samples, id, id + 1) == 0) continue;
            for (std::size_t branch = 0; branch < taken.size(); ++branch) taken[branch] += masks[id] >> branch & 1U;
        }
        for (std::size_t branch = 0; branch < taken.size(); ++branch)
            counters_.add_samples(gate->share->gate_switch, static_cast<std::uint16_t>(branch), taken[branch]);
    }
}

void StageFabric::sort_samples(unsigned segment, std::uint32_t batch) {
    const SegmentOrder* const order = loaded_->map.order(segment);
    if (order == nullptr) return;
    if (order->packs()) return loaded_->counts.pack();
    std::vector<std::vector<std::uint64_t>> masks;
    for (const SegmentOrder::Key& key : order->keys) {
        masks.emplace_back(loaded_->counts.samples());
        const std::uint64_t bytes = masks.back().size() * sizeof(std::uint64_t);
        fetch(key.mask_address + batch % 2 * key.mask_bank_stride, masks.back().data(), bytes);
    }
    loaded_->counts.begin_segment(ordered_samples(*order, masks));
}

void StageFabric::begin_segment(const PacketExtension& packet, const AdynaMessage& start) {
    if (!loaded_) load();
    if (start.segment >= loaded_->map.segments().size() || loaded_->map.segments()[start.segment].empty())
        throw ModelError(*this, fmt::format("expected a segment of a tile's program, of {} segments, found {}",
                                            loaded_->map.segments().size(), start.segment));
    if (start.batch != batch_ || start.segment <= segment_) loaded_->counts.begin_batch();
    batch_ = start.batch;
    segment_ = start.segment;
    const std::vector<unsigned>& stages = loaded_->map.segments()[start.segment];
    loaded_->counts.begin_segment({});
    read_masks(stages, start.batch);
    sort_samples(start.segment, start.batch);
    segment_tiles_ = packet.destinations;
    lead_ = quantum_;
    counted_ = false;
    loaded_->timeline.begin_segment(start.segment, now_cycles());
    counted_ = false;
}

void StageFabric::end_segment() {
    const double now = now_cycles();
    std::vector<double> done_at(tiles_.size(), now);
    for (const unsigned stage : loaded_->map.segments()[segment_]) {
        for (const Endpoint tile : loaded_->map.stages()[stage].placement->tiles)
            done_at[tile] = std::max(done_at[tile], loaded_->timeline.done_at(stage));
    }
    for (const Endpoint tile : segment_tiles_) {
        counters_.add_segment(tile);
        PooledPayload done = control_packet(tile, ControlCode::segment_done);
        auto& message = done.extension<AdynaMessage>();
        message.segment = segment_;
        message.batch = batch_;
        depart(std::move(done), cycles(done_at[tile] - now));
    }
}

void StageFabric::refresh() {
    if (!loaded_ || counted_) return;
    counted_ = true;
    loaded_->timeline.take_work([this](const Stage& stage, std::uint32_t dyn_dim, unsigned allocation,
                                       const UnitOfBatch& of_batch, std::uint64_t units) {
        counters_.add(*stage.placement, kernels_.work(stage, dyn_dim, allocation, of_batch), units);
    });
    counters_.add(loaded_->timeline.take_spent());
    loaded_->timeline.take_waits(
        [this](std::uint16_t op_id, const OperatorTime<double>& waited) { counters_.add_waits(op_id, waited); });
    loaded_->transfers.for_each([this](Transfer& transfer) {
        if (transfer.uses > 0) counters_.add(transfer, transfer.uses);
        transfer.uses = 0;
    });
}

}  // namespace switchyard::platform
