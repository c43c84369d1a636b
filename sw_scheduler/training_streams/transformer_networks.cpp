// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/training_streams/network_builders.h"

namespace switchyard::sched {

namespace {

/// Multi-head attention over `sets` independent sequences of `length` rows; `bias`: added to the logits if there is
/// one. The result is gated (Evoformer) or not, and has been multiplied by its last weights.
struct Attention {
    std::uint64_t sets, length, channels, heads, head_channels;
    bool gated;
};

TensorId attention(StepRecorder& r, const std::string& name, TensorId x, const Attention& a,
                   TensorId bias = kNoTensor) {
    const std::uint64_t rows = a.sets * a.length, inner = a.heads * a.head_channels;
    const TensorId q = r.transpose(r.linear(x, name + ".query", rows, a.channels, inner));
    const TensorId k = r.transpose(r.linear(x, name + ".key", rows, a.channels, inner));
    const TensorId v = r.transpose(r.linear(x, name + ".value", rows, a.channels, inner));
    TensorId logits = r.product(q, k, a.sets * a.heads, a.length, a.head_channels, a.length);
    if (bias != kNoTensor) logits = r.add(logits, bias);
    TensorId weights = r.softmax(logits);
    if (!a.gated) weights = r.dropout(weights);
    TensorId context = r.transpose(r.product(weights, v, a.sets * a.heads, a.length, a.length, a.head_channels));
    if (a.gated) context = r.multiply(context, r.sigmoid(r.linear(x, name + ".gate", rows, a.channels, inner)));
    return r.linear(context, name + ".out", rows, inner, a.channels);
}

TensorId transition(StepRecorder& r, const std::string& name, TensorId x, std::uint64_t rows, std::uint64_t channels) {
    const TensorId wide =
        r.relu(r.linear(r.layer_norm(x, name + ".norm", channels), name + ".1", rows, channels, 4 * channels));
    return r.add(x, r.linear(wide, name + ".2", rows, 4 * channels, channels));
}

TensorId bert_layer(StepRecorder& r, const TrainingNetworkConfig& c, TensorId x, unsigned layer) {
    const std::string name = fmt::format("layer{:04}", layer);
    const std::uint64_t rows = std::uint64_t{c.batch} * c.segment, width = c.width;
    const Attention shape{c.batch, c.segment, width, c.heads, width / c.heads, false};
    x = r.layer_norm(r.add(x, r.dropout(attention(r, name, x, shape))), name + ".norm1", width);
    const TensorId wide = r.gelu(r.linear(x, name + ".up", rows, width, 4 * width));
    return r.layer_norm(r.add(x, r.dropout(r.linear(wide, name + ".down", rows, 4 * width, width))), name + ".norm2",
                        width);
}

/// Update of the pairs (i, j) by all triangles with a third residue.
TensorId triangle_product(StepRecorder& r, const std::string& name, TensorId pair, std::uint64_t batch,
                          std::uint64_t residues, std::uint64_t channels) {
    const std::uint64_t rows = batch * residues * residues;
    const TensorId x = r.layer_norm(pair, name + ".norm", channels);
    const auto gated = [&](const char* part) {
        return r.multiply(r.linear(x, name + part, rows, channels, channels),
                          r.sigmoid(r.linear(x, name + part + ".gate", rows, channels, channels)));
    };
    const TensorId a = gated(".a"), b = gated(".b");
    const TensorId joined = r.product(r.transpose(a), r.transpose(b), batch * channels, residues, residues, residues);
    const TensorId out =
        r.linear(r.layer_norm(r.transpose(joined), name + ".norm2", channels), name + ".out", rows, channels, channels);
    return r.add(pair, r.multiply(out, r.sigmoid(r.linear(x, name + ".gate", rows, channels, channels))));
}

}  // namespace

void record_bert(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    constexpr std::uint64_t kVocabulary = 30522, kPlaces = 4096;  // of BERT; places a segment
    const std::uint64_t rows = std::uint64_t{c.batch} * c.segment;
    TensorId state = kNoTensor;
    for (unsigned trip = 0; trip < trips_of(decisions); ++trip) {
        r.at(kPlaces * (trip + 1), 1);
        TensorId x = r.embedding(r.input(rows), "vocabulary", kVocabulary, rows, c.width);
        x = r.dropout(r.layer_norm(x, "embedding.norm", c.width));
        for (unsigned layer = 0; layer < c.blocks; ++layer) {
            r.at(kPlaces * (trip + 1) + 1 + layer, 2 + layer);
            x = bert_layer(r, c, x, layer);
        }
        r.at(kPlaces * (trip + 1) + c.blocks + 1, 0xFFF0);
        const TensorId pooled = r.mean(x, std::uint64_t{c.batch} * c.width);
        state = state == kNoTensor ? pooled : r.add(state, pooled);
        r.control_flow(0);
    }
    r.at(kPlaces - 1, 0xFFFF);
    r.loss(r.linear(r.tanh(r.linear(state, "pooler", c.batch, c.width, c.width)), "classifier", c.batch, c.width, 8));
}

void record_evoformer(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    const std::uint64_t batch = c.batch, residues = c.rows, sequences = c.sequences, msa_width = c.width,
                        pair_width = c.width / 2;
    const std::uint64_t msa_rows = batch * sequences * residues, pair_rows = batch * residues * residues;
    constexpr std::uint64_t kHead = 32, kOuter = 32;  // openfold: channels of a head, of the outer product
    r.at(0, 0);
    TensorId msa = r.linear(r.input(msa_rows * 49), "msa", msa_rows, 49, msa_width);
    TensorId pair = r.linear(r.input(pair_rows * 22), "pair", pair_rows, 22, pair_width);
    for (unsigned trip = 0; trip < trips_of(decisions); ++trip) {
        const std::string name = fmt::format("block{}", trip);
        r.at(1 + trip, 1);
        const std::uint64_t heads = msa_width / kHead, pair_heads = pair_width / kHead;
        TensorId x = r.layer_norm(msa, name + ".row.norm", msa_width);
        // The bias is the same for all aligned sequences; it is written out for each, as the product adds it.
        const TensorId bias =
            r.linear(r.layer_norm(pair, name + ".bias.norm", pair_width), name + ".bias", pair_rows, pair_width, heads);
        msa = r.add(msa,
                    attention(r, name + ".row", x, {batch * sequences, residues, msa_width, heads, kHead, true}, bias));
        x = r.transpose(r.layer_norm(msa, name + ".column.norm", msa_width));
        msa = r.add(msa, r.transpose(attention(r, name + ".column", x,
                                               {batch * residues, sequences, msa_width, heads, kHead, true})));
        msa = transition(r, name + ".msa", msa, msa_rows, msa_width);
        x = r.layer_norm(msa, name + ".outer.norm", msa_width);
        const TensorId left = r.transpose(r.linear(x, name + ".outer.a", msa_rows, msa_width, kOuter));
        const TensorId right = r.transpose(r.linear(x, name + ".outer.b", msa_rows, msa_width, kOuter));
        const TensorId outer = r.product(left, right, batch, residues * kOuter, sequences, residues * kOuter);
        pair = r.add(pair, r.linear(outer, name + ".outer.out", pair_rows, kOuter * kOuter, pair_width));
        for (const char* direction : {".out", ".in"})
            pair = triangle_product(r, name + ".triangle" + direction, pair, batch, residues, pair_width);
        for (const char* side : {".start", ".end"}) {
            const std::string part = name + ".triangle" + side;
            x = r.layer_norm(pair, part + ".norm", pair_width);
            const TensorId pair_bias = r.linear(x, part + ".bias", pair_rows, pair_width, pair_heads);
            pair = r.add(pair, attention(r, part, x, {batch * residues, residues, pair_width, pair_heads, kHead, true},
                                         pair_bias));
        }
        pair = transition(r, name + ".pair", pair, pair_rows, pair_width);
        r.control_flow(0);
    }
    r.at(0xFFFFFF, 0xFFFF);
    const TensorId single =
        r.linear(r.mean(msa, batch * residues * msa_width), "single", batch * residues, msa_width, 384);
    const TensorId distances =
        r.linear(r.mean(pair, batch * residues * pair_width), "distances", batch * residues, pair_width, 384);
    r.loss(r.add(single, distances));
}

}  // namespace switchyard::sched
