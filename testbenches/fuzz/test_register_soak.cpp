// SPDX-License-Identifier: Apache-2.0
// Random accesses to the configuration port against a reference of the register map: address, length, byte enables,
// streaming width, command, debug access and reset at random.

#include <iterator>
#include <random>

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/testbenches/compliance/accelerator_rig.h"
#include "switchyard/testbenches/fuzz/reference_port.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::fuzz;
using namespace switchyard::testing;

namespace {

class Soak {
public:
    Soak(AcceleratorRig& rig, const ReferencePort::Chip& chip, unsigned seed)
        : rig_(rig), reference_(chip), random_(seed) {}

    void run(std::uint64_t accesses) {
        for (std::uint64_t i = 0; i < accesses && divergences_ == 0; ++i) {
            step();
            if (divergences_ > 0) FAIL_CHECK("access " << i);
        }
    }
    std::uint64_t answers(::tlm::tlm_response_status status) const {
        const auto found = answers_.find(status);
        return found == answers_.end() ? 0 : found->second;
    }
    std::uint64_t resets = 0, debugs = 0, interrupts = 0;
    std::uint64_t loads = 0, transfers = 0, profiles = 0;  ///< seen through to their end

private:
    std::uint64_t below(std::uint64_t bound) {
        return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
    }
    bool one_in(unsigned count) { return below(count) == 0; }

    std::uint64_t random_address() {
        switch (below(16)) {
            case 0:
                return regs::kImageWindow - 8 + below(4096);
            case 1:
                return regs::kImageWindow + hw::HostInterface::Config{}.image_window_bytes - 64 + below(80);
            case 2:
                return regs::kProfileWindow - 4 + below(64);
            case 3:
                return regs::kErrorTextWindow - 4 + below(64);
            case 4:
                return regs::kRegisterBytes - 16 + below(32);
            case 5:
                return random_();
            case 6: {
                constexpr std::uint64_t kStarts[] = {regs::kControl, regs::kDoorbell, regs::kDmaBytes,
                                                     regs::kDmaControl, regs::kProfileTile};
                return kStarts[below(std::size(kStarts))];
            }
            default:
                return one_in(3) ? below(0x70) : 4 * below(0x70 / 4);
        }
    }

    Access random_access() {
        Access access;
        access.address = random_address();
        access.command = static_cast<::tlm::tlm_command>(one_in(20) ? 2 : below(2));
        access.data.resize(one_in(2) ? 4 : 1 + below(one_in(4) ? 64 : 8));
        // Small numbers, so that transfers, tiles and commands are valid now and then.
        const std::uint64_t kind = below(4);
        for (unsigned char& byte : access.data)
            byte = static_cast<unsigned char>(kind == 0 ? random_() : kind == 1 ? below(4) : one_in(4) ? 1 : 0);
        if (one_in(3)) {
            access.byte_enables.resize(1 + below(8));
            for (unsigned char& byte : access.byte_enables) byte = one_in(3) ? 0x00 : 0xFF;
        }
        if (one_in(40)) {  // a transfer that is likely to be valid, in one burst
            access = {::tlm::TLM_WRITE_COMMAND, regs::kDmaHostLow, std::vector<unsigned char>(24), {}, 0};
            for (const unsigned byte : {0u, 1u, 4u, 8u, 9u, 16u, 17u})
                access.data[byte] = static_cast<unsigned char>(byte == 4 && !one_in(4) ? 0 : random_());
            access.data[20] = static_cast<unsigned char>(below(9));
            if (access.data[20] == 8) access.data[16] &= 0xE0;  // whole descriptors
        }
        const auto length = static_cast<unsigned>(access.data.size());
        access.streaming_width = one_in(8) ? static_cast<unsigned>(1 + below(2 * length)) : length;
        return access;
    }

    void step() {
        if (one_in(500)) {
            reset();
        } else if (one_in(10)) {
            debug(random_access());
        } else {
            transport(random_access());
        }
        if (reference_.busy()) {
            if (!reference_.predictable() || one_in(50))
                reset();
            else
                settle();
        }
        compare_state();
    }

    void transport(const Access& access) {
        Access here = access, there = access;
        const PortInitiator::Answer answer =
            rig_.port.access({here.command, here.address, here.data.data(), static_cast<unsigned>(here.data.size()),
                              here.byte_enables.empty() ? nullptr : &here.byte_enables, here.streaming_width});
        const ::tlm::tlm_response_status expected = reference_.transport(there);
        ++answers_[expected];
        same(answer.status, expected, "response status", access);
        for (std::size_t i = 0; i < here.data.size(); ++i) same(here.data[i], there.data[i], "data", access);
    }

    void debug(const Access& access) {
        Access here = access, there = access;
        const unsigned done =
            rig_.port.debug(here.command, here.address, here.data.data(), static_cast<unsigned>(here.data.size()));
        // The text of the last error is the model's alone.
        if (access.address >= regs::kErrorTextWindow &&
            access.address < regs::kErrorTextWindow + regs::kErrorTextWindowBytes)
            return;
        ++debugs;
        same(done, reference_.debug(there), "bytes of a debug access", access);
        for (std::size_t i = 0; i < done; ++i) same(here.data[i], there.data[i], "debug data", access);
    }

    void reset() {
        ++resets;
        rig_.pulse_reset(ns(1 + static_cast<double>(below(20))));
        reference_.reset();
    }

    void settle() {
        for (unsigned waited = 0; (status() & (regs::kLoading | regs::kDmaBusy | regs::kProfileBusy)) != 0; ++waited) {
            sc_core::wait(ns(200));
            if (waited == 10'000) return same(1, 0, "patience", {});
        }
        const std::uint32_t before = reference_.value(regs::kStatus);
        if (before & regs::kLoading) ++loads;
        if (before & regs::kDmaBusy) ++transfers;
        if (before & regs::kProfileBusy) ++profiles;
        reference_.settle();
    }

    std::uint32_t status() {
        unsigned char data[4] = {};
        rig_.port.debug(::tlm::TLM_READ_COMMAND, regs::kStatus, data, 4);
        return data[0];
    }

    void compare_state() {
        sc_core::wait(ns(1));  // the interrupt line follows
        for (std::uint64_t offset = 0; offset <= regs::kProfileRecords; offset += 4) {
            if (!ReferencePort::exists(offset)) continue;
            unsigned char data[4] = {};
            rig_.port.debug(::tlm::TLM_READ_COMMAND, offset, data, 4);
            Access where;
            where.address = offset;
            same(data[0] | data[1] << 8 | data[2] << 16 | std::uint32_t{data[3]} << 24, reference_.value(offset),
                 "register", where);
        }
        same(rig_.irq.read(), reference_.line(), "interrupt line", {});
        if (reference_.line()) ++interrupts;
    }

    void same(std::uint64_t got, std::uint64_t expected, const char* what, const Access& access) {
        if (got == expected) return;
        if (++divergences_ > 5) return;
        FAIL_CHECK(what << " " << got << ", reference " << expected << ": command " << access.command << " at "
                        << std::hex << access.address << std::dec << ", " << access.data.size() << " bytes, "
                        << access.byte_enables.size() << " byte enables, streaming " << access.streaming_width);
    }

    AcceleratorRig& rig_;
    ReferencePort reference_;
    std::mt19937_64 random_;
    std::map<::tlm::tlm_response_status, std::uint64_t> answers_;
    std::uint64_t divergences_ = 0;
};

void soak(std::uint64_t accesses, const PortInitiator::Style& style, unsigned seed) {
    const PlatformConfig platform = mini();
    ReferencePort::Chip chip;
    chip.platform_fingerprint = platform::make_hardware_description(platform).fingerprint();
    chip.memory_bytes = platform.hbm.region_bytes * platform.hbm.interfaces();
    chip.host_memory_bytes = platform.host_memory.memory_bytes;
    chip.tiles = platform.tiles();
    AcceleratorRig rig(platform, style);
    rig.run([&](AcceleratorRig& r) {
        Soak random(r, chip, seed);
        random.run(accesses);
        // Everything has been met.
        for (const auto status : {::tlm::TLM_OK_RESPONSE, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                                  ::tlm::TLM_BURST_ERROR_RESPONSE, ::tlm::TLM_COMMAND_ERROR_RESPONSE})
            CHECK(random.answers(status) > accesses / 1000);
        CHECK(random.resets > accesses / 1000);
        CHECK(random.debugs > accesses / 20);
        for (const std::uint64_t works : {random.loads, random.transfers, random.profiles})
            CHECK(works > accesses / 2500);
        CHECK(random.interrupts > accesses / 100);
    });
}

}  // namespace

TEST_CASE("random accesses do what the register map says", "[fuzz]") {
    unsigned seed = 1;
    for (const PortInitiator::Style& style : port_styles()) {
        if (style.quantum > sc_core::SC_ZERO_TIME) continue;
        INFO(style.name);
        in_child([&] { soak(25'000, style, seed); });
        ++seed;
    }
}

TEST_CASE("a million random accesses do what the register map says", "[.soak-long]") {
    in_child([] { soak(1'000'000, port_styles().front(), 2026); });
}
