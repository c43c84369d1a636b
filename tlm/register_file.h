// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tlm>

namespace switchyard {

/// 32-bit little-endian registers behind a socket. The user's constructor is the contract, one line a register, or
/// hangs hooks on what a register map defines:
///
///   registers_.add(0x10, "CONTROL", Access::rw, 0, 0x3, "bit 0: start").on_write([this](auto now, auto) {...});
///
/// An access may have any address, length and byte enables. It is served as on a bus with byte lanes: the enabled
/// bytes of each register that it touches are gathered and the register is accessed once, in order of address.
/// Reserved bits (outside the writable mask) keep their reset value whatever is written. If any byte lies in a hole,
/// the answer is TLM_ADDRESS_ERROR_RESPONSE and nothing happens; a streaming width below the data length is answered by
/// TLM_BURST_ERROR_RESPONSE.
class RegisterFile {
public:
    enum class Access {
        ro,   ///< reads the value that the model has `set`; writes are ignored
        rw,   ///< reads what was written
        wo,   ///< reads as zero
        w1c,  ///< writing 1 clears the bit, writing 0 leaves it; the model sets it
        rc    ///< reading clears the bytes that were read; writes are ignored
    };

    struct Register {
        std::uint64_t offset = 0;
        std::string name;
        Access access = Access::rw;
        std::uint32_t reset = 0;
        std::uint32_t writable = 0;  ///< mask of bits that a write (w1c: a clear) can change
        std::string text;            ///< for the register map
        /// A write to a read-only or a read of a write-only register is answered by TLM_COMMAND_ERROR_RESPONSE
        /// instead of being ignored.
        bool strict = false;
        /// Before a read: the value to show instead of the stored one. Not called by debug reads.
        std::function<std::uint32_t(std::uint32_t stored)> read_hook;
        /// After a write: the stored value (wo: the value written) and the bits of the bytes that were enabled.
        /// Not called by debug writes.
        std::function<void(std::uint32_t now, std::uint32_t enabled)> write_hook;

        Register& on_read(std::function<std::uint32_t(std::uint32_t)> hook);
        Register& on_write(std::function<void(std::uint32_t, std::uint32_t)> hook);
        Register& refuse_wrong_access();
    };

    /// A register of a register map (tlm/register_map/), as `sy-regs` writes it.
    struct Definition {
        std::uint64_t offset;
        const char* name;
        Access access;
        std::uint32_t reset, writable;
        const char* text;
    };

    /// `name` stands in errors and in the register map.
    explicit RegisterFile(std::string name) : name_(std::move(name)) {}

    /// Throws InputError, naming both registers, if the offset is taken; or if it is not a multiple of 4.
    /// `writable` of ro and rc registers must be 0.
    Register& add(std::uint64_t offset, const std::string& name, Access access, std::uint32_t reset,
                  std::uint32_t writable, const std::string& text);
    Register& add(const Definition& definition);
    /// To hang hooks on. Throws std::out_of_range for a hole.
    Register& contract(std::uint64_t offset) { return at(offset).contract; }
    /// For a register whose reset value is another in each instance; it has it at once. Throws std::out_of_range.
    void set_reset(std::uint64_t offset, std::uint32_t value);

    /// Serves a read or write at the payload's address, sets its response status and leaves its address alone.
    void transport(::tlm::tlm_generic_payload& payload);
    /// As transport_dbg: no hooks, no clearing; writes go straight to the writable bits. Returns the bytes before the
    /// first hole.
    unsigned transport_dbg(::tlm::tlm_generic_payload& payload);

    /// The model's own view, without hooks and masks. Throws std::out_of_range for a hole.
    std::uint32_t get(std::uint64_t offset) const { return at(offset).value; }
    void set(std::uint64_t offset, std::uint32_t value) { at(offset).value = value; }
    /// All registers back to their reset values.
    void reset();

    /// Sorted by offset.
    std::vector<Register> list() const;
    /// A Markdown table of `list()`.
    std::string markdown() const;

private:
    struct Entry {
        Register contract;
        std::uint32_t value = 0;
    };
    /// The part of one register that an access touches.
    struct Lane {
        Entry* entry = nullptr;
        std::uint32_t enabled = 0;  ///< mask, whole bytes
        unsigned first_byte = 0;    ///< of the register
        unsigned bytes = 0;
        unsigned data_index = 0;  ///< of `first_byte` in the data array
    };

    Entry& at(std::uint64_t offset);
    const Entry& at(std::uint64_t offset) const;
    Entry* find(std::uint64_t offset);
    /// The lanes of an access, up to the first hole.
    std::vector<Lane> split(const ::tlm::tlm_generic_payload& payload, bool use_byte_enables);
    static ::tlm::tlm_response_status check(const ::tlm::tlm_generic_payload& payload, const std::vector<Lane>& lanes);
    void read(const Lane& lane, unsigned char* data);
    void write(const Lane& lane, const unsigned char* data);

    std::string name_;
    std::map<std::uint64_t, Entry> entries_;
};

const char* to_string(RegisterFile::Access access);

}  // namespace switchyard
