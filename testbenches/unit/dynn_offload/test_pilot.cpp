// SPDX-License-Identifier: Apache-2.0
// Execution blocks, the pilot, its training, its files, and the way back from its output to a path.
#include <algorithm>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"
#include "switchyard/sw_scheduler/training_streams/operator_types.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/dynn_offload/dynn_offload_bench.h"

using namespace switchyard;
using namespace switchyard::dynn_offload;
using Catch::Matchers::ContainsSubstring;
using sched::TrainingNetwork;
using test::kNetworks;
using test::network_of;
using test::TemporaryFile;

namespace {

PilotTrace small_trace(std::size_t samples = 400) {
    const TrainingNetwork network =
        network_of("ugan", {{"training.width", "256"}, {"training.label_buffer_gb", "0.02"}});
    BlockPlanner planner(network, label_partition(network));
    return record_trace(network, planner, Representation::idiom, 3, samples);
}

/// What every partition has to keep.
void check_blocks(const sched::TrainingStream& stream, const ExecutionBlocks& made, std::uint64_t buffer) {
    std::uint32_t next = 0;
    for (const ExecutionBlock& block : made.blocks) {
        CHECK(block.first == next);
        CHECK(block.operators > 0);
        CHECK(block.needed_bytes <= buffer);
        next += block.operators;
        std::vector<sched::TensorId> needed;
        for (std::uint32_t i = block.first; i < next; ++i)
            for (const sched::TensorId id : stream.storages(i)) needed.push_back(id);
        std::sort(needed.begin(), needed.end());
        needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
        CHECK(block.needed == needed);
    }
    CHECK(next == stream.operators.size());
}

}  // namespace

TEST_CASE("blocks cover the stream and fit the buffer, by all rules", "[dynn_offload]") {
    for (const char* name : {"var_lstm", "tree_lstm", "ugan"}) {
        const TrainingNetwork network = network_of(name, {{"training.width", "256"}});
        const std::shared_ptr<const sched::TrainingStream> stream = network.stream(network.paths() - 1);
        std::uint64_t largest = 0;
        for (std::uint32_t i = 0; i < stream->operators.size(); ++i) {
            std::uint64_t bytes = 0;
            for (const sched::TensorId id : stream->storages(i)) bytes += stream->tensors[id].bytes;
            largest = std::max(largest, bytes);
        }
        for (const double factor : {1.0, 2.0, 5.0, 100.0}) {
            PartitionConfig config;
            config.buffer_bytes = static_cast<std::uint64_t>(static_cast<double>(largest) * factor);
            const ExecutionBlocks sentinel = partition(*stream, config);
            check_blocks(*stream, sentinel, config.buffer_bytes);
            config.blocks = static_cast<unsigned>(sentinel.blocks.size());
            for (const PartitionRule rule : {PartitionRule::operators, PartitionRule::time, PartitionRule::bytes}) {
                config.rule = rule;
                const ExecutionBlocks other = partition(*stream, config);
                check_blocks(*stream, other, config.buffer_bytes);
                if (rule == PartitionRule::operators && factor == 100.0)
                    for (const ExecutionBlock& block : other.blocks)
                        CHECK(block.operators >= stream->operators.size() / config.blocks / 2);
            }
        }
        PartitionConfig config;
        config.buffer_bytes = largest - 1;
        CHECK_THROWS_AS(partition(*stream, config), Infeasible);
    }
}

TEST_CASE("the estimate of three blocks is the one by hand", "[dynn_offload]") {
    // Three operators in a chain, each with a parameter of 1000 bytes and a result of 100.
    sched::TrainingStream stream;
    stream.network = "chain";
    for (int i = 0; i < 3; ++i) {
        sched::TrainingTensor parameter, result;
        parameter.bytes = 1000;
        parameter.kind = sched::TensorKind::parameter;
        result.bytes = 100;
        stream.tensors.push_back(parameter);
        stream.tensors.push_back(result);
        sched::TrainingOperator op;
        op.ns = 50;
        op.reads = {static_cast<sched::TensorId>(2 * i)};
        if (i > 0) op.reads.push_back(static_cast<sched::TensorId>(2 * i - 1));
        op.writes = {static_cast<sched::TensorId>(2 * i + 1)};
        stream.operators.push_back(op);
    }
    sched::finish_lifetimes(stream, true);
    sched::check_stream(stream);
    PartitionConfig config;
    config.buffer_bytes = 2000;
    config.host_gb_per_s = 10;
    const ExecutionBlocks made = make_blocks(stream, {0, 1, 2}, config);
    REQUIRE(made.blocks.size() == 3);
    CHECK(made.blocks[0].fetched_bytes == 1000);
    CHECK(made.blocks[1].fetched_bytes == 1100);
    CHECK(made.blocks[1].needed_bytes == 1200);
    // 100 ns for the first parameter; 100 beside block 0 and beside block 1 (the chain's results stay on the device);
    // 50 for the last.
    CHECK(made.ns == Approx(100 + 100 + 100 + 50));
    CHECK(make_blocks(stream, {0}, PartitionConfig()).ns == Approx(3000.0 / 12 + 150));
    // Of many equal steps: a parameter comes beside each block, the first one's beside the last block.
    config.repeated = true;
    CHECK(make_blocks(stream, {0, 1, 2}, config).ns == Approx(100 + 100 + 100));
    // With two blocks, parameters stay where they are; of a single block, all of them.
    CHECK(make_blocks(stream, {0, 2}, config).ns == Approx(150));
    CHECK(make_blocks(stream, {0}, config).ns == Approx(150));
}

TEST_CASE("Sentinel's blocks are estimated no slower than the heuristics'", "[dynn_offload]") {
    const TrainingNetwork network = network_of("var_lstm", {{"training.width", "512"}});
    const std::shared_ptr<const sched::TrainingStream> stream = network.stream(5);
    PartitionConfig config;
    config.buffer_bytes = stream->peak_bytes() / 4;
    const ExecutionBlocks sentinel = partition(*stream, config);
    for (const PartitionRule rule : {PartitionRule::operators, PartitionRule::time, PartitionRule::bytes}) {
        config.rule = rule;
        config.blocks = static_cast<unsigned>(sentinel.blocks.size());
        CHECK(sentinel.ns <= partition(*stream, config).ns * 1.001);
    }
}

TEST_CASE("a product has the published idioms; control flows are rows of zeros", "[dynn_offload]") {
    const TrainingNetwork network = network_of("tree_cnn", {});
    const std::vector<std::vector<double>> matrix = feature_matrix(network, Representation::idiom);
    std::size_t flows = 0;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        CHECK(matrix[i].size() == 9);
        const bool zeros = std::all_of(matrix[i].begin(), matrix[i].end(), [](double x) { return x == 0; });
        CHECK(zeros == network.program[i].control_flow);
        flows += zeros;
    }
    CHECK(flows == 1);
    CHECK(sched::operator_type(sched::OpType::product).idioms.counts() ==
          std::array<std::uint16_t, 6>{1, 0, 0, 1, 1, 0});
    CHECK(vector_elements(Representation::idiom) == 10);
}

TEST_CASE("a block's vector counts its operators", "[dynn_offload]") {
    const TrainingNetwork network = network_of("ugan", {{"training.width", "256"}});
    const std::shared_ptr<const sched::TrainingStream> stream = network.stream(2);
    PartitionConfig config;
    config.buffer_bytes = stream->peak_bytes() / 4;
    config.max_blocks = kOutputBlocks;
    for (const Representation representation : {Representation::idiom, Representation::global_id}) {
        double operators = 0, types = 0;
        for (const BlockVector& block : block_vectors(*stream, partition(*stream, config), representation)) {
            operators += block[0];
            for (std::size_t i = 1; i < block.size(); ++i) types += block[i];
        }
        std::size_t flows = 0;
        for (const sched::TrainingOperator& op : stream->operators) flows += op.control_flows;
        CHECK(flows == network.decisions[2].size());
        CHECK(operators == static_cast<double>(stream->operators.size() + flows));
        if (representation == Representation::global_id) CHECK(types == static_cast<double>(stream->operators.size()));
    }
}

TEST_CASE("a path's own output is mapped back to it", "[dynn_offload]") {
    for (const char* name : {"var_lstm", "ugan", "var_bert", "alphafold"}) {
        const TrainingNetwork network = network_of(name, {});
        BlockPlanner planner(network, label_partition(network));
        const PathMapper mapper(network, planner, Representation::idiom);
        for (std::uint32_t path = 0; path < network.paths(); ++path) {
            std::vector<BlockVector> output =
                block_vectors(*network.stream(path), planner.blocks(path), Representation::idiom);
            CHECK(mapper.map(output).path == path);
            CHECK(mapper.map(output).exact);
            // No path has this output; this one is the nearest by number of operators.
            output.back()[0] += 1;
            CHECK(mapper.map(output).path == path);
            CHECK_FALSE(mapper.map(output).exact);
        }
    }
}

TEST_CASE("training is repeated byte for byte and learns the paths of a network", "[dynn_offload]") {
    PilotConfig config;
    config.neurons = 64;
    config.epochs = 12;
    const std::vector<PilotTrace> traces{small_trace(1500)};
    const TemporaryFile first("pilot_1.json"), second("pilot_2.json"), other("pilot_3.json");
    Pilot pilot(config);
    const std::vector<double> losses = pilot.train(traces);
    CHECK(losses.back() < losses.front() / 5);
    pilot.write(first.path());
    Pilot again(config);
    again.train(traces);
    again.write(second.path());
    CHECK(first.text() == second.text());
    config.seed = 2;
    config.epochs = 1;
    Pilot another(config);
    another.train(traces);
    another.write(other.path());
    CHECK(first.text() != other.text());

    // Samples that it was not trained with.
    const TrainingNetwork network =
        network_of("ugan", {{"training.width", "256"}, {"training.label_buffer_gb", "0.02"}});
    const PilotEvaluation result = evaluate_pilot(network, Pilot::read(first.path()), 77, 500);
    CHECK(result.samples == 500);
    CHECK(result.mispredictions < 150);  // 438 by chance
    CHECK(result.handled <= result.mispredictions);
    CHECK(result.other_label <= result.other_path);
    CHECK(result.right_size <= result.other_path);
    // A pilot whose outputs are the labels themselves, and one that reads the embedding perfectly, are no worse.
    CHECK(result.label_limit <= result.mispredictions);
    CHECK(result.input_limit <= result.mispredictions);
}

TEST_CASE("the embedding tells the path; with much noise the most frequent one is right as often as it comes",
          "[dynn_offload]") {
    const TrainingNetwork clear = network_of("tree_lstm", {{"training.width", "64"}, {"training.corpus", "300"}});
    for (const sched::TrainingSample& sample : clear.samples(5, 200))
        CHECK(clear.likeliest_path(sample.features) == sample.path);
    const TrainingNetwork noisy = network_of(
        "var_bert", {{"training.width", "64"}, {"training.embedding_noise", "100"}, {"training.blocks", "2"}});
    std::size_t right = 0;
    const std::vector<sched::TrainingSample> samples = noisy.samples(5, 400);
    for (const sched::TrainingSample& sample : samples) right += noisy.likeliest_path(sample.features) == sample.path;
    const double most = *std::max_element(noisy.weight.begin(), noisy.weight.end());
    CHECK(static_cast<double>(right) > (most - 0.1) * 400);
    CHECK(right < samples.size());
}

TEST_CASE("blocks that fetch other tensors are a misprediction, others are none", "[dynn_offload]") {
    const TrainingNetwork network = network_of("tree_lstm", {{"training.width", "64"}, {"training.corpus", "300"}});
    PathComparison comparison(network);
    std::size_t same = 0, other = 0;
    for (std::uint32_t path = 1; path < network.paths(); ++path) {
        CHECK_FALSE(comparison.mispredicted(path, path));
        const bool wrong = comparison.mispredicted(path - 1, path);
        CHECK(wrong == comparison.mispredicted(path, path - 1));
        // At this width a step is one block: trees of as many leaves need the same parameters and words.
        const bool as_long = network.decisions[path - 1].size() == network.decisions[path].size();
        CHECK(wrong == !as_long);
        (wrong ? other : same) += 1;
    }
    CHECK(same > 0);
    CHECK(other > 0);
}

TEST_CASE("what a block holds is what is alive in it at once", "[dynn_offload]") {
    // A chain of four results of 100 bytes, each released behind its reader, on an input of 50.
    sched::TrainingStream stream;
    stream.network = "chain";
    sched::TrainingTensor input;
    input.bytes = 50;
    input.kind = sched::TensorKind::input;
    stream.tensors.push_back(input);
    for (sched::TensorId i = 0; i < 4; ++i) {
        sched::TrainingTensor result;
        result.bytes = 100;
        stream.tensors.push_back(result);
        sched::TrainingOperator op;
        op.ns = 50;
        op.reads = {i};
        op.writes = {i + 1};
        stream.operators.push_back(op);
    }
    sched::finish_lifetimes(stream, true);
    sched::check_stream(stream);
    // Two results at once, and the input while its reader runs: 200 of 450 bytes.
    CHECK(make_blocks(stream, {0}, PartitionConfig()).blocks[0].needed_bytes == 200);
    // The second block fetches 100 and makes 100, twice.
    CHECK(make_blocks(stream, {0, 2}, PartitionConfig()).blocks[1].needed_bytes == 200);
    PartitionConfig config;
    config.buffer_bytes = 200;
    CHECK(partition(stream, config).blocks.size() == 1);
}

TEST_CASE("a pilot file gives the pilot that was written", "[dynn_offload]") {
    PilotConfig config;
    config.neurons = 32;
    config.epochs = 1;
    config.representation = Representation::idiom;
    Pilot pilot(config);
    const PilotTrace trace = small_trace(64);
    pilot.train({trace});
    const TemporaryFile file("pilot.json");
    pilot.write(file.path());
    const Pilot read = Pilot::read(file.path());
    const Pilot::Architecture architecture = pilot.encode(trace.matrix, trace.basic_type);
    for (const sched::TrainingSample& sample : trace.samples)
        CHECK(pilot.infer(sample.features, architecture) ==
              read.infer(sample.features, read.encode(trace.matrix, trace.basic_type)));
    CHECK(read.trained_on == std::vector<std::string>{"ugan"});

    std::string text = file.text();
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        write_file(changed, file.path());
        return file.path();
    };
    CHECK_THROWS_WITH(Pilot::read(replaced("\"neurons\":32", "\"neurons\":32,\"neurons\":33")),
                      ContainsSubstring("neurons: expected the key once, found it twice"));
    CHECK_THROWS_WITH(Pilot::read(replaced("\"version\":2", "\"version\":1")),
                      ContainsSubstring("version: expected version 2 of the format, found 1"));
    CHECK_THROWS_WITH(Pilot::read(replaced("switchyard-pilot", "other")),
                      ContainsSubstring("format: expected switchyard-pilot of a pilot, found \"other\""));
    CHECK_THROWS_WITH(Pilot::read(replaced("\"neurons\":32", "\"neurons\":33")), ContainsSubstring("weights"));
    CHECK_THROWS_AS(Pilot::read(replaced("\"slope\"", "\"slant\"")), InputError);
    write_file(text.substr(0, text.size() / 2), file.path());
    CHECK_THROWS_WITH(Pilot::read(file.path()), ContainsSubstring(":1: expected JSON, found other text from byte "));
    write_file("[]", file.path());
    CHECK_THROWS_WITH(Pilot::read(file.path()),
                      ContainsSubstring("format: expected switchyard-pilot of a pilot, found nothing"));
}

TEST_CASE("a trace file gives the trace that was written; a damaged one is an error", "[dynn_offload]") {
    const PilotTrace trace = small_trace(40);
    const TemporaryFile file("trace.jsonl");
    write_trace(trace, file.path());
    const PilotTrace read = read_trace(file.path());
    CHECK(read.labels == trace.labels);
    CHECK(read.matrix == trace.matrix);
    CHECK(read.unit == trace.unit);
    REQUIRE(read.samples.size() == trace.samples.size());
    for (std::size_t i = 0; i < read.samples.size(); ++i) CHECK(read.samples[i].features == trace.samples[i].features);
    const std::string text = file.text();
    write_file(text.substr(0, text.rfind('\n', text.size() - 2) + 1), file.path());
    CHECK_THROWS_WITH(read_trace(file.path()),
                      ContainsSubstring("expected 40 samples, found 39; the trace is cut off"));
    write_file(text.substr(0, text.size() - 9), file.path());
    CHECK_THROWS_WITH(read_trace(file.path()), ContainsSubstring(":49: expected JSON, found other text from byte "));
    write_file("1\n", file.path());
    CHECK_THROWS_WITH(read_trace(file.path()),
                      ContainsSubstring(":1: format: expected switchyard-pilot-trace of a pilot trace, found nothing"));
    PilotConfig config;
    config.representation = Representation::global_id;
    Pilot pilot(config);
    CHECK_THROWS_AS(pilot.train({trace}), InputError);
}

TEST_CASE("a recorded misprediction is not repeated", "[dynn_offload]") {
    MispredictionRecords records;
    const std::vector<BlockVector> output{{1, 2, 3}}, other{{1, 2, 4}};
    CHECK_FALSE(records.find(output));
    records.record(output, 5);
    CHECK(records.find(output) == 5U);
    CHECK_FALSE(records.find(other));
    records.record(output, 6);
    CHECK(records.find(output) == 6U);
    CHECK(records.size() == 1);
}

TEST_CASE("training samples and evaluated samples share neither seed nor network", "[dynn_offload]") {
    // The description of the training: each entry has other sizes than the network that is evaluated, and var-LSTM and
    // var-BERT are not there.
    const std::string text = read_file(kNetworks + "pilot_training.yaml", 1 << 20);
    CHECK(text.find("var_") == std::string::npos);
    std::size_t at = 0, entries = 0;
    while ((at = text.find("- {file:", at)) != std::string::npos) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        CHECK(line.find("set: {") != std::string::npos);
        ++entries;
        ++at;
    }
    CHECK(entries == 64);
    // What settings are chosen with shares no line with either.
    const std::string validation = read_file(kNetworks + "pilot_validation.yaml", 1 << 20);
    for (at = 0; (at = validation.find("- {file:", at)) != std::string::npos; ++at) {
        const std::string line = validation.substr(at, validation.find('\n', at) - at);
        CHECK(line.find("set: {") != std::string::npos);
        const std::size_t file = line.find("file: "), set = line.find("set: ");
        const std::string name = line.substr(file, line.find(',') - file), changes = line.substr(set);
        std::size_t other = 0;
        while ((other = text.find(name, other)) != std::string::npos) {
            const std::string trained = text.substr(other, text.find('\n', other) - other);
            CHECK(trained.find(changes) == std::string::npos);
            ++other;
        }
    }
}
