// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "switchyard/hw/memory/dram/command.h"
#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

struct TimingViolation {
    std::string rule;     ///< "tFAW", "bank state", ...
    std::string message;  ///< one line: rule, channel, command, what was broken and by how much
};

class TimingError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// Watches the commands of a memory and finds each that breaks a constraint of the device. It knows nothing of the
/// controller: every distance is worked out again from the commands that it has seen.
///
/// Rules, by name: "order" (time goes on), "command bus", "bank state" (activate on an open bank, column access to
/// another row than the open one, refresh while a bank is open), tRCD, tRP, tRAS, tRC, tRRD_S, tRRD_L, tFAW, tCCD_S,
/// tCCD_L, "data bus" (bursts overlap, or follow one another without the turnaround), tWR, tWTR_S, tWTR_L, tRTP, tRFC,
/// tRFCpb, tRREFD, and tREFI: no more than eight refreshes behind, as JEDEC allows.
/// Not checked: whether what was asked for is what was accessed.
class TimingChecker : public CommandSink {
public:
    using Handler = std::function<void(const TimingViolation&)>;

    /// Without a handler a violation is thrown as TimingError.
    explicit TimingChecker(const Device& device, Handler handler = {});

    void on_command(unsigned channel, const Command& command) override;
    /// Of all channels.
    std::uint64_t commands() const { return commands_; }
    static const std::vector<std::string>& rules();

private:
    /// When a kind of event was last seen: 0 is a cycle, so "never" is a value of its own.
    struct Last {
        bool seen = false;
        Cycle cycle = 0;
        void set(Cycle at) {
            seen = true;
            cycle = at;
        }
    };
    struct Bank {
        bool open = false;
        std::uint32_t row = 0;
        Last activate, read, write, precharge, refresh;
        std::uint64_t refreshes = 0;
    };
    struct Group {
        Last activate, read, write;
    };
    struct PseudoChannel {
        std::vector<Bank> banks;
        std::vector<Group> groups;
        std::vector<Cycle> activates;  ///< all within the last tFAW
        Last activate, read, write, refresh, refresh_bank, precharge_all;
        Last data_end;
        bool data_written = false;
        std::uint64_t refreshes = 0;
    };
    struct Bus {
        Last end;
    };
    struct Channel {
        std::vector<PseudoChannel> pseudo_channels;
        Bus row_bus, column_bus;
        Last last;
    };

    void at_least(const char* rule, const Last& since, Cycle distance);
    void demand(const char* rule, bool holds, const std::string& what);
    void check_bus(Channel& channel);
    void check_activate(PseudoChannel& p);
    void check_column(PseudoChannel& p, bool write);
    void check_data(PseudoChannel& p, bool write);
    void check_precharge(PseudoChannel& p, Bank& bank);
    void close(Bank& bank, Cycle at);
    void check_refresh_all(PseudoChannel& p);
    void check_refresh_bank(PseudoChannel& p);
    void check_refresh_rate(PseudoChannel& p);

    Device device_;
    Handler handler_;
    std::vector<Channel> channels_;
    unsigned channel_ = 0;  ///< of the command being checked
    Command command_;       ///< being checked
    std::uint64_t commands_ = 0;
};

}  // namespace switchyard::hw::dram
