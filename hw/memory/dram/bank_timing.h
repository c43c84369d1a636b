// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

/// When the banks of one pseudo-channel can take which command: the earliest cycle for each kind, at the bank, its bank
/// group and the pseudo-channel. A command moves them on when it is issued; none is looked at cycle by cycle.
class BankTiming {
public:
    BankTiming(const Geometry& geometry, const Timing& timing)
        : t_(timing),
          banks_(geometry.banks()),
          column_s_(timing.column_s_cycles()),
          column_l_(timing.column_l_cycles()),
          read_to_write_(timing.read_to_write_cycles()),
          write_data_(timing.write_data_cycles()) {
        for (unsigned bank = 0; bank < banks_; ++bank)
            group_of_[bank] = static_cast<std::uint8_t>(bank / geometry.banks_per_group);
        for (unsigned group = 0; group < geometry.bank_groups; ++group)
            group_[group].banks = low_bits(geometry.banks_per_group) << group * geometry.banks_per_group;
    }

    // A command can be issued at the latest of three: the bank's own time, its group's and the pseudo-channel's.
    Cycle bank_activate(unsigned bank) const { return bank_[bank].activate; }
    Cycle bank_column(unsigned bank, bool write) const { return write ? bank_[bank].write : bank_[bank].read; }
    Cycle bank_precharge(unsigned bank) const { return bank_[bank].precharge; }  ///< its group does not matter
    /// The banks of a bank's group, one bit each.
    std::uint64_t group_of(unsigned bank) const { return group_[group_of_[bank]].banks; }
    Cycle group_activate(unsigned bank) const { return group_[group_of_[bank]].activate; }
    Cycle group_column(unsigned bank, bool write) const {
        const Group& group = group_[group_of_[bank]];
        return write ? group.write : group.read;
    }
    Cycle activate() const { return std::max(activate_, window_[next_activate_]); }
    Cycle column(bool write) const { return write ? write_ : read_; }
    /// Of one bank, which is closed.
    Cycle refresh_bank_at(unsigned bank) const { return std::max(bank_[bank].activate, refresh_bank_); }
    /// All banks are closed.
    Cycle refresh_all_at() const {
        Cycle at = refresh_all_;
        for (unsigned bank = 0; bank < banks_; ++bank) at = std::max(at, bank_[bank].activate);
        return at;
    }

    void activate(unsigned bank, Cycle now) {
        Bank& b = bank_[bank];
        b.read = now + t_.trcd_read_cycles;
        b.write = now + t_.trcd_write_cycles;
        b.precharge = now + t_.tras_cycles;
        b.activate = now + t_.trc_cycles;
        group_[group_of_[bank]].activate = now + t_.trrd_l_cycles;
        activate_ = std::max(activate_, now + t_.trrd_s_cycles);
        refresh_bank_ = std::max(refresh_bank_, now + t_.trrefd_cycles);
        window_[next_activate_] = now + t_.tfaw_cycles;
        next_activate_ = (next_activate_ + 1) % window_.size();
    }
    void read(unsigned bank, Cycle now) {
        delay(bank_[bank].precharge, now + t_.trtp_cycles);
        delay(group_[group_of_[bank]].read, now + column_l_);
        delay(read_, now + column_s_);
        delay(write_, now + read_to_write_);
    }
    void write(unsigned bank, Cycle now) {
        const Cycle taken = now + write_data_;
        delay(bank_[bank].precharge, taken + t_.twr_cycles);
        delay(group_[group_of_[bank]].write, now + column_l_);
        delay(group_[group_of_[bank]].read, taken + t_.twtr_l_cycles);
        delay(write_, now + column_s_);
        delay(read_, taken + t_.twtr_s_cycles);
    }
    void precharge(unsigned bank, Cycle now) {
        bank_[bank].activate = std::max(bank_[bank].activate, now + t_.trp_cycles);
    }
    /// The bank precharges itself as soon as it may.
    void auto_precharge(unsigned bank) { precharge(bank, bank_[bank].precharge); }
    void precharge_all(Cycle now) { refresh_all_ = std::max(refresh_all_, now + t_.trp_all_cycles); }
    void refresh_all(Cycle now) {
        for (unsigned bank = 0; bank < banks_; ++bank)
            bank_[bank].activate = std::max(bank_[bank].activate, now + t_.trfc_cycles);
        refresh_all_ = now + t_.trfc_cycles;
    }
    void refresh_bank(unsigned bank, Cycle now) {
        bank_[bank].activate = std::max(bank_[bank].activate, now + t_.trfc_bank_cycles);
        activate_ = std::max(activate_, now + t_.trrefd_cycles);
        refresh_bank_ = std::max(refresh_bank_, now + t_.trrefd_cycles);
    }

private:
    struct Bank {
        Cycle activate = 0, precharge = 0, read = 0, write = 0;
    };
    struct Group {
        Cycle activate = 0, read = 0, write = 0;
        std::uint64_t banks = 0;
    };
    static void delay(Cycle& time, Cycle until) { time = std::max(time, until); }

    Timing t_;
    unsigned banks_;
    Cycle column_s_, column_l_, read_to_write_, write_data_;  ///< of Timing, worked out once
    std::array<Bank, kMaxBanks> bank_{};
    std::array<Group, kMaxBankGroups> group_{};
    std::array<std::uint8_t, kMaxBanks> group_of_{};
    Cycle activate_ = 0, read_ = 0, write_ = 0, refresh_all_ = 0, refresh_bank_ = 0;
    std::array<Cycle, 4> window_{};  ///< ends of the tFAW windows of the last four activates
    unsigned next_activate_ = 0;
};

}  // namespace switchyard::hw::dram
