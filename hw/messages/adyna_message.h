// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm>

#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/memory_request.h"

namespace switchyard {

/// What a packet means to Adyna's tiles and host interface.
enum class MessageKind : std::uint8_t {
    data,   ///< `content`; to memory and from it as well
    probe,  ///< "may I send (edge, unit)?"; carries the unit's sample-index list, the first that a tile hears of it
    acknowledge,  ///< the probed tile has room
    mask,         ///< routing masks of a switch for some samples of a unit
    config,       ///< write into a tile's program or registers
    control       ///< between the chip's sequencer and the tiles: segment start, segment done
};

/// What `data` is part of, and what a request to memory asks for.
enum class MessageContent : std::uint8_t {
    tensor,       ///< into the slot of (edge, unit); weights as well
    index_lists,  ///< of a tensor in memory
    masks,        ///< recorded, of the operator index in `edge`
    order         ///< masks of key `unit` of a segment's order
};

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

/// What Adyna's tiles and its host interface say to one another, beside PacketExtension, on the same payload. Neither
/// the network nor memory knows it (testbenches/lint/layering.sh).
struct AdynaMessage : ::tlm::tlm_extension<AdynaMessage> {
    MessageKind kind = MessageKind::data;
    MessageContent content = MessageContent::tensor;
    std::uint16_t segment = 0;
    std::uint16_t operator_id = 0;  ///< producer of the tensor; of a write to memory the operator's index on its tile
    std::uint16_t edge = 0;
    std::uint16_t unit = 0;
    std::uint32_t batch = 0;
    std::uint32_t dyn_dim = 0;       ///< samples of the whole unit that take this edge
    std::uint32_t first_sample = 0;  ///< data: positions in the edge's sample set that this packet holds ...
    std::uint32_t last_sample = 0;   ///< ... [first_sample, last_sample)
    std::uint32_t control = 0;       ///< control: ControlCode
    std::uint64_t first_byte = 0;    ///< data with values: of the part
    SampleIndexListPtr index_list;   ///< probe
    std::shared_ptr<const std::vector<std::uint64_t>> masks;  ///< mask: one a sample of `mask_samples`
    std::shared_ptr<const std::vector<SampleLabel>> labels;   ///< mask: in place of masks, to the next gate
    std::shared_ptr<const SampleSet> mask_samples;
    std::shared_ptr<const TensorPart> part;  ///< data with values of a tensor

    /// Back to the defaults above.
    void reset() {
        kind = MessageKind::data;
        content = MessageContent::tensor;
        segment = operator_id = edge = unit = 0;
        batch = dyn_dim = first_sample = last_sample = control = 0;
        first_byte = 0;
        index_list.reset();
        masks.reset();
        labels.reset();
        mask_samples.reset();
        part.reset();
    }

    ::tlm::tlm_extension_base* clone() const override { return new AdynaMessage(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override { *this = static_cast<const AdynaMessage&>(other); }
};

/// A pool of packets of Adyna's.
using AdynaPacketPool = ExtendedPayloadPool<PacketExtension, MemoryExtension, AdynaMessage>;

}  // namespace switchyard
