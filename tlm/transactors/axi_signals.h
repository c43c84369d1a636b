// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <systemc>

namespace switchyard {

/// Responses of the B and R channels (ARM IHI 0022H A3.4.4).
enum class AxiResponse : unsigned { okay = 0, exokay = 1, slverr = 2, decerr = 3 };
enum class AxiBurstType : unsigned { fixed = 0, incr = 1, wrap = 2 };

struct AxiConfig {
    bool lite = false;        ///< AXI4-Lite: bursts of one full-width beat, no IDs
    unsigned data_bytes = 4;  ///< 4 or 8
    unsigned id_bits = 4;     ///< 0 to 16; AXI4-Lite has none

    /// log2(data_bytes)
    unsigned full_size() const { return data_bytes == 8 ? 3 : 2; }
};

/// The wires of one AXI4 or AXI4-Lite link, as they stand between an initiator and a target in one clock domain. Names
/// are those of the specification in lower case; an AXI4-Lite link implies what it lacks (length 0, full size, INCR,
/// ID 0, last): nobody has to drive these wires. Transactors and checkers hold a reference to it; RTL binds its ports
/// to the signals. Not there: LOCK, CACHE, PROT, QOS, REGION and the USER signals.
struct AxiSignals : sc_core::sc_module {
    template <class T>
    using Wire = sc_core::sc_signal<T, sc_core::SC_ONE_WRITER>;

    /// AW or AR.
    struct Address {
        Wire<bool> valid, ready;
        Wire<std::uint64_t> address;
        Wire<unsigned> id, length, size, burst;  ///< length: beats - 1; size: log2(bytes of a beat)
        explicit Address(const std::string& p)
            : valid((p + "valid").c_str()),
              ready((p + "ready").c_str()),
              address((p + "addr").c_str()),
              id((p + "id").c_str()),
              length((p + "len").c_str()),
              size((p + "size").c_str()),
              burst((p + "burst").c_str()) {}
    };
    struct Write {
        Wire<bool> valid{"wvalid"}, ready{"wready"}, last{"wlast"};
        Wire<std::uint64_t> data{"wdata"};
        Wire<unsigned> strobes{"wstrb"};
    };
    struct WriteResponse {
        Wire<bool> valid{"bvalid"}, ready{"bready"};
        Wire<unsigned> id{"bid"}, response{"bresp"};
    };
    struct Read {
        Wire<bool> valid{"rvalid"}, ready{"rready"}, last{"rlast"};
        Wire<std::uint64_t> data{"rdata"};
        Wire<unsigned> id{"rid"}, response{"rresp"};
    };

    const AxiConfig config;
    Address aw{"aw"}, ar{"ar"};
    Write w;
    WriteResponse b;
    Read r;

    AxiSignals(const sc_core::sc_module_name& module_name, const AxiConfig& axi)
        : sc_module(module_name), config(axi) {}
};

}  // namespace switchyard
