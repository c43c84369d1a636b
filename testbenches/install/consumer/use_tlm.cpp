// SPDX-License-Identifier: Apache-2.0
// Takes a packet from a pool with nothing but Switchyard::tlm.
#include <switchyard/tlm/memory_manager.h>

#include <cstdio>

int sc_main(int, char**) {
    switchyard::PacketPayloadPool pool("packets");
    {
        switchyard::PooledPayload packet(pool);
        packet.packet().payload_bytes = 5;
        if (pool.in_use() != 1) return 1;
    }
    std::printf("%zu packets in use\n", pool.in_use());
    return pool.in_use() == 0 ? 0 : 1;
}
