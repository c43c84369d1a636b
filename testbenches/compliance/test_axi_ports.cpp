// SPDX-License-Identifier: Apache-2.0
// The accelerator as a block with AXI ports: AXI4-Lite on the configuration port, AXI4 on the host port.

#include "switchyard/testbenches/compliance/accelerator_rig.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;

SIM_TEST("behind AXI wires the accelerator computes the same", "[accelerator][axi]") {
    AcceleratorRig rig(mini({{"chip.functional", "yes"}, {"host.dma_chunk_bytes", "4096"}}), {}, "rig", true);
    rig.run([](AcceleratorRig& r) { CHECK(wrong_digits(run_digits(r)) == 0); });
    CHECK(rig.config_link->checker.writes() > digits_image().size() / 4);
    CHECK(rig.config_link->checker.reads() > 40);
    CHECK(rig.host_link->checker.writes() >= 1);
    CHECK(rig.host_link->checker.reads() > 40);
    CHECK(rig.host_link->checker.stalled_cycles() > 1000);
}

SIM_TEST("errors of the accelerator come back through AXI", "[accelerator][axi]") {
    AcceleratorRig rig(mini(), {}, "rig", true);
    rig.run([](AcceleratorRig& r) {
        unsigned char data[4] = {};
        const auto status = [&](std::uint64_t address) {
            return r.port.access({::tlm::TLM_READ_COMMAND, address, data, 4, nullptr, 0}).status;
        };
        CHECK(r.read(regs::kId) == regs::kIdValue);
        CHECK(status(0x3C) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        r.reset.write(true);
        wait(ns(2));
        CHECK(status(regs::kId) == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        r.reset.write(false);
        wait(ns(2));
        CHECK(r.read(regs::kId) == regs::kIdValue);
    });
}
