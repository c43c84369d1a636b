// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "switchyard/testbenches/unit/host/host_rig.h"
#include "switchyard/tlm/has_process.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// An edge-triggered interrupt controller: it keeps that the line has risen until software takes it.
class EdgeController : public sc_core::sc_module {
public:
    sc_core::sc_in<bool> line{"line"};

    explicit EdgeController(const sc_core::sc_module_name& name) : sc_module(name) {
        SWITCHYARD_HAS_PROCESS(EdgeController);
        SC_METHOD(rise);
        sensitive << line.pos();
        dont_initialize();
    }
    /// False if no edge has come for as long as `limit`.
    bool take(const sc_core::sc_time& limit) {
        if (!risen_) wait(limit, rose_);
        return std::exchange(risen_, false);
    }

private:
    void rise() {
        risen_ = true;
        rose_.notify();
    }

    bool risen_ = false;
    sc_core::sc_event rose_{"rose"};
};

constexpr unsigned kRounds = 300;

/// Two operations at a time whose interrupts come at random distances, and software that takes as long as it likes
/// between reading IRQ_STATUS and clearing what it has read: the rounds in which an interrupt was lost.
unsigned lost_interrupts(unsigned rearm_ns) {
    hw::HostInterface::Config config;
    config.interrupt_rearm_ns = rearm_ns;
    HostRig rig(config);
    EdgeController controller("controller");
    controller.line(rig.irq);
    unsigned lost = 0;
    rig.run([&](HostRig& r) {
        std::mt19937 random(7);
        const auto up_to = [&random](unsigned limit) { return ns(random() % limit); };
        r.load(host_image());
        controller.take(sc_core::SC_ZERO_TIME);
        for (unsigned round = 0; round < kRounds; ++round) {
            r.start_dma(0, 0, 64 + 64 * (random() % 200), regs::kDmaToChip);
            wait(up_to(400));
            r.write(regs::kProfileTile, 0);
            std::uint32_t open = regs::kIrqDmaDone | regs::kIrqProfileReady;
            while (open != 0 && controller.take(ns(1e6))) {
                const std::uint32_t status = r.read(regs::kIrqStatus);
                wait(up_to(100));
                r.write(regs::kIrqStatus, status);
                open &= ~status;
            }
            if (open == 0) continue;
            ++lost;
            r.write(regs::kIrqStatus, r.read(regs::kIrqStatus));
            wait(ns(1000));
        }
    });
    return lost;
}

}  // namespace

SIM_TEST("a level is not enough for an edge-triggered controller", "[host][irq]") {
    const unsigned lost = lost_interrupts(0);
    CHECK(lost > 10);
    CHECK(lost < kRounds);
}

SIM_TEST("with interrupt_rearm_ns an edge-triggered controller loses no interrupt", "[host][irq]") {
    CHECK(lost_interrupts(20) == 0);
}

SIM_TEST("the interrupt goes low for interrupt_rearm_ns while something is pending", "[host][irq]") {
    hw::HostInterface::Config config;
    config.interrupt_rearm_ns = 20;
    HostRig rig(config);
    rig.run([](HostRig& r) {
        r.put_image(encode(host_image()));
        r.write(regs::kIrqEnable, regs::kIrqAll);
        r.write(regs::kControl, regs::kCommitImage);
        wait(r.irq.posedge_event());
        wait(ns(500));
        CHECK(r.irq.read());
        r.write(regs::kIrqStatus, 0);  // clears nothing
        wait(ns(1));
        CHECK_FALSE(r.irq.read());
        const sc_core::sc_time low = sc_core::sc_time_stamp();
        wait(r.irq.posedge_event());
        CHECK(sc_core::sc_time_stamp() - low <= ns(20));
        CHECK(sc_core::sc_time_stamp() - low >= ns(18));
        r.write(regs::kIrqStatus, regs::kIrqAll);
        wait(ns(100));
        CHECK_FALSE(r.irq.read());  // nothing is pending
    });
}
