// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm>

#include "switchyard/sw_scheduler/adyna/image/samples.h"

namespace switchyard {

/// Kinds of packets on the network. A packet is multicast if it has more than one destination.
enum class PacketKind : std::uint8_t {
    data,   ///< part of a tensor, into the slot of (edge, unit)
    probe,  ///< "may I send (edge, unit)?"; carries the unit's sample-index list, the first that a tile hears of it
    acknowledge,    ///< the probed tile has room
    mask,           ///< routing masks of a switch for some samples of a unit
    config,         ///< write into a tile's program or registers
    control,        ///< between the chip's sequencer and the tiles: segment start, segment done
    read_request,   ///< to a memory interface: send `requested_bytes` from the payload's address to `reply_to`
    write_request,  ///< to a memory interface: store at the payload's address, then acknowledge
    write_done,     ///< from a memory interface to the writer
    receipt         ///< from the network to the sender of a packet that wants_receipt: its last copy has arrived
};

/// Packets without data that nobody needs in order with data: a network may give them virtual channels of their own,
/// the control class, so that they do not queue behind it. Masks, programs and the sequencer's packets keep their
/// order.
inline bool may_overtake_data(PacketKind kind) {
    return kind == PacketKind::probe || kind == PacketKind::acknowledge || kind == PacketKind::read_request ||
           kind == PacketKind::write_done;
}

/// Endpoint of the network: tiles 0 .. T-1 (row-major), then memory interfaces, then the host interface.
using Endpoint = std::uint16_t;

/// Which elements of a tensor a packet's values are: sample, channel, row and column follow one another, columns
/// closest.
struct TensorPart {
    std::vector<std::uint32_t> samples;  ///< ids
    std::uint32_t first_channel = 0, channels = 0;
    std::uint32_t first_row = 0, rows = 0;
    std::uint32_t columns = 1;
    std::uint32_t element_bytes = 2;
};

/// What a gate with patience says of a sample: the largest of its logits, and for how many gates in a row that has been
/// the same as at the gate before.
struct SampleLabel {
    std::uint16_t label = 0, agreed = 0;
};
inline constexpr std::uint32_t kLabelBytes = 4;  ///< in a packet

/// Bytes that lie together in HBM.
struct MemoryRun {
    std::uint64_t address = 0, bytes = 0;
};

/// What a packet carries besides TLM's own fields. Every payload on a link of the network has one.
/// The payload's data array holds real bytes if `has_values`; otherwise its contents are undefined and only sizes move.
struct RoutedExtension : ::tlm::tlm_extension<RoutedExtension> {
    PacketKind kind = PacketKind::data;
    Endpoint source = 0;
    std::vector<Endpoint> destinations;
    std::uint32_t batch = 0;
    std::uint16_t segment = 0;
    std::uint16_t operator_id = 0;  ///< producer of the tensor
    std::uint16_t edge = 0;
    std::uint16_t unit = 0;
    std::uint32_t dyn_dim = 0;          ///< samples of the whole unit that take this edge
    std::uint32_t first_sample = 0;     ///< data: positions in the edge's sample set that this packet holds ...
    std::uint32_t last_sample = 0;      ///< ... [first_sample, last_sample)
    std::uint64_t payload_bytes = 0;    ///< bytes on the wire behind the header
    std::uint64_t requested_bytes = 0;  ///< read_request
    std::vector<Endpoint> reply_to;     ///< read_request: who gets the data (multicast if several)
    std::uint32_t tag = 0;              ///< copied from request to reply
    bool wants_receipt = false;         ///< set by the sender ...
    std::uint16_t receipt_tag = 0;      ///< ... with what is to be the receipt's `tag`
    bool receipt_follows = false;       ///< set by a network that does not know yet when the packet will have arrived
    bool has_values = false;
    SampleIndexListPtr index_list;                            ///< probe, data
    std::shared_ptr<const std::vector<std::uint64_t>> masks;  ///< mask: one a sample of `mask_samples`
    std::shared_ptr<const std::vector<SampleLabel>> labels;   ///< mask: in place of masks, to the next gate
    std::shared_ptr<const SampleSet> mask_samples;
    std::vector<std::uint8_t> values;  ///< has_values: where the sender keeps the bytes that the payload points to
    std::shared_ptr<const TensorPart> part;  ///< data with values of a tensor; requests: copied to the replies
    std::uint64_t first_byte = 0;            ///< data with values: of the part, or of the slice of weights
    /// Requests with values: where they lie, one behind the other; none: together, from the payload's address on.
    std::shared_ptr<const std::vector<MemoryRun>> runs;

    /// Back to the defaults above; the vectors keep their room. A pool calls it for every packet.
    void reset() {
        kind = PacketKind::data;
        source = 0;
        destinations.clear();
        batch = 0;
        segment = operator_id = edge = unit = 0;
        dyn_dim = first_sample = last_sample = 0;
        payload_bytes = requested_bytes = 0;
        reply_to.clear();
        tag = 0;
        wants_receipt = receipt_follows = false;
        receipt_tag = 0;
        has_values = false;
        index_list.reset();
        masks.reset();
        labels.reset();
        mask_samples.reset();
        values.clear();
        part.reset();
        first_byte = 0;
        runs.reset();
    }

    ::tlm::tlm_extension_base* clone() const override { return new RoutedExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const RoutedExtension&>(other);
    }
};

}  // namespace switchyard
