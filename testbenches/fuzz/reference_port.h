// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <tlm>

namespace switchyard::fuzz {

/// One access of a random driver.
struct Access {
    ::tlm::tlm_command command = ::tlm::TLM_READ_COMMAND;
    std::uint64_t address = 0;
    std::vector<unsigned char> data;
    std::vector<unsigned char> byte_enables;  ///< empty: none
    unsigned streaming_width = 0;
};

/// The configuration port as docs/registers.md describes it, written without any of the model's code: an array of
/// registers, two stretches of the image window, and what CONTROL, DOORBELL, DMA_CONTROL and PROFILE_TILE lead to on a
/// chip that never has an image.
class ReferencePort {
public:
    struct Chip {
        std::uint64_t platform_fingerprint = 0, memory_bytes = 0, host_memory_bytes = 0;
        unsigned tiles = 0;
    };
    explicit ReferencePort(const Chip& chip);

    /// What b_transport answers; reads fill `access.data`. Work that is started is under way afterwards.
    ::tlm::tlm_response_status transport(Access& access);
    /// As transport_dbg.
    unsigned debug(Access& access);
    void reset();

    /// Work under way that the reference knows the end of only if it is waited for...
    bool busy() const { return loading_ || transferring_ || profiling_; }
    /// ... and whether it ends soon and in a way that the reference can tell; if not, reset.
    bool predictable() const;
    /// All of it ends.
    void settle();

    bool line() const { return line_; }
    std::uint32_t value(std::uint64_t offset) const { return registers_[offset / 4]; }
    static bool exists(std::uint64_t offset);

private:
    void write_register(std::uint64_t offset, std::uint32_t value, std::uint32_t lanes);
    std::uint32_t read_register(std::uint64_t offset) const;
    void written(std::uint64_t offset, std::uint32_t value);
    void fail(std::uint32_t code, std::uint32_t info);
    void interrupt(unsigned bit);
    void update_line();
    std::uint32_t& reg(std::uint64_t offset) { return registers_[offset / 4]; }

    Chip chip_;
    std::array<std::uint32_t, 27> registers_{};
    std::map<std::uint64_t, unsigned char> window_;  ///< by offset; what is not there is 0
    bool line_ = false;
    bool loading_ = false, transferring_ = false, profiling_ = false;
    std::uint32_t image_bytes_ = 0;
    std::uint64_t transfer_host_ = 0;
    std::uint32_t transfer_bytes_ = 0;
    bool list_ = false;
};

}  // namespace switchyard::fuzz
