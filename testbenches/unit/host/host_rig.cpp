// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/host/host_rig.h"

#include <algorithm>
#include <cstring>

#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/memory_access.h"

namespace switchyard::testing {

FakeChip::FakeChip(const sc_core::sc_module_name& module_name)
    : sc_module(module_name), from_host("from_host"), to_host("to_host") {
    from_host.register_b_transport(this, &FakeChip::b_transport);
    SWITCHYARD_HAS_PROCESS(FakeChip);
    SC_THREAD(run);
}

FakeChip::~FakeChip() = default;

void FakeChip::b_transport(Payload& payload, sc_core::sc_time& delay) {
    payload.acquire();
    delay += ns(kNetworkNs);
    queue_.push({&payload, false}, delay);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void FakeChip::run() {
    for (;;) {
        Item item;
        while (queue_.pop_due(item)) {
            if (item.outgoing) {
                sc_core::sc_time delay = ns(kNetworkNs);
                to_host->b_transport(*item.payload, delay);
            } else {
                arrive(*item.payload, *item.payload->get_extension<PacketExtension>());
            }
            item.payload->release();
        }
        wait(queue_.event());
    }
}

void FakeChip::arrive(Payload& payload, const PacketExtension& packet) {
    REQUIRE(packet.source == kHost);
    const auto& request = *payload.get_extension<MemoryExtension>();
    const auto& message = *payload.get_extension<AdynaMessage>();
    if (request.operation == MemoryOperation::read) {
        CHECK(packet.traffic == TrafficClass::control);
        serve_read(payload, packet, request);
    } else if (request.operation == MemoryOperation::write) {
        CHECK(packet.destinations == std::vector<Endpoint>{Endpoint(kTiles + payload.get_address() / kRegion)});
        CHECK(payload.get_data_length() == packet.payload_bytes);
        write_sizes.push_back(payload.get_data_length());
        writes_had_values.push_back(packet.has_values);
        write_times.push_back(sc_core::sc_time_stamp());
        if (packet.has_values)
            std::copy_n(payload.get_data_ptr(), payload.get_data_length(), &hbm[payload.get_address()]);
        PooledPayload done = reply(MemoryOperation::write_done, packet.destinations[0], request.tag, {});
        send(done, ns(kMemoryNs));
    } else if (message.kind == MessageKind::config) {
        configure(payload, packet);
    } else if (message.kind == MessageKind::control) {
        starts.push_back({message.batch, message.segment, packet.destinations, sc_core::sc_time_stamp()});
        for (const Endpoint tile : packet.destinations)
            if (!silent.count(tile))
                send_control(tile, ControlCode::segment_done, message.batch, message.segment, tile_delay[tile]);
    } else {
        FAIL("a packet of another kind");
    }
}

void FakeChip::configure(Payload& payload, const PacketExtension& packet) {
    const Endpoint tile = packet.destinations.at(0);
    if (payload.is_read()) {
        CHECK(payload.get_address() == kTileProfileRead);
        std::vector<std::uint8_t> bytes(profile.size() * sizeof(ProfileRecord));
        if (!bytes.empty()) std::memcpy(bytes.data(), profile.data(), bytes.size());
        PooledPayload answer = this->packet(tile, bytes);
        answer.extension<AdynaMessage>().kind = MessageKind::config;
        if (!silent.count(tile)) send(answer, sc_core::SC_ZERO_TIME);
        return;
    }
    REQUIRE(packet.has_values);
    CHECK(packet.payload_bytes == payload.get_data_length());
    std::vector<std::uint8_t>& window = windows_[tile];
    if (payload.get_address() < kTileProgramCommit) {
        config_sizes.push_back(payload.get_data_length());
        window.resize(std::max<std::size_t>(window.size(), payload.get_address() + payload.get_data_length()));
        std::copy_n(payload.get_data_ptr(), payload.get_data_length(), &window[payload.get_address()]);
        return;
    }
    CHECK(payload.get_address() == kTileProgramCommit);
    std::uint32_t size = 0;
    std::memcpy(&size, payload.get_data_ptr(), sizeof size);
    CHECK(size == window.size());
    programs[tile] = decode_tile_program(window.data(), size);
    window.clear();
    if (silent.count(tile)) return;
    const ControlCode code = rejecting.count(tile) ? ControlCode::program_error : ControlCode::program_ready;
    send_control(tile, code, 0, 0, tile_delay[tile]);
}

void FakeChip::serve_read(Payload& payload, const PacketExtension& packet, const MemoryExtension& request) {
    CHECK(request.reply_to == std::vector<Endpoint>{kHost});
    read_sizes.push_back(static_cast<std::uint32_t>(request.requested_bytes));
    reads_wanted_values.push_back(packet.has_values);
    for (std::uint64_t offset = 0; offset < request.requested_bytes; offset += kReplyBytes) {
        const std::uint64_t address = payload.get_address() + offset;
        const std::uint64_t bytes = std::min<std::uint64_t>(kReplyBytes, request.requested_bytes - offset);
        PooledPayload data = reply(MemoryOperation::read_data, packet.destinations[0], request.tag,
                                   {&hbm[address], &hbm[address] + bytes});
        data.packet().has_values = packet.has_values;
        data->set_address(address);
        send(data, ns(kMemoryNs));
    }
}

PooledPayload FakeChip::packet(Endpoint source, std::vector<std::uint8_t> values) {
    PooledPayload payload(pool_);
    PacketExtension& packet = payload.packet();
    packet.source = source;
    packet.destinations = {kHost};
    packet.has_values = true;
    packet.payload_bytes = values.size();
    packet.values = std::move(values);
    packet.values.resize(std::max<std::size_t>(packet.values.size(), 1));
    payload->set_write();
    payload->set_data_ptr(packet.values.data());
    payload->set_data_length(static_cast<unsigned>(packet.values.size()));
    payload->set_streaming_width(payload->get_data_length());
    return payload;
}

PooledPayload FakeChip::reply(MemoryOperation operation, Endpoint source, std::uint32_t tag,
                              std::vector<std::uint8_t> values) {
    PooledPayload payload = packet(source, std::move(values));
    payload.extension<MemoryExtension>().operation = operation;
    payload.extension<MemoryExtension>().tag = tag;
    return payload;
}

void FakeChip::send(PooledPayload& packet, const sc_core::sc_time& delay) {
    packet->acquire();
    queue_.push({&*packet, true}, delay);
}

void FakeChip::send_control(Endpoint tile, ControlCode code, std::uint32_t batch, std::uint16_t segment,
                            const sc_core::sc_time& delay) {
    PooledPayload payload = packet(tile, {});
    auto& message = payload.extension<AdynaMessage>();
    message.kind = MessageKind::control;
    message.control = static_cast<std::uint32_t>(code);
    message.batch = batch;
    message.segment = segment;
    send(payload, delay);
}

namespace {

hw::HostInterface::Chip chip_around() {
    hw::HostInterface::Chip chip;
    chip.platform_fingerprint = small_image().platform_fingerprint;
    chip.tiles = FakeChip::kTiles;
    for (unsigned i = 0; i < FakeChip::kInterfaces; ++i)
        chip.memory.push_back(static_cast<Endpoint>(FakeChip::kTiles + i));
    chip.region_bytes = FakeChip::kRegion;
    chip.host = FakeChip::kHost;
    return chip;
}

}  // namespace

HostRig::HostRig(const hw::HostInterface::Config& config, const sc_core::sc_module_name& module_name)
    : sc_module(module_name), chip("chip"), host("host", config, chip_around(), registry) {
    memory_.register_b_transport(this, &HostRig::memory_transport);
    config_.bind(config_checker_.target_socket);
    config_checker_.initiator_socket.bind(host.config);
    host.host_memory.bind(memory_checker.target_socket);
    memory_checker.initiator_socket.bind(memory_);
    host.noc_out.bind(out_checker_.target_socket);
    out_checker_.initiator_socket.bind(chip.from_host);
    chip.to_host.bind(in_checker_.target_socket);
    in_checker_.initiator_socket.bind(host.noc_in);
    host.irq(irq);
    SWITCHYARD_HAS_PROCESS(HostRig);
    SC_THREAD(thread);
}

void HostRig::run(std::function<void(HostRig&)> driver) {
    driver_ = std::move(driver);
    sc_core::sc_start();
}

void HostRig::thread() {
    driver_(*this);
}

::tlm::tlm_response_status HostRig::access(::tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                           unsigned bytes) {
    Payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_core::sc_time delay;
    config_->b_transport(payload, delay);
    wait(delay);
    return payload.get_response_status();
}

unsigned HostRig::debug(::tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned bytes) {
    Payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    return config_->transport_dbg(payload);
}

std::uint32_t HostRig::read(std::uint64_t offset) {
    unsigned char data[4];
    REQUIRE(access(::tlm::TLM_READ_COMMAND, offset, data, 4) == ::tlm::TLM_OK_RESPONSE);
    return data[0] | data[1] << 8 | data[2] << 16 | std::uint32_t{data[3]} << 24;
}

void HostRig::write(std::uint64_t offset, std::uint32_t value) {
    unsigned char data[4];
    for (unsigned byte = 0; byte < 4; ++byte) data[byte] = static_cast<unsigned char>(value >> 8 * byte);
    REQUIRE(access(::tlm::TLM_WRITE_COMMAND, offset, data, 4) == ::tlm::TLM_OK_RESPONSE);
}

void HostRig::put_image(const std::vector<std::uint8_t>& bytes, unsigned burst) {
    std::vector<std::uint8_t> data = bytes;
    for (std::size_t begin = 0; begin < data.size(); begin += burst) {
        const auto length = static_cast<unsigned>(std::min<std::size_t>(burst, data.size() - begin));
        REQUIRE(access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow + begin, &data[begin], length) ==
                ::tlm::TLM_OK_RESPONSE);
    }
    write(regs::kImageBytes, static_cast<std::uint32_t>(data.size()));
}

std::uint32_t HostRig::commit() {
    write(regs::kControl, regs::kCommitImage);
    return wait_for_interrupt();
}

std::uint32_t HostRig::wait_for_interrupt() {
    write(regs::kIrqEnable, regs::kIrqAll);
    while (!irq.read()) wait(irq.value_changed_event());
    const std::uint32_t status = read(regs::kIrqStatus);
    write(regs::kIrqStatus, status);
    wait(ns(1));
    return status;
}

void HostRig::start_dma(std::uint64_t host_address, std::uint64_t chip_address, std::uint32_t bytes,
                        std::uint32_t control) {
    write(regs::kDmaHostLow, static_cast<std::uint32_t>(host_address));
    write(regs::kDmaHostHigh, static_cast<std::uint32_t>(host_address >> 32));
    write(regs::kDmaChipLow, static_cast<std::uint32_t>(chip_address));
    write(regs::kDmaChipHigh, static_cast<std::uint32_t>(chip_address >> 32));
    write(regs::kDmaBytes, bytes);
    write(regs::kDmaControl, control);
}

std::string HostRig::error_text() {
    char text[regs::kErrorTextWindowBytes] = {};
    debug(::tlm::TLM_READ_COMMAND, regs::kErrorTextWindow, reinterpret_cast<unsigned char*>(text), sizeof text);
    return text;
}

void HostRig::memory_transport(Payload& payload, sc_core::sc_time& delay) {
    const auto* const repeat = payload.get_extension<RepeatExtension>();
    const bool has_values = !repeat || repeat->has_values;
    memory_accesses_had_values.push_back(has_values);
    delay += ns(kMemoryLatencyNs);
    if (!memory_sets_status) return;
    if (payload.get_address() + payload.get_data_length() > memory.size())
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    else if (has_values)
        payload.set_response_status(access_memory(payload, &memory[payload.get_address()]));
    else
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

Image host_image() {
    Image image = small_image();
    image.chip.segments.push_back({2, 4, {1}});
    for (TileOperator& op : image.tiles[1].operators)
        if (op.op_id == 2) op.segment = 1;
    for (TileProgram& program : image.tiles)
        for (OperatorPlacement& placement : program.placements)
            if (placement.op_id == 2) placement.segment = 1;
    TileProgram idle;
    idle.tile = 2;
    image.tiles.push_back(idle);
    return image;
}

}  // namespace switchyard::testing
