// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/host/host_interface.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::hw {

using namespace host_registers;
using sc_core::sc_time;

namespace {

std::string list(const std::set<Endpoint>& tiles) {
    constexpr std::size_t kShown = 8;
    std::string text;
    std::size_t shown = 0;
    for (const Endpoint tile : tiles) {
        if (shown++ == kShown) return text + fmt::format(" and {} more", tiles.size() - kShown);
        text += (text.empty() ? "" : ", ") + std::to_string(tile);
    }
    return text;
}

}  // namespace

HostInterface::HostInterface(const sc_core::sc_module_name& module_name, const Config& host_config, const Chip& chip,
                             SimulationRegistry& registry)
    : sc_module(module_name),
      config("config"),
      host_memory("host_memory"),
      noc_out("noc_out"),
      noc_in("noc_in"),
      irq("irq"),
      reset("reset"),
      config_(host_config),
      chip_(chip),
      clock_(host_config.clock_ghz),
      registers_(name()),
      image_window_(host_config.image_window_bytes),
      packets_(std::string(name()) + ".packets"),
      messages_(std::string(name()) + ".messages"),
      at_(
          "at", {host_config.port_requests, host_config.port_completes_early},
          [this](Payload& payload, sc_time& delay) { config_transport(payload, delay); },
          [this](Payload& payload, ::tlm::tlm_phase& phase, sc_time& delay) {
              return config->nb_transport_bw(payload, phase, delay);
          }),
      arrivals_("arrivals"),
      irq_changed_("irq_changed"),
      job_started_("job_started"),
      tile_answered_("tile_answered"),
      profile_started_("profile_started"),
      profile_arrived_("profile_arrived"),
      dma_started_("dma_started"),
      dma_answered_("dma_answered") {
    define_windows();
    define_registers();

    config.register_b_transport(this, &HostInterface::config_transport);
    config.register_nb_transport_fw(this, &HostInterface::config_forward);
    config.register_transport_dbg(this, &HostInterface::config_debug);
    config.register_get_direct_mem_ptr(this, &HostInterface::config_dmi);
    noc_in.register_b_transport(this, &HostInterface::noc_transport);

    SWITCHYARD_HAS_PROCESS(HostInterface);
    SC_THREAD(run_jobs);
    SC_THREAD(run_profiles);
    SC_THREAD(run_dma);
    SC_METHOD(receive);
    sensitive << arrivals_.event();
    dont_initialize();
    SC_METHOD(drive_interrupt);
    sensitive << irq_changed_;
    SC_METHOD(reset_changed);
    sensitive << reset;

    registry.add(*this, "images_loaded", "1", stats_.images_loaded);
    registry.add(*this, "batches", "1", stats_.batches);
    registry.add(*this, "segments", "1", stats_.segments);
    registry.add(*this, "busy_cycles", "cycles", stats_.busy_cycles);
    registry.add(*this, "config_bytes", "bytes", stats_.config_bytes);
    registry.add(*this, "dma_to_chip_bytes", "bytes", stats_.dma_to_chip_bytes);
    registry.add(*this, "dma_from_chip_bytes", "bytes", stats_.dma_from_chip_bytes);
    registry.add(*this, "packets_sent", "1", stats_.packets_sent);
    registry.add(*this, "packets_received", "1", stats_.packets_received);
    registry.add_waiter(*this, [this] { return waits(); });
    if (log_ != nullptr) {
        segments_track_ = log_->track("chip", "segments");
        dma_track_ = log_->track("DMA", "DMA engine");
        profiles_track_ = log_->track("chip", "profiles");
    }
    registry.time_uses().segments = [this] {
        std::vector<SegmentTime> times;
        for (const auto& [segment, cycles] : segment_cycles_) times.push_back({segment.first, segment.second, cycles});
        return times;
    };
}

void HostInterface::noc_transport(Payload& payload, sc_time& delay) {
    arrivals_.push(PooledPayload::share(payload), delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void HostInterface::receive() {
    PooledPayload payload;
    while (arrivals_.pop_due(payload)) {
        ++stats_.packets_received;
        receive(*payload);
    }
}

void HostInterface::receive(Payload& payload) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    const auto* const memory = payload.get_extension<MemoryExtension>();
    if (memory &&
        (memory->operation == MemoryOperation::read_data || memory->operation == MemoryOperation::write_done)) {
        dma_answer(payload, packet, *memory);
        return;
    }
    const auto* const message = payload.get_extension<AdynaMessage>();
    if (message && message->kind == MessageKind::control) {
        receive_control(packet, *message);
    } else if (message && message->kind == MessageKind::config) {
        if (!(activities_ & kProfileActivity) || packet.source != profile_tile_ || !packet.has_values)
            throw ModelError(
                *this, fmt::format("expected {}, found one from endpoint {}{}",
                                   activities_ & kProfileActivity ? fmt::format("a profile of tile {}", profile_tile_)
                                                                  : std::string("no profile"),
                                   packet.source, packet.has_values ? "" : " without values"));
        if (!discarding_) profile_.assign(payload.get_data_ptr(), payload.get_data_ptr() + packet.payload_bytes);
        profile_arrived_.notify();
    } else {
        throw ModelError(*this,
                         fmt::format("expected a packet of kind control or config, found one {} from endpoint {}",
                                     message ? fmt::format("of kind {}", static_cast<unsigned>(message->kind))
                                             : std::string("without a message"),
                                     packet.source));
    }
}

void HostInterface::receive_control(const PacketExtension& packet, const AdynaMessage& message) {
    const auto code = static_cast<ControlCode>(message.control);
    const bool answers_load = code == ControlCode::program_ready || code == ControlCode::program_error;
    const bool answers_segment =
        code == ControlCode::segment_done && message.batch == batch_ && message.segment == segment_;
    const bool expected = (job_ == Job::load && answers_load) || (job_ == Job::batch && answers_segment);
    if (!expected || pending_tiles_.erase(packet.source) == 0) {
        throw ModelError(*this,
                         fmt::format("expected {}, found control packet {} from endpoint {} (batch {}, segment {})",
                                     job_ == Job::load    ? std::string("a tile's answer to its program")
                                     : job_ == Job::batch ? fmt::format("the end of segment {} of batch {} once from "
                                                                        "each tile",
                                                                        segment_, batch_)
                                                          : std::string("no control packet"),
                                     message.control, packet.source, message.batch, message.segment));
    }
    if (code == ControlCode::program_error) rejecting_tiles_.insert(packet.source);
    if (pending_tiles_.empty()) tile_answered_.notify();
}

PooledPayload HostInterface::packet(std::vector<Endpoint> destinations, const Contents& contents) {
    PooledPayload payload(packets_);
    PacketExtension& packet = payload.packet();
    packet.source = chip_.host;
    packet.destinations = std::move(destinations);
    packet.traffic = contents.operation == MemoryOperation::read ? TrafficClass::control : TrafficClass::data;
    packet.payload_bytes = contents.bytes;
    payload.extension<MemoryExtension>().operation = contents.operation;
    payload.extension<AdynaMessage>().kind = contents.kind;
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(contents.bytes, 1));
    payload->set_command(contents.command);
    payload->set_address(contents.address);
    payload->set_data_ptr(dummy_buffer(length));
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    return payload;
}

void HostInterface::carry(PooledPayload& payload, std::vector<std::uint8_t> values) {
    PacketExtension& packet = payload.packet();
    packet.has_values = true;
    packet.values = std::move(values);
    payload->set_data_ptr(packet.values.data());
}

void HostInterface::send(const PooledPayload& packet, const sc_time& after) {
    sc_time delay = after;
    ++stats_.packets_sent;
    noc_out->b_transport(*packet, delay);
    if (!packet->is_response_ok())
        throw ModelError(*this, "expected the network to take a packet, found " + packet->get_response_string());
}

sc_time HostInterface::link_time(std::uint64_t bytes) const {
    return clock_.cycles(whole_time(static_cast<double>(bytes) / config_.link_bytes_per_cycle, "cycles",
                                    "bytes on the host link", WholeTime::up));
}

void HostInterface::drive_interrupt() {
    const sc_time now = sc_core::sc_time_stamp();
    if (std::exchange(irq_rearms_, false))
        irq_low_until_ = now + nanoseconds(config_.interrupt_rearm_ns, "interrupt_rearm_ns");
    const bool pending = (registers_.get(kIrqStatus) & registers_.get(kIrqEnable)) != 0;
    irq.write(pending && now >= irq_low_until_);
    if (pending && now < irq_low_until_) irq_changed_.notify(irq_low_until_ - now);
}

void HostInterface::say(const std::string& what, const std::string& text) const {
    if (sc_core::sc_report_handler::get_verbosity_level() < sc_core::SC_HIGH) return;
    SC_REPORT_INFO_VERB(("switchyard/host_interface/" + what).c_str(), (std::string(name()) + ": " + text).c_str(),
                        sc_core::SC_HIGH);
}

std::string HostInterface::waits() const {
    std::vector<std::string> reasons;
    if (job_ == Job::load) reasons.push_back(fmt::format("program_ready from tiles {}", list(pending_tiles_)));
    if (job_ == Job::batch)
        reasons.push_back(
            fmt::format("segment {} of batch {}: segment_done from tiles {}", segment_, batch_, list(pending_tiles_)));
    if (status(kDmaBusy)) reasons.push_back(fmt::format("DMA: answers of memory for {} chunks", chunks_.size()));
    if (status(kProfileBusy)) reasons.push_back(fmt::format("the profile of tile {}", profile_tile_));
    return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace switchyard::hw
