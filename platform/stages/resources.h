#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/platform_config.h"
#include "switchyard/platform/stages/traffic.h"

namespace switchyard::platform {

/// Links and memory interfaces, each free from some time on. Times in cycles. Requests have to be made in the order of
/// their times.
class Resources {
public:
    Resources(const PlatformConfig& platform, unsigned links);

    /// The packets' heads are on their way from `start` on; when the last link has carried its share.
    double carry(const Traffic& traffic, double start);
    /// Requests that arrive at `start`; when the last of the data has left the memory interfaces, on links that are
    /// carried here too.
    double read(const Traffic& traffic, double start);
    /// Data that is sent from `start` on and takes `head` cycles to memory; when all of it has been written.
    double write(const Traffic& traffic, double start, double head);

private:
    double serve(const Traffic& traffic, double start);

    std::vector<double> link_free_, memory_free_;
    double bytes_per_cycle_, channel_bytes_per_cycle_, link_bytes_per_cycle_;
    double read_latency_, write_latency_;
};

}  // namespace switchyard::platform
