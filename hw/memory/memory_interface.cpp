#include "switchyard/hw/memory/memory_interface.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "switchyard/tlm/void_buffer.h"

namespace switchyard::hw {
namespace {

std::uint64_t ticks(double nanoseconds) {
    return sc_core::sc_time(nanoseconds, sc_core::SC_NS).value();
}

/// Of the bytes [0, end), those on pseudo-channel `channel`.
std::uint64_t bytes_before(const HbmConfig& config, std::uint64_t end, unsigned channel) {
    const std::uint64_t chunk = config.interleave_bytes;
    const std::uint64_t stripe = chunk * config.pseudo_channels_per_interface;
    const std::uint64_t rest = end % stripe, skipped = channel * chunk;
    return end / stripe * chunk + (rest > skipped ? std::min(chunk, rest - skipped) : 0);
}

}  // namespace

MemoryInterface::MemoryInterface(const sc_core::sc_module_name& module_name, const Config& config,
                                 SimulationRegistry& registry, unsigned index, Endpoint endpoint)
    : sc_module(module_name),
      in("in"),
      out("out"),
      config_(config),
      endpoint_(endpoint),
      base_(index * config.region_bytes),
      ticks_per_byte_(static_cast<double>(ticks(1)) / (config.pseudo_channel_gb_per_s * (1 - config.refresh_share))),
      cycles_per_tick_(config.clock_ghz / static_cast<double>(ticks(1)) / config.pseudo_channels_per_interface),
      read_latency_(ticks(config.read_latency_ns)),
      write_latency_(ticks(config.write_latency_ns)),
      memory_(config.region_bytes),
      pool_(std::string(name()) + ".replies"),
      queue_("due") {
    in.register_b_transport(this, &MemoryInterface::b_transport);
    in.register_transport_dbg(this, &MemoryInterface::debug_transport);

    SC_HAS_PROCESS(MemoryInterface);
    SC_METHOD(serve);
    sensitive << queue_.event();
    dont_initialize();

    registry.add(*this, "requests", "1", stats_.requests);
    registry.add(*this, "read_bytes", "bytes", stats_.read_bytes);
    registry.add(*this, "write_bytes", "bytes", stats_.write_bytes);
    registry.add(*this, "busy_cycles", "cycles", [this] { return stats_.busy_cycles; });
    registry.add(*this, "peak_bytes_per_cycle", "bytes", [this] { return config_.peak_bytes_per_cycle(); });
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
    const auto* const packet = payload.get_extension<RoutedExtension>();
    if (!packet) fail(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, "payload without a RoutedExtension");
    queue_.push(accept(payload, *packet), delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

MemoryInterface::RequestPtr MemoryInterface::accept(Payload& payload, const RoutedExtension& packet) {
    const bool read = packet.kind == PacketKind::read_request;
    if (!read && packet.kind != PacketKind::write_request)
        fail(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE,
             "packet of kind " + std::to_string(static_cast<int>(packet.kind)) + " is no request to memory");
    const std::uint64_t address = payload.get_address();
    const std::uint64_t bytes = read ? packet.requested_bytes : packet.payload_bytes;
    if (!owns(address, bytes))
        fail(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
             "address " + std::to_string(address) + " + " + std::to_string(bytes) + " lies outside " +
                 std::to_string(base_) + " + " + std::to_string(config_.region_bytes));
    if (bytes == 0) fail(payload, ::tlm::TLM_BURST_ERROR_RESPONSE, "request for no bytes");
    if (read && packet.reply_to.empty())
        fail(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, "read request without anybody to reply to");
    if (payload.get_byte_enable_ptr())
        fail(payload, ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "packets have no byte enables");
    if (!read && packet.has_values && payload.get_data_length() < bytes)
        fail(payload, ::tlm::TLM_BURST_ERROR_RESPONSE, "write request whose data array is too short");

    RequestPtr request;
    if (spare_.empty()) {
        request = std::make_unique<Request>();
    } else {
        request = std::move(spare_.back());
        spare_.pop_back();
    }
    request->arrived = false;
    request->address = address;
    request->bytes = bytes;
    request->done = 0;
    request->values.clear();
    if (!read && packet.has_values) request->values.assign(payload.get_data_ptr(), payload.get_data_ptr() + bytes);
    RoutedExtension& reply = request->reply;
    reply.kind = read ? PacketKind::data : PacketKind::write_done;
    reply.source = endpoint_;
    if (read)
        reply.destinations = packet.reply_to;
    else
        reply.destinations.assign(1, packet.source);
    reply.batch = packet.batch;
    reply.segment = packet.segment;
    reply.operator_id = packet.operator_id;
    reply.edge = packet.edge;
    reply.unit = packet.unit;
    reply.tag = packet.tag;
    reply.has_values = read && packet.has_values;
    return request;
}

void MemoryInterface::serve() {
    RequestPtr request;
    while (queue_.pop_due(request)) {
        if (request->arrived) {
            send_reply(*request);
        } else {
            start(*request);
        }
        if (request->done == request->bytes) {
            spare_.push_back(std::move(request));
        } else {
            const Tick due = next_due(*request);
            queue_.push(std::move(request), sc_core::sc_time::from_value(due - sc_core::sc_time_stamp().value()));
        }
    }
}

void MemoryInterface::start(Request& request) {
    request.arrived = true;
    ++stats_.requests;
    const Tick now = sc_core::sc_time_stamp().value();
    for (unsigned channel = 0; channel < config_.pseudo_channels_per_interface; ++channel) {
        const Tick service = service_ticks(moved(request, request.bytes, channel));
        if (service == 0) continue;
        request.turn[channel] = std::max(free_[channel], now);
        free_[channel] = request.turn[channel] + service;
        stats_.busy_cycles += static_cast<double>(service) * cycles_per_tick_;
    }
    unsigned char* const memory = stored(request.address);
    if (request.reply.kind == PacketKind::data) {
        stats_.read_bytes += request.bytes;
        if (request.reply.has_values) request.values.assign(memory, memory + request.bytes);
    } else {
        stats_.write_bytes += request.bytes;
        std::copy(request.values.begin(), request.values.end(), memory);
    }
}

std::uint64_t MemoryInterface::next_bytes(const Request& request) const {
    const std::uint64_t left = request.bytes - request.done;
    return request.reply.kind == PacketKind::data ? std::min<std::uint64_t>(left, config_.max_packet_bytes) : left;
}

MemoryInterface::Tick MemoryInterface::next_due(const Request& request) const {
    const std::uint64_t until = request.done + next_bytes(request);
    Tick passed = 0;
    for (unsigned channel = 0; channel < config_.pseudo_channels_per_interface; ++channel) {
        const std::uint64_t bytes = moved(request, until, channel);
        if (bytes > 0) passed = std::max(passed, request.turn[channel] + service_ticks(bytes));
    }
    return passed + (request.reply.kind == PacketKind::data ? read_latency_ : write_latency_);
}

std::uint64_t MemoryInterface::moved(const Request& request, std::uint64_t bytes, unsigned channel) const {
    const std::uint64_t begin = request.address - base_, end = begin + bytes, burst = config_.burst_bytes;
    return bytes_before(config_, (end + burst - 1) / burst * burst, channel) -
           bytes_before(config_, begin / burst * burst, channel);
}

MemoryInterface::Tick MemoryInterface::service_ticks(std::uint64_t bytes) const {
    return static_cast<Tick>(std::ceil(static_cast<double>(bytes) * ticks_per_byte_));
}

void MemoryInterface::send_reply(Request& request) {
    const std::uint64_t bytes = next_bytes(request);
    const bool is_data = request.reply.kind == PacketKind::data;
    PooledPayload payload(pool_);
    RoutedExtension& packet = payload.routed();
    packet = request.reply;
    packet.payload_bytes = is_data ? bytes : 0;
    const auto length = static_cast<unsigned>(is_data ? bytes : 1);
    payload->set_command(::tlm::TLM_WRITE_COMMAND);
    payload->set_address(request.address + request.done);
    if (packet.has_values) {
        const auto first = request.values.begin() + static_cast<std::ptrdiff_t>(request.done);
        packet.values.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
        payload->set_data_ptr(packet.values.data());
    } else {
        payload->set_data_ptr(void_buffer(length));
    }
    payload->set_data_length(length);
    payload->set_streaming_width(length);
    request.done += bytes;

    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->b_transport(*payload, delay);
    if (payload->is_response_error()) throw ModelError(*this, "reply refused: " + payload->get_response_string());
}

unsigned MemoryInterface::debug_transport(Payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (!owns(address, 1) || payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return 0;
    const std::uint64_t left = config_.region_bytes - (address - base_);
    const auto length = static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), left));
    unsigned char* const memory = stored(address);
    if (payload.is_read())
        std::copy(memory, memory + length, payload.get_data_ptr());
    else
        std::copy(payload.get_data_ptr(), payload.get_data_ptr() + length, memory);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return length;
}

}  // namespace switchyard::hw
