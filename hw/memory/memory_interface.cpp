// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/memory_interface.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::hw {

namespace {

std::string outside(std::uint64_t base, std::uint64_t region_bytes, std::uint64_t address, std::uint64_t bytes) {
    return fmt::format("expected addresses of the {} bytes from {:#x}, found {} bytes from {:#x}", region_bytes, base,
                       bytes, address);
}

}  // namespace

MemoryInterface::MemoryInterface(const sc_core::sc_module_name& module_name, const Config& config,
                                 const BankCosts& costs, const dram::Device* device, SimulationRegistry& registry,
                                 unsigned index, Endpoint endpoint)
    : sc_module(module_name),
      in("in"),
      out("out"),
      config_(config),
      endpoint_(endpoint),
      base_(index * config.region_bytes),
      bandwidth_(config, costs, ticks_per_ns()),
      banks_(device ? std::make_unique<TimedDram>(*device, config.check_timing, ticks_per_ns()) : nullptr),
      lookahead_bytes_(lookahead_bytes(config, device)),
      memory_(config.region_bytes),
      pool_(std::string(name()) + ".replies"),
      queue_("due") {
    in.register_b_transport(this, &MemoryInterface::b_transport);
    in.register_transport_dbg(this, &MemoryInterface::debug_transport);

    SWITCHYARD_HAS_PROCESS(MemoryInterface);
    SC_THREAD(serve);
    sensitive << queue_.event() << banks_event_;

    register_counters(registry, this->name(), kCounters, [this] { return stats(); });
    registry.add(*this, "peak_bytes_per_cycle", "bytes", [this] { return config_.peak_bytes_per_cycle(); });
    if (banks_) {
        const auto count = [&](const char* counter, std::uint64_t dram::ChannelStats::*value) {
            registry.add(*this, counter, "1", [this, value] { return static_cast<double>(banks_->stats().*value); });
        };
        count("bursts_read", &dram::ChannelStats::reads);
        count("bursts_written", &dram::ChannelStats::writes);
        count("row_hits", &dram::ChannelStats::row_hits);
        count("activates", &dram::ChannelStats::activates);
        count("refreshes", &dram::ChannelStats::refreshes);
        count("turnarounds", &dram::ChannelStats::turnarounds);
    }
    if (ActivityLog* const log = ActivityLog::current(); log != nullptr && !banks_)
        bandwidth_.open_log(*log, "interface_" + std::to_string(index));
    if (!config.request_log.empty()) {
        const std::string path = config.request_log + "." + std::to_string(index) + ".csv";
        log_.emplace(path);
        log_->stream().precision(15);
        log_->stream() << "time_ns,operation,address,bytes\n";
    }
}

void MemoryInterface::fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const {
    payload.set_response_status(status);
    throw ModelError(*this, message);
}

bool MemoryInterface::owns(std::uint64_t address, std::uint64_t bytes) const {
    return address >= base_ && address - base_ < config_.region_bytes &&
           bytes <= config_.region_bytes - (address - base_);
}

void MemoryInterface::b_transport(Payload& payload, sc_core::sc_time& delay) {
    const auto* const packet = payload.get_extension<PacketExtension>();
    const auto* const asked = payload.get_extension<MemoryExtension>();
    if (!packet) fail(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, "expected a PacketExtension, found none");
    if (!asked || (asked->operation != MemoryOperation::read && asked->operation != MemoryOperation::write))
        fail(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE,
             fmt::format("expected a request to read or write, found {} from endpoint {}",
                         asked ? fmt::format("operation {}", static_cast<unsigned>(asked->operation))
                               : std::string("a packet without a request"),
                         packet->source));
    Request& request = accept(payload, *packet, *asked);
    if (log_) log(request, delay);
    queue_.push(&request, delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

MemoryInterface::Request& MemoryInterface::accept(Payload& payload, const PacketExtension& packet,
                                                  const MemoryExtension& asked) {
    const bool read = asked.operation == MemoryOperation::read;
    const std::uint64_t address = payload.get_address();
    const std::uint64_t bytes = read ? asked.requested_bytes : packet.payload_bytes;
    if (!owns(address, bytes))
        fail(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE, outside(base_, config_.region_bytes, address, bytes));
    if (bytes == 0) fail(payload, ::tlm::TLM_BURST_ERROR_RESPONSE, "expected a request of at least 1 byte, found 0");
    if (read && asked.reply_to.empty())
        fail(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, "expected an endpoint in reply_to of a read, found none");
    if (payload.get_byte_enable_ptr())
        fail(payload, ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
             fmt::format("expected a packet without byte enables, found {}", payload.get_byte_enable_length()));
    if (!read && packet.has_values && payload.get_data_length() < bytes)
        fail(payload, ::tlm::TLM_BURST_ERROR_RESPONSE,
             fmt::format("expected a write with a data array of {} bytes, found {}", bytes, payload.get_data_length()));

    if (spare_.empty()) {
        spare_.push_back(&requests_.emplace_back());
        spare_.back()->number = static_cast<std::uint32_t>(requests_.size() - 1);
    }
    Request& request = *spare_.back();
    spare_.pop_back();
    request.arrived = false;
    request.address = address;
    request.bytes = bytes;
    request.given = request.done = 0;
    request.progress = {};
    if (banks_) request.completed.assign(lookahead_bytes_ / config_.max_packet_bytes + 2, 0);
    request.values.clear();
    if (!read && packet.has_values) request.values.assign(payload.get_data_ptr(), payload.get_data_ptr() + bytes);
    request.read = read;
    request.has_values = read && packet.has_values;
    request.tag = asked.tag;
    if (read)
        request.destinations = asked.reply_to;
    else
        request.destinations.assign(1, packet.source);
    request.sender.take(payload);
    request.runs = asked.runs;
    if (request.runs) {
        std::uint64_t sum = 0;
        for (const MemoryRun& run : *request.runs) {
            sum += run.bytes;
            if (!owns(run.address, run.bytes))
                fail(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                     outside(base_, config_.region_bytes, run.address, run.bytes));
        }
        if (sum != bytes)
            fail(payload, ::tlm::TLM_BURST_ERROR_RESPONSE,
                 fmt::format("expected runs of the request's {} bytes, found {}", bytes, sum));
    }
    return request;
}

MemoryInterface::Stats MemoryInterface::stats() const {
    Stats stats = stats_;
    stats.busy_cycles = banks_ ? banks_->busy_ns() * config_.clock_ghz : bandwidth_.busy_cycles();
    return stats;
}

void MemoryInterface::log(const Request& request, const sc_core::sc_time& delay) {
    log_->stream() << ((sc_core::sc_time_stamp() + delay) / sc_core::sc_time(1, sc_core::SC_NS)) << ','
                   << (request.read ? 'R' : 'W') << ',' << request.address - base_ << ',' << request.bytes << '\n';
}

void MemoryInterface::finish_log() {
    if (log_) log_->commit();
    log_.reset();
}

MemoryInterface::~MemoryInterface() {
    if (std::uncaught_exceptions() > 0) return;
    try {
        finish_log();
    } catch (const InputError& error) {
        SC_REPORT_WARNING("switchyard/memory", error.what());
    }
}

void MemoryInterface::serve() {
    for (;; wait()) {
        if (banks_) take_completed_chunks();
        Request* request = nullptr;
        while (queue_.pop_due(request)) {
            if (request->arrived) {
                finish_chunk(*request);
            } else {
                start(*request);
            }
            reserve(*request);
            if (request->done == request->bytes) spare_.push_back(request);
        }
        if (banks_) await_banks();
    }
}

void MemoryInterface::take_completed_chunks() {
    const Tick now = sc_core::sc_time_stamp().value();
    banks_->advance(now);
    std::uint64_t owner = 0;
    while (banks_->pop(now, owner)) {
        Request& request = requests_[owner >> 32];
        const std::size_t window = request.completed.size();
        request.completed[static_cast<std::uint32_t>(owner) % window] = 1;
        const auto next_is_complete = [&] {
            return request.done < request.bytes &&
                   request.completed[request.done / config_.max_packet_bytes % window] != 0;
        };
        while (next_is_complete()) {
            request.completed[request.done / config_.max_packet_bytes % window] = 0;
            finish_chunk(request);
        }
        reserve(request);
        if (request.done == request.bytes) spare_.push_back(&request);
    }
}

void MemoryInterface::await_banks() {
    const Tick now = sc_core::sc_time_stamp().value(), next = banks_->next(now);
    banks_event_.cancel();
    if (next != TimedDram::kNever) banks_event_.notify(sc_core::sc_time::from_value(next - now));
}

template <class Visit>
void MemoryInterface::for_each_run(const Request& request, Visit&& visit) {
    if (!request.runs) {
        visit(request.address - base_, request.bytes);
        return;
    }
    for (const MemoryRun& run : *request.runs) visit(run.address - base_, run.bytes);
}

void MemoryInterface::start(Request& request) {
    request.arrived = true;
    ++stats_.requests;
    if (request.read) {
        if (!request.has_values) return;
        request.values.reserve(request.bytes);
        for_each_run(request, [this, &request](std::uint64_t at, std::uint64_t bytes) {
            request.values.resize(request.values.size() + bytes);
            memory_.read(at, request.values.data() + request.values.size() - bytes, bytes);
        });
    } else if (!request.values.empty()) {
        const unsigned char* next = request.values.data();
        for_each_run(request, [this, &next](std::uint64_t at, std::uint64_t bytes) {
            memory_.write(at, next, bytes);
            next += bytes;
        });
    }
}

std::uint64_t MemoryInterface::lookahead_bytes(const Config& config, const dram::Device* device) {
    double latency_ns = std::max(config.read_latency_ns, config.write_latency_ns);
    if (device) {
        const dram::Timing& timing = device->timing;
        latency_ns = timing.ns(timing.trc_cycles + timing.trcd_read_cycles + timing.tcl_cycles);
    }
    const double bytes_per_ns =
        config.pseudo_channels_per_interface * config.pseudo_channel_gb_per_s * (1 - config.refresh_share);
    return config.max_packet_bytes + static_cast<std::uint64_t>(std::ceil(latency_ns * bytes_per_ns)) +
           std::uint64_t{config.interleave_bytes} * config.pseudo_channels_per_interface;
}

std::uint64_t MemoryInterface::chunk_bytes(const Request& request, std::uint64_t begin) const {
    return std::min<std::uint64_t>(request.bytes - begin, config_.max_packet_bytes);
}

void MemoryInterface::reserve(Request& request) {
    const Tick now = sc_core::sc_time_stamp().value();
    const std::uint64_t begin = request.address - base_;
    while (request.given < request.bytes && request.given - request.done < lookahead_bytes_) {
        const std::uint64_t first = request.given;
        request.given += chunk_bytes(request, first);
        if (banks_) {
            const std::uint64_t owner = std::uint64_t{request.number} << 32 | (first / config_.max_packet_bytes);
            banks_->submit(begin + first, request.given - first, !request.read, now, owner);
        } else {
            bandwidth_.place(request.progress, begin, begin + request.given, !request.read, now);
            queue_.push(&request, sc_core::sc_time::from_value(request.progress.ready - now));
        }
    }
}

void MemoryInterface::finish_chunk(Request& request) {
    const std::uint64_t bytes = chunk_bytes(request, request.done);
    (request.read ? stats_.read_bytes : stats_.write_bytes) += bytes;
    if (request.read) {
        send_reply(request, bytes);
    } else if (request.done + bytes == request.bytes) {
        send_reply(request, 0);
    }
    request.done += bytes;
}

void MemoryInterface::send_reply(Request& request, std::uint64_t bytes) {
    PooledPayload payload(pool_);
    PacketExtension& packet = payload.packet();
    packet.source = endpoint_;
    packet.destinations = request.destinations;
    packet.traffic = request.read ? TrafficClass::data : TrafficClass::control;
    packet.payload_bytes = bytes;
    packet.has_values = request.has_values;
    auto& reply = payload.extension<MemoryExtension>();
    reply.operation = request.read ? MemoryOperation::read_data : MemoryOperation::write_done;
    reply.tag = request.tag;
    reply.first_byte = request.done;
    payload.extension<SenderExtensions>().show(request.sender, *payload);
    const auto length = static_cast<unsigned>(std::max<std::uint64_t>(bytes, 1));
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_address(request.address + request.done);
    if (packet.has_values) {
        const auto first = request.values.begin() + static_cast<std::ptrdiff_t>(request.done);
        packet.values.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
        payload->set_data_ptr(packet.values.data());
    } else {
        payload->set_data_ptr(dummy_buffer(length));
    }
    payload->set_data_length(length);
    payload->set_streaming_width(length);

    packet.sent_at = sc_core::sc_time_stamp();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->b_transport(*payload, delay);
    if (payload->is_response_error())
        throw ModelError(*this, "expected the network to take a reply, found " + payload->get_response_string());
}

unsigned MemoryInterface::debug_transport(Payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (!owns(address, 1)) return 0;
    return debug_access_memory(payload, memory_, address - base_);
}

}  // namespace switchyard::hw
