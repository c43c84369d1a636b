// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/collectives/measured_links.h"

#include <cstring>

#include "switchyard/sw_scheduler/base/crc32.h"

namespace switchyard::sched {

namespace {

constexpr std::uint32_t kDgx1v = 0x941f2bb6, kDgx1p = 0x4d28c533;  // of the files of configs/topologies

template <class T>
void add(std::uint32_t& crc, T value) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    crc = crc32_of(bytes, sizeof value, crc);
}

}  // namespace

const std::vector<MeasuredLinks>& measured_links() {
    static const std::vector<MeasuredLinks> kRows{
        {"dgx1v", kDgx1v, 8, "copy", 3, 268435456, 5},        {"dgx1v", kDgx1v, 8, "kernel", 3, 1048576, 12},
        {"dgx1v", kDgx1v, 8, "kernel", 1, 1048576, 12},       {"dgx1p", kDgx1p, 8, "copy", 1, 268435456, 5},
        {"dgx1p", kDgx1p, 8, "copy", 5, 268435456, 55},       {"dgx1p", kDgx1p, 2, "all_reduce", 0, 134217728, 20},
        {"dgx1p", kDgx1p, 3, "all_reduce", 0, 134217728, 20}, {"dgx1p", kDgx1p, 4, "all_reduce", 0, 134217728, 20},
        {"dgx1p", kDgx1p, 5, "all_reduce", 0, 134217728, 20}, {"dgx1p", kDgx1p, 6, "all_reduce", 0, 134217728, 20},
        {"dgx1p", kDgx1p, 7, "all_reduce", 0, 134217728, 45}, {"dgx1p", kDgx1p, 8, "all_reduce", 0, 134217728, 20},
        {"dgx1p", kDgx1p, 8, "all_reduce", 0, 1048576, 35},   {"dgx1p", kDgx1p, 8, "all_reduce", 0, 4194304, 40},
        {"dgx1p", kDgx1p, 8, "all_reduce", 0, 16777216, 25},  {"dgx1p", kDgx1p, 8, "all_reduce", 0, 67108864, 20},
        {"dgx1p", kDgx1p, 8, "all_reduce", 0, 134217728, 20}, {"dgx1p", kDgx1p, 8, "all_gather", 0, 1048576, 170},
        {"dgx1p", kDgx1p, 8, "all_gather", 0, 4194304, 75},   {"dgx1p", kDgx1p, 8, "all_gather", 0, 16777216, 55},
        {"dgx1p", kDgx1p, 8, "all_gather", 0, 67108864, 25},  {"dgx1p", kDgx1p, 8, "all_gather", 0, 134217728, 20},
        {"dgx1p", kDgx1p, 2, "all_reduce", 0, 8, 85},         {"dgx1p", kDgx1p, 3, "all_reduce", 0, 8, 85},
        {"dgx1p", kDgx1p, 4, "all_reduce", 0, 8, 85},         {"dgx1p", kDgx1p, 5, "all_reduce", 0, 8, 85},
        {"dgx1p", kDgx1p, 6, "all_reduce", 0, 8, 85},         {"dgx1p", kDgx1p, 7, "all_reduce", 0, 8, 85},
        {"dgx1p", kDgx1p, 8, "all_reduce", 0, 8, 85},         {"dgx1v", kDgx1v, 8, "all_reduce", 0, 8, 85}};
    return kRows;
}

std::uint32_t contents_of(const LinkTopology& topology) {
    std::uint32_t crc = 0;
    add(crc, topology.devices());
    add(crc, std::uint8_t{topology.devices_forward()});
    for (const LinkTopology::Node& node : topology.nodes()) add(crc, node.latency_ns);
    for (const LinkTopology::Link& link : topology.links()) {
        for (const unsigned number :
             {link.a, link.b, link.count, link.kind.packet_bytes, link.kind.overhead_bytes, unsigned{link.kind.pcie}})
            add(crc, number);
        for (const double number : {link.kind.gb_per_s, link.kind.latency_ns, link.kind.kernel_gb_per_s})
            add(crc, number);
    }
    return crc;
}

}  // namespace switchyard::sched
