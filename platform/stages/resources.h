#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/platform_config.h"
#include "switchyard/platform/stages/traffic.h"

namespace switchyard::platform {

/// Links and memory interfaces, each free from some time on. Times in cycles. Requests have to be made in the order of
/// their times.
///
/// Memory interfaces let requests take turns. Tensors come one after another, each a little later for the turns of
/// weights on their way; weights take the time that tensors leave them.
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

    /// A slice of weights on its way.
    struct Stream {
        double end = 0;  ///< as read() says, if nothing else comes
        unsigned interface = 0;
        double others = 0;  ///< what had been served to others so far
    };
    /// One request for weights that arrives at `start`.
    Stream stream(const Traffic& traffic, double start);
    /// To be asked at the stream's end: how much later it ends because others have been served since it was asked last.
    /// 0: the stream is over.
    double delay_of(Stream& stream);

private:
    struct Memory {
        double free = 0;         ///< for tensors
        double stream_free = 0;  ///< for weights, if no more tensors come
        double served = 0;       ///< cycles, of tensors
        unsigned streams = 0;    ///< on their way
    };
    double serve(const Traffic& traffic, double start);
    double last_packet(const Traffic& traffic) const;

    std::vector<double> link_free_;
    std::vector<Memory> memories_;
    double bytes_per_cycle_, channel_bytes_per_cycle_, link_bytes_per_cycle_;
    double turn_bytes_;
    double read_latency_, write_latency_;
};

}  // namespace switchyard::platform
