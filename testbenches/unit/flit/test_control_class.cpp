// SPDX-License-Identifier: Apache-2.0
// Probes and acknowledges have virtual channels of their own, so that data that stands still does not stop them.

#include "switchyard/hw/noc/traffic.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;

namespace {

/// The worst latency of control packets across a network that data beyond saturation fills.
std::uint64_t worst_control_latency(const Config& config) {
    FlitNetwork network(config, one_each(config));
    hw::SyntheticTraffic data("uniform", config.columns, config.rows, 0.9, 8, 1);
    constexpr std::uint64_t kControl = 1ull << 40;
    std::uint64_t worst = 0, seen = 0;
    for (std::uint64_t c = 0; c < 12000; ++c) {
        network.begin_cycle();
        for (const FlitNetwork::Delivery& delivery : network.deliveries()) {
            if (delivery.tag < kControl) continue;
            worst = std::max(worst, c - (delivery.tag - kControl));
            ++seen;
        }
        data.cycle([&](unsigned source, unsigned destination) {
            if (network.queued(source) < 50) network.send(source, destination, 8, c);
        });
        if (c > 4000 && c < 8000 && c % 20 == 0)
            network.send(static_cast<unsigned>(c / 20 % config.routers()),
                         static_cast<unsigned>(c / 7 % config.routers()), 1, kControl + c, TrafficClass::control);
        network.end_cycle();
    }
    CHECK(seen == 199);
    return worst;
}

}  // namespace

TEST_CASE("flit: control packets pass data that is stuck", "[flit]") {
    Config shared = grid(true, 6, 6, 4), own = shared;
    own.control_vcs = 2;
    const std::uint64_t alone = hw::flit::zero_load_cycles(own, 6, 1);
    const std::uint64_t with_own = worst_control_latency(own), without = worst_control_latency(shared);
    INFO(with_own << " cycles with VCs of their own, " << without << " without, " << alone << " alone");
    CHECK(with_own < 3 * alone);
    CHECK(without > 10 * alone);
}
