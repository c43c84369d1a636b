// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/register_file.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {
namespace {

constexpr unsigned kRegisterBytes = 4;

bool is_set_by_model_only(RegisterFile::Access access) {
    return access == RegisterFile::Access::ro || access == RegisterFile::Access::rc;
}

bool byte_enabled(const ::tlm::tlm_generic_payload& payload, unsigned index) {
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    return !enables || enables[index % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

}  // namespace

using Register = RegisterFile::Register;

Register& Register::on_read(std::function<std::uint32_t(std::uint32_t)> hook) {
    read_hook = std::move(hook);
    return *this;
}

Register& Register::on_write(std::function<void(std::uint32_t, std::uint32_t)> hook) {
    write_hook = std::move(hook);
    return *this;
}

Register& Register::refuse_wrong_access() {
    strict = true;
    return *this;
}

Register& RegisterFile::add(std::uint64_t offset, const std::string& name, Access access, std::uint32_t reset,
                            std::uint32_t writable, const std::string& text) {
    if (offset % kRegisterBytes != 0)
        throw InputError(fmt::format("{}: register {}: expected an offset that is a multiple of 4, found {:#x}", name_,
                                     name, offset));
    if (const Entry* const other = find(offset))
        throw InputError(
            fmt::format("{}: register {}: expected an offset of no other register, found {:#x}, that of {}", name_,
                        name, offset, other->contract.name));
    if (is_set_by_model_only(access) && writable != 0)
        throw InputError(fmt::format("{}: register {}: expected no writable bits, as it is read-only, found {:#x}",
                                     name_, name, writable));
    Entry& entry = entries_[offset];
    entry.contract.offset = offset;
    entry.contract.name = name;
    entry.contract.access = access;
    entry.contract.reset = entry.value = reset;
    entry.contract.writable = writable;
    entry.contract.text = text;
    return entry.contract;
}

Register& RegisterFile::add(const Definition& definition) {
    return add(definition.offset, definition.name, definition.access, definition.reset, definition.writable,
               definition.text);
}

void RegisterFile::set_reset(std::uint64_t offset, std::uint32_t value) {
    Entry& entry = at(offset);
    entry.contract.reset = entry.value = value;
}

void RegisterFile::transport(::tlm::tlm_generic_payload& payload) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        return;
    }
    if (payload.get_streaming_width() < payload.get_data_length()) {
        payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (payload.get_byte_enable_ptr() && payload.get_byte_enable_length() == 0) {
        payload.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    const std::vector<Lane> lanes = split(payload, true);
    const ::tlm::tlm_response_status status = check(payload, lanes);
    payload.set_response_status(status);
    if (status != ::tlm::TLM_OK_RESPONSE) return;
    for (const Lane& lane : lanes) {
        if (lane.enabled == 0) continue;
        unsigned char* const data = payload.get_data_ptr() + lane.data_index;
        if (payload.is_read())
            read(lane, data);
        else
            write(lane, data);
    }
}

::tlm::tlm_response_status RegisterFile::check(const ::tlm::tlm_generic_payload& payload,
                                               const std::vector<Lane>& lanes) {
    if (lanes.empty() || lanes.back().data_index + lanes.back().bytes < payload.get_data_length())
        return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
    for (const Lane& lane : lanes) {
        const Register& contract = lane.entry->contract;
        const bool wrong = payload.is_write() ? is_set_by_model_only(contract.access) : contract.access == Access::wo;
        if (wrong && contract.strict && lane.enabled != 0) return ::tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    return ::tlm::TLM_OK_RESPONSE;
}

unsigned RegisterFile::transport_dbg(::tlm::tlm_generic_payload& payload) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return 0;
    unsigned covered = 0;
    for (const Lane& lane : split(payload, false)) {
        Entry& entry = *lane.entry;
        unsigned char* const data = payload.get_data_ptr() + lane.data_index;
        for (unsigned byte = 0; byte < lane.bytes; ++byte) {
            const unsigned shift = 8 * (lane.first_byte + byte);
            const std::uint32_t mask = entry.contract.writable & (0xFFu << shift);
            if (payload.is_read())
                data[byte] = static_cast<unsigned char>(entry.value >> shift);
            else
                entry.value = (entry.value & ~mask) | ((std::uint32_t{data[byte]} << shift) & mask);
        }
        covered += lane.bytes;
    }
    return covered;
}

std::vector<RegisterFile::Lane> RegisterFile::split(const ::tlm::tlm_generic_payload& payload, bool use_byte_enables) {
    std::vector<Lane> lanes;
    const unsigned length = payload.get_data_length();
    for (unsigned index = 0; index < length;) {
        const std::uint64_t address = payload.get_address() + index;
        Entry* const entry = find(address & ~std::uint64_t{kRegisterBytes - 1});
        if (!entry) break;
        Lane lane;
        lane.entry = entry;
        lane.first_byte = static_cast<unsigned>(address % kRegisterBytes);
        lane.bytes = std::min(kRegisterBytes - lane.first_byte, length - index);
        lane.data_index = index;
        for (unsigned byte = 0; byte < lane.bytes; ++byte) {
            if (!use_byte_enables || byte_enabled(payload, index + byte))
                lane.enabled |= 0xFFu << (8 * (lane.first_byte + byte));
        }
        lanes.push_back(lane);
        index += lane.bytes;
    }
    return lanes;
}

void RegisterFile::read(const Lane& lane, unsigned char* data) {
    Entry& entry = *lane.entry;
    const Register& contract = entry.contract;
    std::uint32_t value = contract.read_hook ? contract.read_hook(entry.value) : entry.value;
    if (contract.access == Access::wo) value = 0;
    for (unsigned byte = 0; byte < lane.bytes; ++byte) {
        const unsigned shift = 8 * (lane.first_byte + byte);
        if (lane.enabled >> shift & 0xFF) data[byte] = static_cast<unsigned char>(value >> shift);
    }
    if (contract.access == Access::rc) entry.value &= ~lane.enabled;
}

void RegisterFile::write(const Lane& lane, const unsigned char* data) {
    Entry& entry = *lane.entry;
    const Register& contract = entry.contract;
    if (is_set_by_model_only(contract.access)) return;
    std::uint32_t written = 0;
    for (unsigned byte = 0; byte < lane.bytes; ++byte)
        written |= std::uint32_t{data[byte]} << (8 * (lane.first_byte + byte));
    const std::uint32_t mask = contract.writable & lane.enabled;
    if (contract.access == Access::wo) {
        if (contract.write_hook) contract.write_hook(written & mask, lane.enabled);
        return;
    }
    if (contract.access == Access::w1c)
        entry.value &= ~(written & mask);
    else
        entry.value = (entry.value & ~mask) | (written & mask);
    if (contract.write_hook) contract.write_hook(entry.value, lane.enabled);
}

RegisterFile::Entry* RegisterFile::find(std::uint64_t offset) {
    const auto found = entries_.find(offset);
    return found == entries_.end() ? nullptr : &found->second;
}

RegisterFile::Entry& RegisterFile::at(std::uint64_t offset) {
    return const_cast<Entry&>(static_cast<const RegisterFile&>(*this).at(offset));
}

const RegisterFile::Entry& RegisterFile::at(std::uint64_t offset) const {
    const auto found = entries_.find(offset);
    if (found == entries_.end())
        throw std::out_of_range(fmt::format("{}: expected the offset of a register, found {:#x}", name_, offset));
    return found->second;
}

void RegisterFile::reset() {
    for (auto& [offset, entry] : entries_) entry.value = entry.contract.reset;
}

std::vector<Register> RegisterFile::list() const {
    std::vector<Register> registers;
    for (const auto& [offset, entry] : entries_) registers.push_back(entry.contract);
    return registers;
}

std::string RegisterFile::markdown() const {
    std::string table = fmt::format(
        "## {}\n\n| offset | name | access | reset | writable bits | |\n| --- | --- | --- | --- | --- | --- |\n",
        name_);
    for (const auto& [offset, entry] : entries_) {
        const Register& r = entry.contract;
        table += fmt::format("| `{:#05x}` | {} | {} | `{:#010x}` | `{:#010x}` | {} |\n", offset, r.name,
                             to_string(r.access), r.reset, r.writable, r.text);
    }
    return table;
}

const char* to_string(RegisterFile::Access access) {
    switch (access) {
        case RegisterFile::Access::ro:
            return "ro";
        case RegisterFile::Access::rw:
            return "rw";
        case RegisterFile::Access::wo:
            return "wo";
        case RegisterFile::Access::w1c:
            return "w1c";
        case RegisterFile::Access::rc:
            return "rc";
    }
    return "";
}

}  // namespace switchyard
