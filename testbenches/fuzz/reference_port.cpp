// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/fuzz/reference_port.h"

#include <algorithm>

namespace switchyard::fuzz {
namespace {

enum class Kind { none, ro, rw, wo, w1c };
struct Contract {
    Kind kind = Kind::none;
    std::uint32_t writable = 0;
};

constexpr std::uint64_t kControl = 0x10, kStatus = 0x14, kError = 0x18, kErrorInfo = 0x1C, kIrqStatus = 0x20,
                        kIrqEnable = 0x24, kImageBytes = 0x28, kDoorbell = 0x2C, kBatchDone = 0x30, kDmaHost = 0x40,
                        kDmaChip = 0x48, kDmaBytes = 0x50, kDmaControl = 0x54, kProfileTile = 0x60,
                        kImageCapacity = 0x68, kEnd = 0x6C;
constexpr std::uint64_t kWindow = 0x0100'0000, kWindowBytes = 64u << 20, kProfile = 0x0010'0000,
                        kProfileBytes = 1u << 20, kText = 0x0020'0000, kTextBytes = 4096;
constexpr std::uint32_t kLoading = 2, kDmaBusy = 16, kProfileBusy = 32, kFailed = 64;

Contract contract(std::uint64_t offset) {
    constexpr std::uint32_t kAll = 0xFFFFFFFF;
    switch (offset) {
        case kControl:
            return {Kind::wo, 0x3};
        case kIrqStatus:
            return {Kind::w1c, 0x1F};
        case kIrqEnable:
            return {Kind::rw, 0x1F};
        case kImageBytes:
        case kDmaHost:
        case kDmaHost + 4:
        case kDmaChip:
        case kDmaChip + 4:
        case kDmaBytes:
            return {Kind::rw, kAll};
        case kDoorbell:
            return {Kind::wo, kAll};
        case kDmaControl:
            return {Kind::wo, 0xF};
        case kProfileTile:
            return {Kind::rw, 0xFFFF};
        case 0x3C:
        case 0x58:
        case 0x5C:
            return {};
        default:
            return {offset % 4 == 0 && offset < kEnd ? Kind::ro : Kind::none, 0};
    }
}

bool enabled(const Access& access, std::size_t i) {
    return access.byte_enables.empty() || access.byte_enables[i % access.byte_enables.size()] == 0xFF;
}

}  // namespace

ReferencePort::ReferencePort(const Chip& chip) : chip_(chip) {
    reset();
}

bool ReferencePort::exists(std::uint64_t offset) {
    return contract(offset).kind != Kind::none;
}

void ReferencePort::reset() {
    registers_.fill(0);
    reg(0x0) = 0x4453'5359;
    reg(0x4) = 0x0002'0000;
    reg(kImageCapacity) = static_cast<std::uint32_t>(kWindowBytes);
    reg(0x8) = static_cast<std::uint32_t>(chip_.platform_fingerprint);
    reg(0xC) = static_cast<std::uint32_t>(chip_.platform_fingerprint >> 32);
    line_ = loading_ = transferring_ = profiling_ = false;
}

::tlm::tlm_response_status ReferencePort::transport(Access& access) {
    const bool ignore = access.command == ::tlm::TLM_IGNORE_COMMAND;
    const std::uint64_t length = access.data.size();
    const std::uint64_t span = ignore ? 1 : std::min<std::uint64_t>(length, access.streaming_width);
    const auto within = [&](std::uint64_t begin, std::uint64_t bytes) {
        return access.address >= begin && access.address - begin < bytes && span <= bytes - (access.address - begin);
    };
    if (within(kWindow, kWindowBytes)) {
        for (std::size_t i = 0; i < length && !ignore; ++i) {
            if (!enabled(access, i)) continue;
            const std::uint64_t at = access.address - kWindow + i % access.streaming_width;
            if (access.command == ::tlm::TLM_WRITE_COMMAND)
                window_[at] = access.data[i];
            else
                access.data[i] = window_.count(at) ? window_[at] : 0;
        }
        return ::tlm::TLM_OK_RESPONSE;
    }
    if (within(kProfile, kProfileBytes) && access.command == ::tlm::TLM_WRITE_COMMAND)
        return ::tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (!within(0, 0x1000)) return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;  // a profile never has a record here
    if (ignore) return ::tlm::TLM_OK_RESPONSE;
    if (access.streaming_width < length) return ::tlm::TLM_BURST_ERROR_RESPONSE;
    for (std::uint64_t a = access.address; a < access.address + length; ++a)
        if (!exists(a & ~std::uint64_t{3})) return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;

    for (std::uint64_t word = access.address & ~std::uint64_t{3}; word < access.address + length; word += 4) {
        std::uint32_t lanes = 0, value = 0;
        for (std::uint64_t b = 0; b < 4; ++b) {
            const std::uint64_t i = word + b - access.address;  // wraps in front of the access
            if (i >= length || !enabled(access, i)) continue;
            lanes |= 0xFFu << 8 * b;
            value |= std::uint32_t{access.data[i]} << 8 * b;
            if (access.command == ::tlm::TLM_READ_COMMAND)
                access.data[i] = static_cast<unsigned char>(read_register(word) >> 8 * b);
        }
        if (lanes != 0 && access.command == ::tlm::TLM_WRITE_COMMAND) write_register(word, value, lanes);
    }
    return ::tlm::TLM_OK_RESPONSE;
}

unsigned ReferencePort::debug(Access& access) {
    unsigned done = 0;
    if (access.command == ::tlm::TLM_IGNORE_COMMAND) return 0;
    const bool write = access.command == ::tlm::TLM_WRITE_COMMAND;
    for (; done < access.data.size(); ++done) {
        const std::uint64_t a = access.address + done;
        const std::uint64_t word = a & ~std::uint64_t{3};
        unsigned char& byte = access.data[done];
        if (access.address >= kWindow && access.address < kWindow + kWindowBytes) {
            if (a >= kWindow + kWindowBytes) break;
            if (write)
                window_[a - kWindow] = byte;
            else
                byte = window_.count(a - kWindow) ? window_[a - kWindow] : 0;
        } else if (access.address < kEnd && exists(word)) {
            const unsigned shift = 8 * (a % 4);
            const std::uint32_t mask = contract(word).writable & 0xFFu << shift;
            if (write)
                reg(word) = (reg(word) & ~mask) | (std::uint32_t{byte} << shift & mask);
            else
                byte = static_cast<unsigned char>(reg(word) >> shift);
        } else {
            break;
        }
    }
    return done;
}

std::uint32_t ReferencePort::read_register(std::uint64_t offset) const {
    return contract(offset).kind == Kind::wo ? 0 : value(offset);
}

void ReferencePort::write_register(std::uint64_t offset, std::uint32_t value, std::uint32_t lanes) {
    const Contract c = contract(offset);
    const std::uint32_t mask = c.writable & lanes;
    if (c.kind == Kind::ro) return;
    if (c.kind == Kind::rw) reg(offset) = (reg(offset) & ~mask) | (value & mask);
    if (c.kind == Kind::w1c) reg(offset) &= ~(value & mask);
    written(offset, c.kind == Kind::wo ? value & mask : reg(offset));
}

void ReferencePort::written(std::uint64_t offset, std::uint32_t value) {
    if (offset == kIrqStatus || offset == kIrqEnable) update_line();
    if (offset == kControl && value != 0) {
        if (busy()) return fail(10, 0);
        reg(kError) = reg(kErrorInfo) = 0;
        reg(kStatus) &= ~kFailed;
        if (value & 2) reg(kBatchDone) = reg(kImageBytes) = 0;
        if (value & 1) {
            loading_ = true;
            reg(kStatus) |= kLoading;
            image_bytes_ = reg(kImageBytes);
        }
    }
    if (offset == kDoorbell) fail(loading_ ? 10 : 9, 0);
    if (offset == kDmaControl && value != 0) {
        const std::uint64_t chip = reg(kDmaChip) | std::uint64_t{reg(kDmaChip + 4)} << 32;
        const std::uint64_t bytes = reg(kDmaBytes);
        const bool one_direction = (value & ~4u) == 1 || (value & ~4u) == 2;
        const bool good = one_direction && bytes > 0 && chip < chip_.memory_bytes && bytes <= chip_.memory_bytes - chip;
        const bool list = value == 8 && bytes > 0 && bytes % 32 == 0 && bytes <= 1u << 20;
        if (transferring_) return fail(11, 0);
        if (!good && !list) return fail(12, 0);
        transferring_ = true;
        list_ = list;
        reg(kStatus) |= kDmaBusy;
        transfer_host_ = reg(kDmaHost) | std::uint64_t{reg(kDmaHost + 4)} << 32;
        transfer_bytes_ = reg(kDmaBytes);
    }
    if (offset == kProfileTile) {
        if (profiling_ || loading_ || value >= chip_.tiles) return fail(14, value);
        profiling_ = true;
        reg(kStatus) |= kProfileBusy;
    }
}

bool ReferencePort::predictable() const {
    if (!transferring_) return true;
    if (transfer_bytes_ > 1u << 16) return false;
    if (list_ && transfer_host_ < chip_.host_memory_bytes) return false;  // what the descriptors say
    const std::uint64_t room = transfer_host_ < chip_.host_memory_bytes ? chip_.host_memory_bytes - transfer_host_ : 0;
    return room == 0 || room >= transfer_bytes_;  // in memory as a whole, or not at all
}

void ReferencePort::settle() {
    // Loads and transfers, which may fail, are never under way together: no burst reaches both of their registers.
    if (profiling_) {
        reg(kStatus) &= ~kProfileBusy;
        interrupt(3);
    }
    if (loading_) {
        reg(kStatus) &= ~kLoading;
        const bool too_large = image_bytes_ > kWindowBytes;
        fail(too_large ? 6 : image_bytes_ < 64 ? 1 : 5, image_bytes_);
    }
    if (transferring_) {
        reg(kStatus) &= ~kDmaBusy;
        if (transfer_host_ < chip_.host_memory_bytes)
            interrupt(2);
        else
            fail(13, 0);
    }
    loading_ = transferring_ = profiling_ = false;
}

void ReferencePort::fail(std::uint32_t code, std::uint32_t info) {
    reg(kError) = code;
    reg(kErrorInfo) = info;
    reg(kStatus) |= kFailed;
    interrupt(4);
}

void ReferencePort::interrupt(unsigned bit) {
    reg(kIrqStatus) |= 1u << bit;
    update_line();
}

void ReferencePort::update_line() {
    line_ = (reg(kIrqStatus) & reg(kIrqEnable)) != 0;
}

}  // namespace switchyard::fuzz
