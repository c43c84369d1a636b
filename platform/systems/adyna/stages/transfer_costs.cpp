// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/transfer_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "switchyard/hw/network_interface/memory_readers.h"
#include "switchyard/hw/network_interface/transfer_plan.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform {

namespace {

enum Kind : std::uint32_t { kTensor, kWeights, kMasks, kRecordedMasks, kIndexLists, kPackedProbe, kPart };

/// `count` of the members of `set`, evenly spread.
SampleSet spread(const SampleSet& set, std::uint32_t count) {
    if (count == 0) return {};
    std::vector<std::uint32_t> ids;
    ids.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) ids.push_back(set[i * set.size() / count]);
    return SampleSet(std::move(ids));
}

/// Sets of the given sizes at the ends of an edge and on it, in a unit that begins with id `first`.
struct Sets {
    SampleSet source, edge, destination;

    Sets(std::uint32_t first, std::uint32_t unit_samples, const EdgeCounts& counts) {
        const SampleSet all =
            spread(SampleSet::range(first, first + unit_samples), std::max(counts.source, counts.destination));
        source = spread(all, counts.source);
        edge = spread(counts.source < counts.destination ? source : all, counts.edge);
        if (counts.source == counts.edge) edge = source;
        destination = counts.destination == counts.edge ? edge : spread(all, counts.destination);
    }
};

/// Those of a part of two units, by numbers within each. Samples of the part are evenly spread between its first and
/// last one, at each end.
struct PartSets {
    SampleSet source, edge, destination;

    explicit PartSets(const PartOfUnits& part) {
        const EdgeCounts& counts = part.counts;
        std::vector<std::uint32_t> of_source, of_edge, of_destination;
        std::uint32_t next = 0;
        const auto fill = [&next](std::vector<std::uint32_t>& set, std::uint64_t size) {
            while (set.size() < size) set.push_back(next++);
        };
        const auto spread = [&counts](std::uint32_t first, std::uint32_t last, std::uint64_t number) {
            return first + number * (last - first + 1) / counts.edge;
        };
        for (std::uint32_t i = 0; i < counts.edge; ++i) {
            fill(of_source, spread(part.source_first, part.source_last, i));
            fill(of_destination, spread(part.destination_first, part.destination_last, i));
            of_source.push_back(next);
            of_destination.push_back(next);
            of_edge.push_back(next++);
        }
        fill(of_source, counts.source);
        fill(of_destination, counts.destination);
        source = SampleSet(std::move(of_source));
        edge = SampleSet(std::move(of_edge));
        destination = SampleSet(std::move(of_destination));
    }
};

/// An allocation and the batch's samples (EdgeAllocations): a kernel has 65535 at most, an operator few allocations.
std::uint32_t with_batch(unsigned allocation, std::uint32_t batch) {
    constexpr unsigned kAllocationBits = 8;
    return batch << kAllocationBits | allocation;
}

std::uint64_t probe_bytes(const OperatorPlacement& destination) {
    return 8 + (destination.unit_samples + 7) / 8;
}

}  // namespace

TransferCosts::TransferCosts(const PlatformConfig& platform, const ProgramMap& map, NetworkMeter& network)
    : platform_(platform),
      map_(map),
      network_(network),
      traffic_(platform.noc, platform.hbm, platform.endpoints().map.routers()),
      memory_(platform.endpoints().memory),
      setup_cycles_(platform.network_interface.setup_cycles),
      multicast_reads_(platform.network_interface.multicast_reads()) {}

const OperatorPlacement& TransferCosts::tensor_of(const EdgeEnds& ends) {
    return ends.source_stage < 0 ? *ends.source : *ends.destination;
}

std::uint32_t TransferCosts::block_of(const EdgeEnds& ends) {
    const Partition& cut = tensor_of(ends).partitions.front();
    return ceil_div(cut.dyn_dim, cut.n);
}

TransferCosts::Round TransferCosts::round_of(const EdgeEnds& ends) {
    const OperatorPlacement& tensor = tensor_of(ends);
    const std::uint32_t pieces = tensor.partitions.front().p, interfaces = tensor.store.interfaces;
    const std::uint32_t common = std::gcd(interfaces, pieces);
    return {interfaces / common * block_of(ends), std::uint64_t{pieces / common} * tensor.store.piece_stride};
}

std::uint64_t TransferCosts::displacement(std::uint16_t id, const Positions& ids) const {
    const Round round = round_of(map_.edge(id));     // no image has an empty cut
    return ids.first / round.samples * round.bytes;  // NOLINT(clang-analyzer-core.DivideZero)
}

Transfer& TransferCosts::tensor(std::uint16_t id, const EdgeCounts& counts) {
    const EdgeEnds& ends = map_.edge(id);
    constexpr unsigned kPhaseBits = 16;  // a tensor has 65535 samples at most
    std::uint32_t phase = 0;
    Positions at;  // in a tensor in HBM
    if (ends.edge->path == EdgePath::memory) {
        // Pieces go round the interfaces, so units that begin at the same place of a round are alike; the ids of the
        // first of them are surely there.
        const std::uint32_t round = round_of(ends).samples, span = counts.ids.last - counts.ids.first;
        const std::uint32_t begin = counts.ids.first % round;  // NOLINT(clang-analyzer-core.DivideZero)
        at = {begin, begin + span};
        phase = span << kPhaseBits | begin;
    }
    const auto [known, added] =
        entry({kTensor, id, phase, counts.source, counts.edge, counts.destination,
               with_batch(counts.allocations.source, counts.allocations.source_batch),
               with_batch(counts.allocations.destination, counts.allocations.destination_batch)});
    Transfer& transfer = *known;
    if (!added) return transfer;
    std::vector<NetworkMeter::Packet> packets;
    if (ends.edge->path == EdgePath::on_chip) {
        packets = on_chip(transfer, ends, counts);
    } else if (ends.source_stage < 0) {
        load(transfer, ends, at, counts);
    } else {
        store(transfer, ends, at, counts);
    }
    finish(transfer);
    if (!packets.empty()) transfer.stretch = stretch(id, counts, transfer, std::move(packets));
    return transfer;
}

double TransferCosts::stretch(std::uint16_t id, const EdgeCounts& counts, const Transfer& transfer,
                              std::vector<NetworkMeter::Packet> packets) {
    std::uint32_t busiest = 0, magnitude = 0;
    for (const Traffic::LinkUse& use : transfer.traffic.links) busiest = std::max(busiest, use.cycles);
    if (packets.size() < 2 || busiest < transfer.announce)
        return 1;  // shorter than the flights of probe and acknowledge
    while (counts.edge >> magnitude > 1) ++magnitude;
    const auto [known, added] =
        stretches_.try_emplace({id, magnitude, counts.allocations.source, counts.allocations.destination}, 1.0);
    if (!added) return known->second;
    std::uint64_t last_head = 0;
    for (const NetworkMeter::Packet& packet : packets) {
        for (const Endpoint receiver : packet.destinations)
            last_head = std::max(last_head, packet.offset_cycles + traffic_.head_cycles(packet.source, receiver));
    }
    const auto measured = static_cast<double>(network_.measure(std::move(packets)));
    return known->second = std::max(1.0, (measured - static_cast<double>(last_head)) / busiest);
}

void TransferCosts::probe(Transfer& transfer, const EdgeEnds& ends) {
    traffic_.add_packet(ends.source->tiles.front(), ends.destination->tiles, probe_bytes(*ends.destination));
    transfer.probe_links = traffic_.links_so_far();
    ++transfer.interfaces.probes;
}

std::vector<NetworkMeter::Packet> TransferCosts::on_chip(Transfer& transfer, const EdgeEnds& ends,
                                                         const EdgeCounts& counts) {
    const Sets sets(0, ends.source->unit_samples, counts);
    const hw::TransferPlan plan(*ends.edge, *ends.source, *ends.destination, sets.source, sets.edge, sets.destination,
                                counts.allocations);
    probe(transfer, ends);
    std::vector<std::uint64_t> probed;
    for (const Endpoint tile : ends.destination->tiles) {
        probed.push_back(setup_cycles_ +
                         traffic_.packet_cycles(ends.source->tiles.front(), tile, probe_bytes(*ends.destination)));
        flights_.announce.add(probed.back());
    }
    std::vector<NetworkMeter::Packet> packets = data(transfer, ends, plan, probed, true);
    transfer.announce = flights_.announce.value() + transfer.grant;
    return packets;
}

Transfer& TransferCosts::packed_probe(std::uint16_t id) {
    const auto [known, added] = entry({kPackedProbe, id});
    Transfer& transfer = *known;
    if (!added) return transfer;
    const EdgeEnds& ends = map_.edge(id);
    probe(transfer, ends);
    for (const Endpoint tile : ends.destination->tiles)
        flights_.announce.add(setup_cycles_ +
                              traffic_.packet_cycles(ends.source->tiles.front(), tile, probe_bytes(*ends.destination)));
    ++transfer.interfaces.packets;
    transfer.announce = flights_.announce.value();
    finish(transfer);
    return transfer;
}

Transfer& TransferCosts::part(std::uint16_t id, const PartOfUnits& part) {
    const EdgeCounts& counts = part.counts;
    const auto both = [](std::uint32_t high, std::uint32_t low) { return high << 16 | low; };  // 65535 samples at most
    const auto [known, added] =
        entry({kPart, both(part.granted ? 1 : 0, id), both(counts.source, counts.destination),
               both(part.source_first, part.source_last), both(part.destination_first, part.destination_last),
               counts.edge, counts.allocations.source_batch, counts.allocations.destination_batch});
    Transfer& transfer = *known;
    if (!added) return transfer;
    const EdgeEnds& ends = map_.edge(id);
    const PartSets sets(part);
    const hw::TransferPlan plan(*ends.edge, *ends.source, *ends.destination, sets.source, sets.edge, sets.destination,
                                counts.allocations);
    std::vector<NetworkMeter::Packet> packets =
        data(transfer, ends, plan, std::vector<std::uint64_t>(ends.destination->tiles.size(), 0), part.granted);
    transfer.announce = transfer.grant;  // the probe has come with the batch's first unit
    finish(transfer);
    if (!packets.empty()) transfer.stretch = stretch(id, counts, transfer, std::move(packets));
    return transfer;
}

std::vector<NetworkMeter::Packet> TransferCosts::data(Transfer& transfer, const EdgeEnds& ends,
                                                      const hw::TransferPlan& plan,
                                                      const std::vector<std::uint64_t>& probed, bool acknowledges) {
    const std::vector<std::uint16_t>&from = ends.source->tiles, &to = ends.destination->tiles;
    hw::NetworkInterface::Stats& stats = transfer.interfaces;
    for (unsigned rank = 0; rank < to.size(); ++rank) {
        const std::uint64_t expected = plan.expected_bytes(rank);
        stats.samples_received += plan.samples_received(rank);
        stats.received_bytes += expected;
        if (!rules::needs_input_slot(expected)) continue;
        transfer.empty = false;
        tiles_[to[rank]].write_bytes += expected;
        std::vector<Endpoint> senders;
        for (const std::uint16_t sender : plan.senders(rank)) {
            senders.push_back(from[sender]);
            flights_.head.add(traffic_.head_cycles(from[sender], to[rank]));
            flights_.acknowledge.add(traffic_.packet_cycles(to[rank], from[sender], 0));
        }
        if (!acknowledges) continue;
        traffic_.add_packet(to[rank], senders, 0);
        ++stats.acknowledges;
    }
    std::vector<NetworkMeter::Packet> packets;
    for (unsigned rank = 0; rank < from.size(); ++rank) {
        stats.samples_sent += plan.samples_sent(rank);
        for (const hw::TransferPlan::Group& group : plan.groups_from(rank)) {
            std::vector<Endpoint> receivers;
            std::uint64_t acknowledged = 0;
            for (const std::uint16_t receiver : group.ranks) {
                receivers.push_back(to[receiver]);
                acknowledged =
                    std::max(acknowledged, probed[receiver] + traffic_.packet_cycles(to[receiver], from[rank], 0));
            }
            const std::uint64_t max = platform_.network_interface.max_packet_bytes;
            for (std::uint64_t sent = 0; sent < group.bytes; sent += max)
                packets.push_back({acknowledged, from[rank], receivers, std::min(max, group.bytes - sent)});
            traffic_.add_packet(from[rank], receivers, group.bytes, max);
            tiles_[from[rank]].read_bytes += group.bytes;
            stats.sent_bytes += group.bytes;
            stats.delivered_copy_bytes += group.bytes * receivers.size();
        }
    }
    stats.packets = traffic_.so_far().packets;
    transfer.grant = flights_.acknowledge.value() + flights_.head.value();
    return packets;
}

void TransferCosts::read(Transfer& transfer, Endpoint reader, const std::vector<Endpoint>& receivers,
                         std::uint64_t address, std::uint64_t bytes, bool in_scratchpad) {
    const Endpoint memory = memory_of(address);
    traffic_.add_packet(reader, {memory}, 0);
    traffic_.add_request(address, bytes, false);
    traffic_.add_packet(memory, receivers, bytes, platform_.hbm.max_packet_bytes);
    tail_ = std::max(tail_, traffic_.serialisation_cycles(
                                memory, receivers, std::min<std::uint64_t>(bytes, platform_.hbm.max_packet_bytes)));
    hw::NetworkInterface::Stats& stats = transfer.interfaces;
    ++stats.packets;
    stats.memory_requested_bytes += bytes * receivers.size();
    stats.received_bytes += bytes * receivers.size();
    flights_.request.add(setup_cycles_ + traffic_.packet_cycles(reader, memory, 0));
    for (const Endpoint receiver : receivers) {
        flights_.head.add(traffic_.head_cycles(memory, receiver));
        if (in_scratchpad) tiles_[receiver].write_bytes += bytes;
    }
}

bool TransferCosts::tells_samples(const EdgeEnds& ends) const {
    const SegmentOrder* const order = map_.order(ends.destination->segment);
    return ends.source->store.index_list_bytes > 0 || (order != nullptr && !order->packs());
}

std::pair<Transfer*, bool> TransferCosts::entry(const Key& key) {
    const auto [known, added] = known_.try_emplace(key);
    if (added) in_order_.push_back(&known->second);
    return {&known->second, added};
}

Transfer& TransferCosts::index_lists(std::uint16_t id) {
    const auto [known, added] = entry({kIndexLists, id});
    Transfer& transfer = *known;
    const EdgeEnds& ends = map_.edge(id);
    if (!added || !tells_samples(ends)) return transfer;
    const TensorStore& store = ends.source->store;
    const Endpoint reader = ends.destination->tiles.front();
    if (store.index_list_bytes > 0) {
        const std::uint32_t records = ceil_div(ends.source->unit_samples, store.index_list_samples);
        read(transfer, reader, {reader}, store.index_list_address, std::uint64_t{records} * store.index_list_bytes,
             false);
    }
    const SegmentOrder* const order = map_.order(ends.destination->segment);
    if (order != nullptr) {
        const std::uint64_t samples = std::uint64_t{ends.destination->units} * ends.destination->unit_samples;
        for (const SegmentOrder::Key& key : order->keys)
            read(transfer, reader, {reader}, key.mask_address, samples * sizeof(std::uint64_t), false);
    }
    transfer.grant = flights_.request.value();
    transfer.empty = false;
    finish(transfer);
    return transfer;
}

std::vector<Endpoint> TransferCosts::read_along(Transfer& transfer, const std::vector<std::uint16_t>& tiles,
                                                const std::vector<std::uint16_t>& readers) {
    std::vector<Endpoint> receivers;
    for (const std::uint16_t reader : readers) {
        receivers.push_back(tiles[reader]);
        if (reader == readers.front()) continue;
        const Endpoint leader = receivers.front();
        traffic_.add_packet(tiles[reader], {leader}, 0);
        ++transfer.interfaces.acknowledges;
        ++transfer.interfaces.packets;
        flights_.acknowledge.add(traffic_.packet_cycles(tiles[reader], leader, 0));
    }
    return receivers;
}

void TransferCosts::load(Transfer& transfer, const EdgeEnds& ends, const Positions& at, const EdgeCounts& counts) {
    const std::vector<std::uint16_t>& to = ends.destination->tiles;
    if (tells_samples(ends) && to.size() > 1) {
        const std::vector<Endpoint> others(to.begin() + 1, to.end());
        traffic_.add_packet(to.front(), others, probe_bytes(*ends.destination));
        ++transfer.interfaces.probes;
        ++transfer.interfaces.packets;
        for (const Endpoint other : others) {
            flights_.announce.add(setup_cycles_ +
                                  traffic_.packet_cycles(to.front(), other, probe_bytes(*ends.destination)));
        }
        transfer.announce = flights_.announce.value();
    }
    EdgeCounts loaded = counts;
    loaded.source = std::min(counts.source, counts.destination);  // whatever else the tensor has
    const Sets sets(at.first, at.last - at.first, loaded);
    const hw::TransferPlan plan(*ends.edge, *ends.source, *ends.destination, sets.source, sets.edge, sets.destination,
                                counts.allocations);
    for (unsigned rank = 0; rank < to.size(); ++rank) {
        const std::vector<std::uint16_t> readers = hw::tensor_readers(plan, rank, multicast_reads_);
        if (readers.empty() || readers.front() != rank) continue;
        const std::vector<hw::TransferPlan::Access> reads = plan.reads(rank);
        if (reads.empty()) continue;
        const std::vector<Endpoint> receivers = read_along(transfer, to, readers);
        for (const hw::TransferPlan::Access& access : reads) {
            const std::uint64_t piece = ends.source->store.address(access.piece, 0, platform_.hbm.region_bytes);
            read(transfer, to[rank], receivers, piece + access.offset, access.bytes);
            transfer.empty = false;
        }
    }
    transfer.grant = flights_.acknowledge.value() + flights_.request.value();
}

void TransferCosts::write(Transfer& transfer, Endpoint writer, std::uint64_t address, std::uint64_t bytes,
                          bool from_scratchpad) {
    const Endpoint memory = memory_of(address);
    const std::uint64_t max = platform_.network_interface.max_packet_bytes;
    for (std::uint64_t done = 0; done < bytes; done += max) {
        const std::uint64_t part = std::min(max, bytes - done);
        traffic_.add_packet(writer, {memory}, part);
        tail_ = std::max(tail_, traffic_.serialisation_cycles(writer, {memory}, part));
        traffic_.add_request(address + done, part, true);
        traffic_.add_packet(memory, {writer}, 0);
        ++transfer.interfaces.packets;
    }
    transfer.interfaces.memory_written_bytes += bytes;
    if (from_scratchpad) tiles_[writer].read_bytes += bytes;
    transfer.grant = setup_cycles_;
    flights_.head.add(traffic_.head_cycles(writer, memory));
    flights_.back.add(traffic_.packet_cycles(memory, writer, 0));
    transfer.empty = false;
}

void TransferCosts::store(Transfer& transfer, const EdgeEnds& ends, const Positions& at, const EdgeCounts& counts) {
    const TensorStore& store = ends.destination->store;
    const std::vector<std::uint16_t>& from = ends.source->tiles;
    if (store.index_list_bytes > 0)
        write(transfer, from.front(),
              store.index_list_address + std::uint64_t{at.first} / ends.source->unit_samples * store.index_list_bytes,
              store.index_list_bytes, false);
    EdgeCounts stored = counts;
    stored.destination = std::min(counts.destination, counts.source);
    const Sets sets(at.first, at.last - at.first, stored);
    const hw::TransferPlan plan(*ends.edge, *ends.source, *ends.destination, sets.source, sets.edge, sets.destination,
                                counts.allocations);
    for (unsigned rank = 0; rank < from.size(); ++rank) {
        for (const hw::TransferPlan::Access& access : plan.writes(rank)) {
            const std::uint64_t piece = store.address(access.piece, 0, platform_.hbm.region_bytes);
            write(transfer, from[rank], piece + access.offset, access.bytes, true);
        }
    }
}

unsigned TransferCosts::weight_readers(std::uint16_t id, unsigned slice) const {
    const OperatorPlacement& stage = *map_.edge(id).destination;
    return multicast_reads_ ? 1 : static_cast<unsigned>(ceil_div(stage.tiles.size() - slice, stage.k_factor));
}

Transfer& TransferCosts::weights(std::uint16_t id, unsigned slice, unsigned reader) {
    const auto [known, added] = entry({kWeights, id, slice, reader});
    Transfer& transfer = *known;
    if (!added) return transfer;
    const EdgeEnds& ends = map_.edge(id);
    const std::vector<std::uint16_t>& to = ends.destination->tiles;
    const unsigned rank = slice + reader * ends.destination->k_factor;
    read(transfer, to[rank], read_along(transfer, to, hw::weight_readers(*ends.destination, rank, multicast_reads_)),
         ends.edge->slice_addresses.at(slice), ends.edge->weight_bytes);
    transfer.grant = flights_.acknowledge.value() + flights_.request.value();
    transfer.empty = false;
    finish(transfer);
    return transfer;
}

Transfer& TransferCosts::masks(std::uint16_t id, std::uint32_t samples, unsigned allocation, std::uint32_t batch) {
    const auto [known, added] = entry({kMasks, id, 0, samples, 0, 0, with_batch(allocation, batch)});
    Transfer& transfer = *known;
    if (!added) return transfer;
    const EdgeEnds& ends = map_.edge(id);
    const OperatorPlacement& gate = *ends.source;
    const Stage& stage = map_.stages()[static_cast<std::size_t>(ends.source_stage)];
    const int fit = gate.best_fit(allocation, batch > 0 ? batch : samples);
    for (unsigned rank = 0; rank < gate.tiles.size() && fit >= 0; ++rank) {
        const Box box =
            output_box(gate.shape, gate.unit_partition(static_cast<std::size_t>(fit)), gate.k_factor, rank, samples);
        if (box.empty() || box.k0 != 0 || box.p0 != 0) continue;
        const std::uint32_t each =
            ends.edge->path == EdgePath::labels ? kLabelBytes : (stage.share->gate_branches + 7U) / 8U;
        const std::uint64_t bytes = std::uint64_t{box.n1 - box.n0} * each;
        traffic_.add_packet(gate.tiles[rank], ends.destination->tiles, bytes);
        ++transfer.interfaces.packets;
        for (const Endpoint tile : ends.destination->tiles)
            flights_.announce.add(setup_cycles_ + traffic_.packet_cycles(gate.tiles[rank], tile, bytes));
        transfer.empty = false;
    }
    transfer.announce = flights_.announce.value();
    finish(transfer);
    return transfer;
}

Transfer& TransferCosts::recorded_masks(const Stage& gate, std::uint32_t samples) {
    const auto [known, added] = entry({kRecordedMasks, gate.placement->op_id});
    Transfer& transfer = *known;
    if (!added) return transfer;
    const std::uint64_t bytes = std::uint64_t{samples} * sizeof(std::uint64_t);
    for (const Endpoint tile : gate.placement->tiles)
        read(transfer, tile, {tile}, gate.share->mask_address, bytes, false);
    transfer.grant = flights_.request.value();
    transfer.empty = false;
    finish(transfer);
    return transfer;
}

void TransferCosts::finish(Transfer& transfer) {
    transfer.head = flights_.head.value();
    transfer.back = flights_.back.value();
    transfer.tail = std::exchange(tail_, 0);
    transfer.traffic = traffic_.take();
    flights_ = Flights{};
    for (auto& [tile, use] : tiles_) {
        use.tile = tile;
        transfer.tiles.push_back(use);
    }
    tiles_.clear();
}

}  // namespace switchyard::platform
