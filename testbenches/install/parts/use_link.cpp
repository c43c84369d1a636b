// SPDX-License-Identifier: Apache-2.0
// An all-reduce of 16 MiB on a ring of eight devices.
#include <switchyard/hw/link/collective_run.h>
#include <switchyard/sw_scheduler/collectives/collectives.h>
#include <systemc>

#include <cstdio>

int sc_main(int, char**) {
    namespace sched = switchyard::sched;
    const auto ring = std::make_shared<sched::LinkTopology>(sched::make_link_topology("ring", 8, {}));
    const auto program = sched::ring_all_reduce(*ring, 16 << 20);
    const double us = switchyard::hw::run_collective(ring, {}, program).ns * 1e-3;
    std::printf("%.1f us\n", us);
    return us > 0 ? 0 : 1;
}
