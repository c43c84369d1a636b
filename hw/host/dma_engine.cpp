// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/sw_scheduler/base/bytes.h"
#include "switchyard/tlm/borrowed_extension.h"
#include "switchyard/tlm/dummy_buffer.h"

namespace switchyard::hw {

using namespace host_registers;
using sc_core::sc_time;
using sc_core::sc_time_stamp;

namespace {

constexpr std::size_t kDescriptorBytes = 32;
constexpr std::uint32_t kLongestList = 1 << 20;  // bytes

/// What host memory answered, and what helps if it answered nothing (TLM-2.0, IEEE 1666-2011, 14.17).
std::string refusal(const ::tlm::tlm_generic_payload& access, std::uint64_t address) {
    const char* const hint =
        access.get_response_status() == ::tlm::TLM_INCOMPLETE_RESPONSE
            ? ": the target sets no response status; a switchyard::ProtocolRepairAdapter in front of it "
              "does (docs/tlm.md)"
            : "";
    return fmt::format("a {} of {} bytes at {:#x} with {}{}", access.is_write() ? "write" : "read",
                       access.get_data_length(), address, access.get_response_string(), hint);
}

}  // namespace

void HostInterface::run_dma() {
    for (;;) {
        wait(dma_started_);
        if (!status(kDmaBusy)) continue;  // a reset came at the same time
        begins(kDmaActivity);
        const std::uint64_t start = sc_time_stamp().value(), to = stats_.dma_to_chip_bytes,
                            from = stats_.dma_from_chip_bytes;
        dma_refusal_.clear();
        const Transfer request = request_;  // after a reset, the registers may ask for the next one meanwhile
        const bool list = (request.bits & kDmaList) != 0;
        transfers_ = list ? fetch_list(request) : std::deque<Transfer>{request};
        const bool sound = !transfers_.empty();
        moved_ = 0;
        while (!transfers_.empty() && !dma_failed() && !discarding_) {
            if (goes(kDmaToChip))
                dma_to_chip();
            else
                dma_from_chip();
        }
        transfers_.clear();
        if (!discarding_) {
            set_status(kDmaBusy, false);
            if (dma_failed())
                fail(
                    ErrorCode::dma_host_memory, moved_,
                    fmt::format("expected host memory to answer a DMA, found after {} bytes {}", moved_, dma_refusal_));
            else if (sound)
                interrupt(kIrqDmaDone);
        }
        if (log_ != nullptr)
            log_->slice(dma_track_, "DMA", start, sc_time_stamp().value(),
                        {{"to_chip_bytes", stats_.dma_to_chip_bytes - to},
                         {"from_chip_bytes", stats_.dma_from_chip_bytes - from}});
        ends(kDmaActivity);
    }
}

std::string HostInterface::validation_error(const Transfer& transfer) const {
    const std::uint32_t direction = transfer.bits & ~kDmaSizeOnly;
    const std::uint64_t capacity = chip_.region_bytes * chip_.memory.size();
    const std::uint64_t chip = transfer.chip_address, bytes = transfer.bytes;
    if (transfer.bits == kDmaList && bytes > 0 && bytes % kDescriptorBytes == 0 && bytes <= kLongestList) return {};
    if (transfer.bits == kDmaList)
        return fmt::format("expected a list of {} bytes a descriptor and at most {} bytes, found {} bytes",
                           kDescriptorBytes, kLongestList, bytes);
    if ((direction == kDmaToChip || direction == kDmaFromChip) && bytes > 0 && chip < capacity &&
        bytes <= capacity - chip)
        return {};
    return fmt::format(
        "expected a DMA in one direction of at least 1 byte within the {:#x} bytes of HBM, found control "
        "{:#x}, {} bytes at {:#x}",
        capacity, transfer.bits, bytes, chip);
}

std::deque<HostInterface::Transfer> HostInterface::fetch_list(const Transfer& list) {
    std::vector<std::uint8_t> bytes(list.bytes);
    for (std::uint32_t done = 0; done < list.bytes && !dma_failed() && !discarding_;) {
        const std::uint32_t part = std::min(config_.dma_chunk_bytes, list.bytes - done);
        sc_time arrival;
        if (!access_host_memory(false, list.host_address + done, &bytes[done], part, true, arrival)) return {};
        wait(arrival + link_time(part));
        done += part;
    }
    std::deque<Transfer> transfers;
    ByteReader reader(bytes.data(), bytes.size());
    while (reader.remaining() > 0 && !discarding_) {
        Transfer transfer;
        std::uint64_t reserved = 0;
        reader(transfer.host_address, transfer.chip_address, transfer.bytes, transfer.bits, reserved);
        std::string wrong = (transfer.bits & kDmaList) != 0 ? "expected a transfer, found a list in a list"
                                                            : validation_error(transfer);
        if (reserved != 0) wrong = fmt::format("expected 0 in reserved bytes, found {:#x}", reserved);
        if (!wrong.empty()) {
            const auto number = static_cast<std::uint32_t>(transfers.size());
            set_status(kDmaBusy, false);
            fail(ErrorCode::dma_request, number, fmt::format("descriptor {}: {}", number, wrong));
            return {};
        }
        transfers.push_back(transfer);
    }
    return transfers;
}

bool HostInterface::goes(std::uint32_t direction) const {
    return !transfers_.empty() && (transfers_.front().bits & direction) != 0;
}

void HostInterface::dma_to_chip() {
    direction_ = kDmaToChip;
    while (goes(kDmaToChip) && !dma_failed() && !discarding_) {
        const Chunk chunk = next_chunk();
        PooledPayload write = packet(
            {memory_of(chunk.chip_address)},
            {MessageKind::data, MemoryOperation::write, ::tlm::TLM_WRITE_COMMAND, chunk.chip_address, chunk.bytes});
        if (chunk.values) carry(write, std::vector<std::uint8_t>(chunk.bytes));
        write.extension<MemoryExtension>().tag = next_tag_;
        // The engine asks for the next chunk while this one is on the link: only the first one's latency shows.
        sc_time arrival;
        if (!access_host_memory(false, chunk.host_address, write->get_data_ptr(), chunk.bytes, chunk.values, arrival))
            break;
        chunks_[next_tag_++] = chunk;
        send(write, arrival + link_time(chunk.bytes));
        stats_.dma_to_chip_bytes += chunk.bytes;
        wait(link_time(chunk.bytes));
    }
    while (!chunks_.empty()) wait(dma_answered_);
}

void HostInterface::dma_from_chip() {
    direction_ = kDmaFromChip;
    sc_time next_request = sc_time_stamp();
    link_free_ = stored_ = sc_time_stamp();
    const auto more = [this] { return goes(kDmaFromChip) && !dma_failed() && !discarding_; };
    while (more() || !chunks_.empty()) {
        if (!replies_.empty()) {
            store_reply();
        } else if (more() && next_request <= sc_time_stamp()) {
            const Chunk chunk = next_chunk();
            const PooledPayload read =
                packet({memory_of(chunk.chip_address)},
                       {MessageKind::data, MemoryOperation::read, ::tlm::TLM_READ_COMMAND, chunk.chip_address, 0});
            auto& request = read.extension<MemoryExtension>();
            request.tag = next_tag_;
            request.requested_bytes = chunk.bytes;
            request.reply_to = {chip_.host};
            read.packet().has_values = chunk.values;
            chunks_[next_tag_++] = chunk;
            next_request += link_time(chunk.bytes);
            send(read);
        } else if (more()) {
            wait(next_request - sc_time_stamp(), dma_answered_);
        } else {
            wait(dma_answered_);
        }
    }
    if (stored_ > sc_time_stamp()) wait(stored_ - sc_time_stamp());
}

void HostInterface::store_reply() {
    const PooledPayload payload = std::move(replies_.front());
    replies_.pop_front();
    const PacketExtension& reply = payload.packet();
    const auto found = chunks_.find(payload.extension<MemoryExtension>().tag);
    Chunk& chunk = found->second;
    const auto bytes = static_cast<std::uint32_t>(reply.payload_bytes);
    link_free_ = std::max(link_free_, sc_time_stamp()) + link_time(bytes);
    sc_time delay = link_free_ - sc_time_stamp();
    const std::uint64_t host_address = chunk.host_address + (payload->get_address() - chunk.chip_address);
    if (!discarding_) access_host_memory(true, host_address, payload->get_data_ptr(), bytes, reply.has_values, delay);
    stored_ = std::max(stored_, sc_time_stamp() + delay);
    stats_.dma_from_chip_bytes += bytes;
    chunk.received += bytes;
    if (chunk.received == chunk.bytes) chunks_.erase(found);
}

HostInterface::Chunk HostInterface::next_chunk() {
    Transfer& transfer = transfers_.front();
    Chunk chunk;
    chunk.host_address = transfer.host_address;
    chunk.chip_address = transfer.chip_address;
    chunk.values = (transfer.bits & kDmaSizeOnly) == 0;
    const std::uint64_t in_region = chip_.region_bytes - chunk.chip_address % chip_.region_bytes;
    chunk.bytes = static_cast<std::uint32_t>(
        std::min({std::uint64_t{config_.dma_chunk_bytes}, std::uint64_t{transfer.bytes}, in_region}));
    transfer.host_address += chunk.bytes;
    transfer.chip_address += chunk.bytes;
    transfer.bytes -= chunk.bytes;
    if (transfer.bytes == 0) transfers_.pop_front();
    return chunk;
}

bool HostInterface::access_host_memory(bool write, std::uint64_t address, unsigned char* data, std::uint32_t bytes,
                                       bool values, sc_time& delay) {
    PooledPayload access(messages_);
    access->set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    access->set_address(address);
    access->set_data_ptr(values ? data : dummy_buffer(bytes));
    access->set_data_length(bytes);
    access->set_streaming_width(bytes);
    RepeatExtension size_only;
    size_only.has_values = false;
    {
        std::optional<BorrowedExtension<RepeatExtension>> shown;
        if (!values) shown.emplace(*access, size_only);
        host_memory->b_transport(*access, delay);
    }
    if (access->is_response_ok())
        moved_ += bytes;
    else if (!dma_failed())
        dma_refusal_ = refusal(*access, address);
    return access->is_response_ok();
}

void HostInterface::dma_answer(Payload& payload, const PacketExtension& packet, const MemoryExtension& memory) {
    const auto found = chunks_.find(memory.tag);
    const bool is_data = memory.operation == MemoryOperation::read_data;
    bool expected = is_data == (direction_ == kDmaFromChip) && found != chunks_.end();
    if (expected && is_data) {
        const Chunk& chunk = found->second;
        const std::uint64_t offset = payload.get_address() - chunk.chip_address;
        expected = offset < chunk.bytes && packet.payload_bytes <= chunk.bytes - offset;
    }
    if (!expected)
        throw ModelError(*this, fmt::format("expected answers to the {} chunks of a DMA that have none, found one from "
                                            "endpoint {} with tag {}",
                                            chunks_.size(), packet.source, memory.tag));
    if (is_data) {
        replies_.push_back(PooledPayload::share(payload));
    } else {
        chunks_.erase(found);
    }
    dma_answered_.notify();
}

Endpoint HostInterface::memory_of(std::uint64_t address) const {
    return chip_.memory.at(address / chip_.region_bytes);
}

}  // namespace switchyard::hw
