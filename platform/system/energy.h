// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace switchyard::platform {

/// Energy parameters of the `energy` section. Each default is a published figure; docs/report_format.md has the table
/// of sources. Power in mW times time in ns is energy in pJ.
struct EnergyConfig {
    double pe_pj_per_mac = 1.129;
    double scratchpad_read_pj_per_byte = 1.79;
    double scratchpad_write_pj_per_byte = 1.90;
    double scratchpad_leakage_mw_per_512_kib = 119;
    double hop_pj_per_bit = 0.7;
    double hbm_pj_per_bit = 3.9;
    double dispatcher_controller_mw = 10.409;
    double router_interface_mw = 1.646;
};

template <class V>
void describe(V& v, EnergyConfig& c) {
    v.field("pe_pj_per_mac", c.pe_pj_per_mac, 0, 1e6,
            "energy of one PE for one multiply-accumulate or vector element operation, registers included "
            "(Adyna Table IV: 1156.355 mW / 1024 PEs / 1 GHz)");
    v.field("scratchpad_read_pj_per_byte", c.scratchpad_read_pj_per_byte, 0, 1e6,
            "scratchpad read (CACTI 7, 512 kB, 28 nm, 64 B access)");
    v.field("scratchpad_write_pj_per_byte", c.scratchpad_write_pj_per_byte, 0, 1e6,
            "scratchpad write (CACTI 7, 512 kB, 28 nm, 64 B access)");
    v.field("scratchpad_leakage_mw_per_512_kib", c.scratchpad_leakage_mw_per_512_kib, 0, 1e6,
            "leakage of 512 KiB of scratchpad, scaled with its size (CACTI 7, 350 K)");
    v.field("hop_pj_per_bit", c.hop_pj_per_bit, 0, 1e6, "one bit through a router and its link (SET, ISCA 2023)");
    v.field("hbm_pj_per_bit", c.hbm_pj_per_bit, 0, 1e6,
            "one bit read from or written to HBM2: activation, internal and I/O (FGDRAM, MICRO 2017)");
    v.field("dispatcher_controller_mw", c.dispatcher_controller_mw, 0, 1e6,
            "power of a tile's dispatcher and controller, drawn all the time (Adyna Table IV)");
    v.field("router_interface_mw", c.router_interface_mw, 0, 1e6,
            "power of a tile's router and network interface, drawn all the time (Adyna Table IV)");
}

/// What happened in a stretch of simulated time, of one tile or of the whole chip.
struct Activity {
    double pe_operations = 0;  ///< multiply-accumulates and vector element operations
    double scratchpad_read_bytes = 0, scratchpad_write_bytes = 0;
    double link_bytes = 0;               ///< bytes times links crossed, headers included
    double hbm_bytes = 0;                ///< read and written
    double tile_nanoseconds = 0;         ///< tiles times time: dispatcher, controller, router and network interface
    double leaking_kib_nanoseconds = 0;  ///< scratchpad KiB times time
};

/// Energy by part, in pJ.
struct Energy {
    double pe = 0;
    double scratchpad_access = 0, scratchpad_leakage = 0;
    double network_links = 0, network_static = 0;
    double hbm = 0;
    double dispatcher_controller = 0;

    struct Part {
        const char* name;
        double picojoules;
    };
    /// In the order of the report.
    std::vector<Part> parts() const;
    double sum() const;
};

Energy energy_of(const EnergyConfig& config, const Activity& activity);

}  // namespace switchyard::platform
