// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/transfer_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw;

namespace {

struct Random {
    std::mt19937 engine{20261121};
    std::uint32_t operator()(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(engine() % (high - low + 1));
    }
};

OperatorPlacement placement(const OperatorShape& shape, std::uint16_t k_factor, Partition part) {
    OperatorPlacement p;
    p.shape = shape;
    p.k_factor = k_factor;
    p.partitions = {part};
    p.unit_samples = part.dyn_dim;
    p.tiles.resize(std::size_t{part.n} * part.p * k_factor);
    std::iota(p.tiles.begin(), p.tiles.end(), std::uint16_t{0});
    return p;
}

SampleSet subset(Random& random, const SampleSet& of, std::uint32_t percent) {
    std::vector<std::uint32_t> ids;
    for (const std::uint32_t id : of.ids()) {
        if (random(0, 99) < percent) ids.push_back(id);
    }
    return SampleSet(ids);
}

bool in(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
    return value >= first && value < last;
}

/// Bytes from rank to rank, element by element of the tensor: no arithmetic on ranges.
std::uint64_t brute_force(const Edge& edge, const OperatorPlacement& source, const OperatorPlacement& destination,
                          const SampleSet& source_set, const SampleSet& edge_set, const SampleSet& destination_set,
                          unsigned source_rank, unsigned destination_rank) {
    const Box made = output_box(source.shape, source.partitions[0], source.k_factor, source_rank,
                                static_cast<std::uint32_t>(source_set.size()));
    const Box out = output_box(destination.shape, destination.partitions[0], destination.k_factor, destination_rank,
                               static_cast<std::uint32_t>(destination_set.size()));
    if (made.empty() || out.empty()) return 0;
    const OperatorShape& shape = destination.shape;
    std::uint64_t elements = 0;
    for (const std::uint32_t id : edge_set.ids()) {
        if (!in(static_cast<std::uint32_t>(source_set.index_of(id)), made.n0, made.n1)) continue;
        if (!in(static_cast<std::uint32_t>(destination_set.index_of(id)), out.n0, out.n1)) continue;
        for (std::uint32_t row = 0; row < edge.rows; ++row) {
            if (!in(row, made.p0, made.p1)) continue;
            // Does any output row of the consumer read this input row?
            bool needed = false;
            for (std::uint32_t p = out.p0; p < out.p1 && !needed; ++p) {
                for (std::uint32_t r = 0; r < shape.filter_rows && !needed; ++r) {
                    needed = p * shape.stride + r == row + shape.pad;
                }
            }
            if (!needed) continue;
            for (std::uint32_t channel = 0; channel < edge.channels; ++channel) {
                if (!in(edge.first_channel + channel, made.k0, made.k1)) continue;
                if (shape.channelwise() && !in(channel, out.k0, out.k1)) continue;
                elements += edge.columns;
            }
        }
    }
    return 2 * elements;
}

}  // namespace

TEST_CASE("a plan moves every element that the consumer needs, and nothing else", "[transfer_plan]") {
    Random random;
    for (int round = 0; round < 300; ++round) {
        const bool channelwise = round % 3 == 0;
        OperatorShape producer;
        producer.kind = OpKind::convolution;
        producer.out_channels = static_cast<std::uint16_t>(random(1, 6));
        producer.out_rows = static_cast<std::uint16_t>(random(3, 9));
        producer.out_columns = 4;

        // Some consumers take only a few of the producer's channels.
        const auto first_channel =
            static_cast<std::uint16_t>(round % 2 == 0 ? 0 : random(0, producer.out_channels - 1u));
        const auto taken = static_cast<std::uint16_t>(
            round % 2 == 0 ? producer.out_channels : random(1, std::uint32_t{producer.out_channels} - first_channel));
        OperatorShape consumer;
        consumer.kind = channelwise ? OpKind::pool : OpKind::convolution;
        consumer.in_channels = taken;
        consumer.out_channels = channelwise ? taken : static_cast<std::uint16_t>(random(1, 6));
        consumer.in_rows = producer.out_rows;
        consumer.in_columns = 4;
        consumer.filter_rows = consumer.filter_columns = static_cast<std::uint16_t>(random(1, 3));
        consumer.pad = consumer.filter_rows / 2;
        // A stride beyond the filter leaves rows unread, which travel all the same: boxes are contiguous.
        consumer.stride = static_cast<std::uint16_t>(random(1, std::min<std::uint32_t>(2, consumer.filter_rows)));
        consumer.out_rows = static_cast<std::uint16_t>(
            (consumer.in_rows + 2 * consumer.pad - consumer.filter_rows) / consumer.stride + 1);
        consumer.out_columns = 4;

        Edge edge;
        edge.first_channel = first_channel;
        edge.channels = taken;
        edge.rows = producer.out_rows;
        edge.columns = 4;

        const std::uint32_t samples = random(1, 12);
        const SampleSet outer = SampleSet::range(0, samples);
        const SampleSet source_set = subset(random, outer, 80);
        const SampleSet edge_set = subset(random, source_set, 60);
        const SampleSet& destination_set = round % 2 == 0 ? edge_set : outer;

        const auto part = [&random, samples](std::uint16_t rows) {
            return Partition{static_cast<std::uint16_t>(samples + random(0, 3)),
                             static_cast<std::uint16_t>(random(1, 4)),
                             static_cast<std::uint16_t>(random(1, std::min<std::uint32_t>(3, rows)))};
        };
        const OperatorPlacement source =
            placement(producer, static_cast<std::uint16_t>(random(1, 3)), part(producer.out_rows));
        const OperatorPlacement destination =
            placement(consumer, static_cast<std::uint16_t>(random(1, 3)), part(consumer.out_rows));

        const TransferPlan plan(edge, source, destination, source_set, edge_set, destination_set);
        std::uint64_t from_groups = 0;
        std::uint64_t total = 0;
        for (unsigned d = 0; d < destination.tiles.size(); ++d) {
            std::uint64_t sum = 0;
            for (unsigned s = 0; s < source.tiles.size(); ++s) {
                const std::uint64_t expected =
                    brute_force(edge, source, destination, source_set, edge_set, destination_set, s, d);
                CHECK(plan.bytes(s, d) == expected);
                sum += expected;
            }
            CHECK(plan.expected_bytes(d) == sum);
            total += sum;
        }
        std::uint32_t sent = 0;
        std::uint32_t received = 0;
        for (unsigned s = 0; s < source.tiles.size(); ++s) {
            sent += plan.samples_sent(s);
            std::vector<bool> served(destination.tiles.size(), false);
            for (const TransferPlan::Group& group : plan.groups_from(s)) {
                CHECK(group.bytes > 0);
                from_groups += group.bytes * group.ranks.size();
                for (const std::uint16_t rank : group.ranks) {
                    CHECK(plan.bytes(s, rank) == group.bytes);
                    CHECK_FALSE(served[rank]);
                    served[rank] = true;
                }
            }
        }
        for (unsigned d = 0; d < destination.tiles.size(); ++d) received += plan.samples_received(d);
        CHECK(from_groups == total);
        CHECK(sent == edge_set.size());
        CHECK(received == edge_set.size());
    }
}

TEST_CASE("tiles of an attention get the heads that they compute, those of one head the same", "[transfer_plan]") {
    OperatorShape producer;
    producer.out_channels = 24;  // four heads: 2 queries, 2 keys and 2 values each
    producer.out_rows = 5;
    OperatorShape attention;
    attention.kind = OpKind::attention;
    attention.in_channels = 24;
    attention.out_channels = 8;
    attention.in_rows = attention.out_rows = 5;
    attention.heads = 4;
    Edge edge;
    edge.channels = 24;
    edge.rows = 5;
    const SampleSet samples = SampleSet::range(0, 3);
    const std::uint64_t head = 2u * 3 * 6 * 5;  // bytes of three samples
    for (const std::uint16_t k_factor : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{4}, std::uint16_t{8}}) {
        const OperatorPlacement source = placement(producer, 1, Partition{3, 1, 1});
        const OperatorPlacement destination = placement(attention, k_factor, Partition{3, 1, 1});
        const TransferPlan plan(edge, source, destination, samples, samples, samples);
        const unsigned sharers = k_factor <= 4 ? 1 : k_factor / 4u;
        for (unsigned rank = 0; rank < k_factor; ++rank) {
            CHECK(plan.expected_bytes(rank) == head * (k_factor < 4 ? 4 / k_factor : 1));
            CHECK(plan.sharers(rank).size() == sharers);
            CHECK(plan.sharers(rank).front() == rank / sharers * sharers);
        }
        CHECK(plan.groups_from(0).size() == k_factor / sharers);
    }
}

TEST_CASE("a tensor in memory is written exactly once and read as it was written", "[transfer_plan]") {
    Random random;
    for (int round = 0; round < 100; ++round) {
        OperatorShape shape;
        shape.kind = OpKind::elementwise;
        shape.out_channels = shape.in_channels = static_cast<std::uint16_t>(random(1, 9));
        shape.out_rows = shape.in_rows = static_cast<std::uint16_t>(random(1, 9));
        shape.out_columns = shape.in_columns = 3;
        Edge edge;
        edge.channels = shape.out_channels;
        edge.rows = shape.out_rows;
        edge.columns = 3;
        const auto row_factor = [&] { return static_cast<std::uint16_t>(random(1, shape.out_rows)); };
        OperatorPlacement tensor =
            placement(shape, 1, Partition{16, static_cast<std::uint16_t>(random(1, 16)), row_factor()});
        tensor.segment = kNone;
        tensor.unit_samples = 16;
        const SampleSet source_set = subset(random, SampleSet::range(4, 12), 70);
        const SampleSet edge_set = subset(random, source_set, 50);
        // The tensor may hold only some of the channels that the tiles make.
        OperatorShape made = shape;
        const auto before = static_cast<std::uint16_t>(random(0, 4));
        made.out_channels = made.in_channels = static_cast<std::uint16_t>(before + shape.out_channels + random(0, 4));
        Edge store = edge;
        store.first_channel = before;
        const Partition factors{8, static_cast<std::uint16_t>(random(1, 4)), row_factor()};
        const OperatorPlacement makers = placement(made, static_cast<std::uint16_t>(random(1, 5)), factors);
        const OperatorPlacement tiles = placement(shape, static_cast<std::uint16_t>(random(1, 3)), factors);
        const std::uint64_t sample = 2u * edge.channels * edge.rows * edge.columns;
        const auto piece_bytes = [&](unsigned piece) {
            const Box box = output_box(shape, tensor.partitions[0], 1, piece, 16);
            return std::uint64_t{2} * ((16u + tensor.partitions[0].n - 1) / tensor.partitions[0].n) * edge.channels *
                   (box.p1 - box.p0) * edge.columns;
        };

        const TransferPlan writing(store, makers, tensor, source_set, edge_set, edge_set);
        const TransferPlan reading(edge, tensor, tiles, edge_set, edge_set, edge_set);
        std::map<unsigned, std::uint64_t> written, read;
        for (unsigned rank = 0; rank < makers.tiles.size(); ++rank) {
            for (const TransferPlan::Access& part : writing.writes(rank)) {
                CHECK(part.offset + part.bytes <= piece_bytes(part.piece));
                written[part.piece] += part.bytes;
            }
        }
        for (unsigned rank = 0; rank < tiles.tiles.size(); ++rank) {
            std::uint64_t got = 0;
            for (const TransferPlan::Access& part : reading.reads(rank)) {
                CHECK(part.offset + part.bytes <= piece_bytes(part.piece));
                read[part.piece] += part.bytes;
                got += part.bytes;
            }
            CHECK(got == reading.expected_bytes(rank));
        }
        CHECK(written == read);  // element-wise: each element is needed by one tile
        std::uint64_t sum = 0;
        for (const auto& [piece, bytes] : written) sum += bytes;
        CHECK(sum == edge_set.size() * sample);
    }
}

TEST_CASE("whoever gets bytes from a rank is told of by senders()", "[transfer_plan]") {
    Random random;
    for (int round = 0; round < 100; ++round) {
        OperatorShape shape;
        shape.kind = round % 2 == 0 ? OpKind::merge : OpKind::matmul;
        shape.out_channels = shape.in_channels = 8;
        shape.out_rows = shape.in_rows = 6;
        Edge edge;
        edge.channels = 8;
        edge.rows = 6;
        const SampleSet samples = SampleSet::range(0, random(1, 8));
        const auto spread = [&] {
            return placement(
                shape, static_cast<std::uint16_t>(random(1, 3)),
                Partition{8, static_cast<std::uint16_t>(random(1, 4)), static_cast<std::uint16_t>(random(1, 3))});
        };
        const OperatorPlacement source = spread(), destination = spread();
        const TransferPlan plan(edge, source, destination, samples, samples, samples);
        for (unsigned d = 0; d < destination.tiles.size(); ++d) {
            std::vector<std::uint16_t> expected;
            for (unsigned s = 0; s < source.tiles.size(); ++s) {
                if (plan.bytes(s, d) > 0) expected.push_back(static_cast<std::uint16_t>(s));
            }
            CHECK(plan.senders(d) == expected);
        }
    }
}

TEST_CASE("a pooled tensor in memory has a row for each partial sum", "[transfer_plan]") {
    OperatorShape producer, stored, gate;
    producer.out_channels = 16;
    producer.out_rows = 14;
    producer.out_columns = 8;
    stored.kind = OpKind::elementwise;
    stored.out_channels = stored.in_channels = 16;
    stored.out_rows = stored.in_rows = 4;
    gate.kind = OpKind::matmul;
    gate.in_channels = 16;
    Edge edge;
    edge.reduce = EdgeReduce::global_pool;
    edge.channels = 16;
    edge.rows = 4;
    const OperatorPlacement consumer = placement(gate, 1, {4, 1, 1});
    const SampleSet samples = SampleSet::range(0, 4);
    for (const std::uint16_t cut : {1, 2, 4}) {  // the pieces hold the shares of their own rows
        CAPTURE(cut);
        OperatorPlacement tensor = placement(stored, 1, {8, 2, cut});
        tensor.segment = kNone;
        tensor.unit_samples = 8;
        const std::uint64_t piece_bytes = 4 * (4 / cut) * 16 * 2;
        for (const std::uint16_t p : {1, 2, 3, 4}) {  // however few parts there are, every row is written
            const OperatorPlacement tiles = placement(producer, 1, {4, 1, p});
            const TransferPlan writing(edge, tiles, tensor, samples, samples, samples);
            std::uint64_t written = 0;
            for (unsigned rank = 0; rank < p; ++rank) {
                for (const TransferPlan::Access& part : writing.writes(rank)) {
                    written += part.bytes;
                    CHECK(part.offset + part.bytes <= piece_bytes);
                    CHECK(writing.part(rank, part.piece).rows <= 4u / cut);
                }
            }
            CHECK(written == 4 * 4 * 16 * 2);
        }
        const TransferPlan reading(edge, tensor, consumer, samples, samples, samples);
        CHECK(reading.expected_bytes(0) == 4 * 4 * 16 * 2);
        std::uint64_t read = 0;
        for (const TransferPlan::Access& part : reading.reads(0)) read += part.bytes;
        CHECK(read == 4 * 4 * 16 * 2);
        CHECK(reading.reads(0).size() == cut);
    }
}

TEST_CASE("a globally pooled edge carries one partial sum a producer row slice", "[transfer_plan]") {
    OperatorShape producer;
    producer.out_channels = 16;
    producer.out_rows = 8;
    producer.out_columns = 8;
    OperatorShape gate;
    gate.kind = OpKind::matmul;
    gate.in_channels = 16;
    Edge edge;
    edge.reduce = EdgeReduce::global_pool;
    edge.channels = 16;
    edge.rows = edge.columns = 8;
    const SampleSet samples = SampleSet::range(0, 5);
    const OperatorPlacement source = placement(producer, 1, {8, 1, 4});
    const OperatorPlacement destination = placement(gate, 1, {8, 1, 1});
    const TransferPlan plan(edge, source, destination, samples, samples, samples);
    CHECK(plan.bytes(2, 0) == 5 * 16 * 2);
    CHECK(plan.expected_bytes(0) == 4 * 5 * 16 * 2);
}

TEST_CASE("a plan without a kernel that is large enough is refused", "[transfer_plan]") {
    const OperatorPlacement small = placement(OperatorShape{}, 1, {4, 1, 1});
    const SampleSet samples = SampleSet::range(0, 5);
    CHECK_THROWS_AS(TransferPlan(Edge{}, small, small, samples, samples, samples), std::domain_error);
}

TEST_CASE("the batch's samples choose the kernels of its units, where kernels are invoked once a batch",
          "[transfer_plan]") {
    OperatorShape shape;
    shape.kind = OpKind::convolution;
    shape.out_channels = shape.in_channels = 4;
    shape.out_rows = shape.in_rows = shape.out_columns = shape.in_columns = 8;
    const OperatorPlacement source = placement(shape, 1, {32, 1, 1});
    // One tile for up to two samples of a batch, two for up to a unit, four for more.
    OperatorPlacement tiles = placement(shape, 1, {8, 4, 1});
    tiles.units = 4;
    tiles.partitions = {{2, 1, 1}, {8, 2, 1}, {32, 4, 1}};
    CHECK(tiles.invoked_by_batch());
    CHECK_FALSE(source.invoked_by_batch());
    Edge edge;
    edge.channels = 4;
    edge.rows = edge.columns = 8;
    const auto samples_of = [&](std::uint32_t unit, std::uint32_t batch) {
        const SampleIndexList index_list{SampleSet::range(0, unit), nullptr, {}, batch};
        const TransferPlan plan(edge, source, tiles, index_list);
        std::vector<std::uint64_t> samples;
        for (unsigned rank = 0; rank < 4; ++rank) samples.push_back(plan.expected_bytes(rank) / (2 * 4 * 8 * 8));
        return samples;
    };
    CHECK(samples_of(2, 2) == std::vector<std::uint64_t>{2, 0, 0, 0});
    CHECK(samples_of(2, 7) == std::vector<std::uint64_t>{2, 0, 0, 0});
    CHECK(samples_of(7, 7) == std::vector<std::uint64_t>{4, 3, 0, 0});
    CHECK(samples_of(7, 20) == std::vector<std::uint64_t>{2, 2, 2, 1});
    CHECK(samples_of(1, 32) == std::vector<std::uint64_t>{1, 0, 0, 0});
    CHECK_THROWS_AS(samples_of(1, 33), std::domain_error);
}

TEST_CASE("the sizes of a unit choose the tiles of an operator that shares some", "[transfer_plan][sharing]") {
    OperatorShape shape;
    shape.kind = OpKind::convolution;
    shape.out_channels = shape.in_channels = 4;
    shape.out_rows = shape.in_rows = shape.out_columns = shape.in_columns = 8;
    const OperatorPlacement source = placement(shape, 1, {8, 1, 1});
    // Two tiles; three, as long as the other branch has at most two samples; one for up to four samples.
    OperatorPlacement shares = placement(shape, 1, {8, 3, 1});
    shares.unit_samples = 8;
    shares.partitions = {{8, 2, 1}, {8, 3, 1}, {4, 1, 1}};
    shares.allocations = {{0, {{8, 80}}, {{8, 80}}}, {1, {{8, 60}}, {{2, 60}}}, {2, {{4, 70}}, {{8, 50}}}};
    Edge edge;
    edge.switch_id = 0;
    edge.branch = 1;
    edge.partner = 0;
    edge.channels = 4;
    edge.rows = edge.columns = 8;
    const SampleIndexListPtr unit =
        std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet::range(0, 8), nullptr});
    const auto receivers = [&](std::uint32_t here, std::uint32_t there) {
        const SampleIndexList index_list{SampleSet::range(0, here), unit, SampleSet::range(here, here + there)};
        const TransferPlan plan(edge, source, shares, index_list);
        std::uint64_t bytes = 0;
        unsigned count = 0;
        for (unsigned rank = 0; rank < 3; ++rank) {
            bytes += plan.expected_bytes(rank);
            count += plan.expected_bytes(rank) > 0 ? 1 : 0;
        }
        CHECK(bytes == std::uint64_t{2} * here * 4 * 8 * 8);
        return count;
    };
    CHECK(receivers(8, 0) == 3);  // blocks of three samples
    CHECK(receivers(6, 2) == 2);  // ... of which the third has none
    CHECK(receivers(5, 3) == 2);
    CHECK(receivers(4, 4) == 1);
    CHECK(receivers(0, 8) == 0);

    // The producer's allocation follows from the index list in front of a switch, the consumer's from that behind a
    // merge.
    Edge out = edge;
    out.switch_id = out.partner = kNone;
    out.pops = 1;
    const SampleIndexList index_list{SampleSet::range(0, 7), unit, SampleSet::range(7, 8)};
    CHECK(allocations_of(out, index_list, shares, source).source == 1);
    CHECK(allocations_of(edge, index_list, source, shares).destination == 1);
    CHECK(allocations_of(edge, index_list, source, shares).source == 0);
}
