// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

/// When the banks of one pseudo-channel can take which command: the earliest cycle for each kind, at the bank, its bank
/// group and the pseudo-channel. A command moves them on when it is issued; none is looked at cycle by cycle.
class BankTiming {
public:
    BankTiming(const Geometry& geometry, const Timing& timing) : t_(timing), banks_(geometry.banks()) {
        for (unsigned bank = 0; bank < banks_; ++bank) group_of_[bank] = bank / geometry.banks_per_group;
    }

    // A command can be issued at the latest of three: the bank's own time, its group's and the pseudo-channel's.
    Cycle bank_activate(unsigned bank) const { return bank_[bank].activate; }
    Cycle bank_read(unsigned bank) const { return bank_[bank].read; }
    Cycle bank_write(unsigned bank) const { return bank_[bank].write; }
    Cycle bank_precharge(unsigned bank) const { return bank_[bank].precharge; }
    unsigned group_of(unsigned bank) const { return group_of_[bank]; }
    Cycle group_activate(unsigned group) const { return group_[group].activate; }
    Cycle group_read(unsigned group) const { return group_[group].read; }
    Cycle group_write(unsigned group) const { return group_[group].write; }
    Cycle activate() const { return std::max(activate_, window_[next_activate_]); }
    Cycle read() const { return read_; }
    Cycle write() const { return write_; }
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
        Group& g = group_[group_of_[bank]];
        g.activate = now + t_.trrd_l_cycles;
        activate_ = std::max(activate_, now + t_.trrd_s_cycles);
        refresh_bank_ = std::max(refresh_bank_, now + t_.trrefd_cycles);
        window_[next_activate_] = now + t_.tfaw_cycles;
        next_activate_ = (next_activate_ + 1) % window_.size();
    }
    void read(unsigned bank, Cycle now) {
        Bank& b = bank_[bank];
        b.precharge = std::max(b.precharge, now + t_.trtp_cycles);
        group_[group_of_[bank]].read = std::max(group_[group_of_[bank]].read, now + t_.column_l_cycles());
        read_ = std::max(read_, now + t_.column_s_cycles());
        write_ = std::max(write_, now + t_.read_to_write_cycles());
    }
    void write(unsigned bank, Cycle now) {
        Bank& b = bank_[bank];
        Group& g = group_[group_of_[bank]];
        const Cycle taken = now + t_.write_data_cycles();
        b.precharge = std::max(b.precharge, taken + t_.twr_cycles);
        g.write = std::max(g.write, now + t_.column_l_cycles());
        g.read = std::max(g.read, taken + t_.twtr_l_cycles);
        write_ = std::max(write_, now + t_.column_s_cycles());
        read_ = std::max(read_, taken + t_.twtr_s_cycles);
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
    };

    Timing t_;
    unsigned banks_;
    std::array<Bank, kMaxBanks> bank_{};
    std::array<Group, kMaxBankGroups> group_{};
    std::array<unsigned, kMaxBanks> group_of_{};
    Cycle activate_ = 0, read_ = 0, write_ = 0, refresh_all_ = 0, refresh_bank_ = 0;
    std::array<Cycle, 4> window_{};  ///< ends of the tFAW windows of the last four activates
    unsigned next_activate_ = 0;
};

}  // namespace switchyard::hw::dram
