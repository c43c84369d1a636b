// SPDX-License-Identifier: Apache-2.0
// The software half: supernets and their sizes, SubGraphs, latency tables, who is served and what is cached, query
// streams.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/sushi/serving.h"
#include "switchyard/sw_scheduler/sushi/supernet_families.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched::sushi;
using Catch::Matchers::ContainsSubstring;
using sched::Query;
using sched::WeightSlice;

namespace {

const std::string kWorkloads = std::string(SOURCE_FOLDER) + "/configs/workloads/sushi/";

/// A file that is gone when the object is.
class SushiFile {
public:
    SushiFile(const std::string& name, const std::string& text) : path_(std::filesystem::temp_directory_path() / name) {
        std::ofstream(path_) << text;
    }
    ~SushiFile() { std::filesystem::remove(path_); }
    SushiFile(const SushiFile&) = delete;
    SushiFile& operator=(const SushiFile&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

constexpr const char* kTwoLayers =
    "name: two\naccuracy_source: none\ninput: {channels: 3, height: 8, width: 8}\n"
    "layers:\n  - {name: a, kernels: 16, channels: 3, side: 3}\n  - {name: b, kernels: 8, channels: 16}\n";

/// Latencies that fall with what is cached: a microsecond for each KiB that is not.
LatencyTable table_of(const Supernet& supernet, std::vector<SubGraph> subgraphs) {
    LatencyTable table;
    table.platform = "test";
    table.subgraphs = std::move(subgraphs);
    for (const SubNet& subnet : supernet.subnets) {
        table.subnets.push_back(subnet.name);
        table.accuracy.push_back(subnet.accuracy);
        table.without_us.push_back(static_cast<double>(subnet.weight_bytes()) / 1024);
        table.latency_us.emplace_back();
        for (const SubGraph& subgraph : table.subgraphs)
            table.latency_us.back().push_back(
                table.without_us.back() -
                static_cast<double>(shared_bytes(supernet, slices_of(supernet, subnet), subgraph.slices)) / 1024);
    }
    for (const SubGraph& subgraph : table.subgraphs)
        table.fill_us.push_back(static_cast<double>(bytes_of(supernet, subgraph.slices)) / 1024);
    return table;
}

std::vector<Query> random_queries(const LatencyTable& table, std::size_t count, std::uint64_t seed) {
    sched::QueryStreamConfig config;
    config.count = count;
    config.seed = seed;
    return make_query_stream(
        config, {table.accuracy.front(), table.accuracy.back(), table.without_us.front(), table.without_us.back(), 1});
}

/// Mean latency of a stream, fillings included.
double mean_us(const Supernet& supernet, const LatencyTable& table, const std::vector<Query>& queries,
               const std::string& name) {
    CachePolicySetup setup;
    setup.supernet = &supernet;
    setup.table = &table;
    setup.queries = &queries;
    const auto policy = make_cache_policy(name, setup);
    std::size_t subgraph = first_subgraph(table);
    double sum = 0;
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const std::vector<double> us = column(table, subgraph);
        const Choice choice = choose_subnet(table, us, queries[q], Constraint::accuracy);
        sum += us[choice.subnet];
        const std::size_t next = policy->after(q, choice.subnet, subgraph);
        if (next != subgraph) sum += table.fill_us[next];
        subgraph = next;
    }
    return sum / static_cast<double>(queries.size());
}

}  // namespace

TEST_CASE("SubNets have the sizes of the paper", "[sushi]") {
    // SUSHI, section 5.1: 7.58 to 27.47 MB of which 7.55 are shared, 2.97 to 4.74 of which 2.90; MB are MiB.
    const Supernet resnet = read_supernet(kWorkloads + "ofa_resnet50.yaml");
    const Supernet mobilenet = read_supernet(kWorkloads + "ofa_mobilenet_v3.yaml");
    const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1048576; };
    const auto rounded = [](double value) { return std::round(value * 100) / 100; };
    REQUIRE(resnet.subnets.size() == 6);
    REQUIRE(mobilenet.subnets.size() == 7);
    CHECK(rounded(mib(resnet.subnets.front().weight_bytes())) == Approx(7.58));
    CHECK(rounded(mib(resnet.subnets.back().weight_bytes())) == Approx(27.47));
    CHECK(rounded(mib(resnet.shared_bytes())) == Approx(7.55));
    CHECK(rounded(mib(mobilenet.subnets.front().weight_bytes())) == Approx(2.97));
    CHECK(rounded(mib(mobilenet.subnets.back().weight_bytes())) == Approx(4.74));
    // Depthwise kernels of different size share no byte here. If the smaller window counted as shared, as the paper may
    // do:
    CHECK(rounded(mib(mobilenet.shared_bytes())) == Approx(2.85));
    std::uint64_t windows = 0;
    const auto depthwise = [](const SubNet& subnet, const std::string& block) {
        for (const LayerUse& use : subnet.layers)
            if (use.layer.depthwise && use.name.compare(0, block.size(), block) == 0) return use.layer;
        return sched::Convolution{};
    };
    for (const Tensor& tensor : mobilenet.tensors) {
        const std::size_t at = tensor.name.find("depthwise3");
        if (at == std::string::npos) continue;
        std::uint32_t channels = ~0U, smallest = 99, largest = 0;
        for (const SubNet& subnet : mobilenet.subnets) {
            const sched::Convolution layer = depthwise(subnet, tensor.name.substr(0, at));
            channels = std::min(channels, layer.depthwise ? layer.kernels : 0);
            smallest = std::min(smallest, layer.side);
            largest = std::max(largest, layer.side);
        }
        if (smallest != largest) windows += std::uint64_t{channels} * smallest * smallest;
    }
    CHECK(mib(mobilenet.shared_bytes() + windows) == Approx(2.905).margin(0.001));
    // Multiply-accumulates at 224 x 224, of the stem with its residual on.
    const double gmac[] = {2.07, 3.13, 4.00, 3.98, 3.33, 4.87};
    for (std::size_t s = 0; s < 6; ++s)
        CHECK(static_cast<double>(resnet.subnets[s].macs()) / 1e9 == Approx(gmac[s]).margin(0.006));
    for (const Supernet* supernet : {&resnet, &mobilenet})
        for (const SubNet& subnet : supernet->subnets) {
            // Every tensor is taken once, so bytes of slices are those of the layers.
            CHECK(bytes_of(*supernet, slices_of(*supernet, subnet)) == subnet.weight_bytes());
            CHECK(subnet.weight_bytes() <= supernet->bytes());
        }
    CHECK(divisible(20.8) == 24);
    CHECK(divisible(41.6) == 40);
    CHECK(divisible(3) == 8);
}

TEST_CASE("a supernet file: what is wrong is one line", "[sushi]") {
    const auto refuses = [](const std::string& text, const std::string& message) {
        const SushiFile file("switchyard_supernet.yaml", text);
        CHECK_THROWS_WITH(read_supernet(file.path()), ContainsSubstring(message));
    };
    refuses(std::string(kTwoLayers) + "subnets: [{name: s, kernels: {a: 32, b: 8}}]\n",
            "switchyard_supernet.yaml:7: subnets.s: does not nest: expected for layer a a tensor of at least 32 x 3 x "
            "3x3, found 16 x 3 x 3x3");
    refuses(std::string(kTwoLayers) + "subnets: [{name: s, kernels: {a: 16, c: 8}}]\n",
            "expected a layer of the supernet, found c");
    refuses(std::string(kTwoLayers) + "subnets: [{name: s, kernels: {a: 16}, depth: 3}]\n", "depth");
    refuses(std::string(kTwoLayers) + "subnets: []\n", "subnets");
    refuses(std::string(kTwoLayers) + "weights: here\nsubnets: [{name: s}]\n",
            "expected weights, inputs and logits together, found one without another");
    refuses(
        "name: x\nfamily: ofa_resnet50\naccuracy_source: none\nsubnets:\n"
        "  - {name: wide, depth: [0,0,0,0], expand: [.2,.2,.2,.2], width: [1,1,1,1,1,1.2]}\n",
        "does not nest: expected for layer s4.b0");
    refuses(
        "name: x\nfamily: ofa_mobilenet_v3\naccuracy_source: none\nsubnets:\n"
        "  - {name: k9, depth: [2,2,2,2,2], expand: [3,3,3,3,3], kernel: [9,3,3,3,3]}\n",
        "expected a tensor of the supernet, found s1.b0.depthwise9");
}

TEST_CASE("candidate SubGraphs are slices close to the buffer's size", "[sushi]") {
    const Supernet supernet = read_supernet(kWorkloads + "ofa_resnet50.yaml");
    constexpr std::uint64_t kCapacity = 1728 * 1024;
    const std::vector<SubGraph> subgraphs = candidate_subgraphs(supernet, kCapacity, 100);
    CHECK(subgraphs.size() == 100);
    for (const SubGraph& subgraph : subgraphs) {
        INFO(subgraph.name);
        const std::uint64_t bytes = bytes_of(supernet, subgraph.slices);
        CHECK(bytes <= kCapacity);
        CHECK(bytes > kCapacity * 97 / 100);
        bool of_one = false;  // a SubGraph is a part of a SubNet
        for (const SubNet& subnet : supernet.subnets)
            of_one = of_one || shared_bytes(supernet, slices_of(supernet, subnet), subgraph.slices) == bytes;
        CHECK(of_one);
    }
    // A buffer that holds everything.
    CHECK(bytes_of(supernet, candidate_subgraphs(supernet, 1 << 30, 1).front().slices) ==
          supernet.subnets.front().weight_bytes());
    CHECK(candidate_subgraphs(supernet, 1, 10).empty());

    const SushiFile file("switchyard_subgraphs.yaml",
                         "subgraphs:\n  - {name: g, slices: {stem.1: [16, 16], stem.2: [8, 32]}}\n");
    const std::vector<SubGraph> read = read_subgraphs(file.path(), supernet, 16 * 16 * 9 + 8 * 32 * 9);
    REQUIRE(read.size() == 1);
    CHECK(bytes_of(supernet, read.front().slices) == 16 * 16 * 9 + 8 * 32 * 9);
    CHECK_THROWS_WITH(
        read_subgraphs(file.path(), supernet, 100),
        ContainsSubstring("subgraphs.g.slices: expected at most the 100 bytes of the persistent buffer, found 4608"));
}

TEST_CASE("which SubNet a query gets", "[sushi]") {
    LatencyTable table;
    table.subnets = {"small", "middle", "large"};
    table.accuracy = {70, 75, 80};
    const std::vector<double> us{10, 20, 15};  // what is cached makes the large one faster than the middle one
    const auto accuracy = [&](double wanted) { return choose_subnet(table, us, {0, wanted, 0}, Constraint::accuracy); };
    const auto latency = [&](double wanted) { return choose_subnet(table, us, {0, 0, wanted}, Constraint::latency); };
    CHECK(accuracy(60).subnet == 0);
    CHECK(accuracy(72).subnet == 2);
    CHECK(accuracy(72).met);
    CHECK(accuracy(81).subnet == 2);  // nobody meets it: the most accurate
    CHECK_FALSE(accuracy(81).met);
    CHECK(latency(12).subnet == 0);
    CHECK(latency(15).subnet == 2);
    CHECK(latency(100).subnet == 2);
    CHECK(latency(5).subnet == 0);  // nobody meets it: the fastest
    CHECK_FALSE(latency(5).met);
}

TEST_CASE("SushiSched caches the SubGraph nearest to the average of the last Q SubNets", "[sushi]") {
    const SushiFile file("switchyard_nearest.yaml", std::string(kTwoLayers) +
                                                        "subnets: [{name: s, accuracy: 1, kernels: {a: 4, b: 8}}, "
                                                        "{name: l, accuracy: 2, kernels: {a: 16, b: 8}}]\n");
    const Supernet supernet = read_supernet(file.path());
    // Kernels and channels of a and b: the average of s, s, l, l is (10, 3, 8, 10).
    const LatencyTable table =
        table_of(supernet, {{"of s", {{4, 3}, {8, 4}}}, {"of l", {{16, 3}, {8, 16}}}, {"between", {{10, 3}, {8, 9}}}});
    CachePolicySetup setup;
    setup.supernet = &supernet;
    setup.table = &table;
    setup.period = 4;
    const auto policy = make_cache_policy("nearest", setup);
    CHECK(policy->after(0, 0, 1) == 1);
    CHECK(policy->after(1, 0, 1) == 1);
    CHECK(policy->after(2, 1, 1) == 1);
    CHECK(policy->after(3, 1, 1) == 2);
    for (std::size_t q = 4; q < 7; ++q) CHECK(policy->after(q, 0, 2) == 2);
    CHECK(policy->after(7, 0, 2) == 0);
    CHECK(hit_ratio(encode(slices_of(supernet, supernet.subnets[1])), encode(table.subgraphs[0].slices)) == Approx(1));
    CHECK(hit_ratio({4, 3, 0, 0}, {4, 3, 12, 0}) == Approx(5.0 / 13));
    CHECK_THROWS_AS(make_cache_policy("none", setup), std::invalid_argument);
}

TEST_CASE("no cache policy is faster than the oracle with a period of one", "[sushi]") {
    // One query ahead the oracle's choice is the best there is, when filling is free.
    const Supernet supernet = read_supernet(kWorkloads + "ofa_mobilenet_v3.yaml");
    LatencyTable table = table_of(supernet, candidate_subgraphs(supernet, 1728 * 1024, 40));
    for (double& us : table.fill_us) us = 0;
    const std::vector<Query> queries = random_queries(table, 400, 5);
    std::map<std::string, double> us;
    for (const char* name : {"fixed", "nearest", "lru", "saved_bytes", "oracle"})
        us[name] = mean_us(supernet, table, queries, name);
    for (const auto& [name, value] : us) {
        INFO(name);
        CHECK(us["oracle"] <= value);
    }
    CHECK(us["fixed"] < std::accumulate(table.without_us.begin(), table.without_us.end(), 0.0) / 7);
}

TEST_CASE("a latency table comes back from its file, for its platform and supernet alone", "[sushi]") {
    const Supernet supernet = read_supernet(kWorkloads + "ofa_mobilenet_v3.yaml");
    const LatencyTable table = table_of(supernet, candidate_subgraphs(supernet, 1 << 20, 5));
    const SushiFile file("switchyard_table.json", table_text(table));
    const LatencyTable read = read_table(file.path(), supernet, "test");
    CHECK(table_text(read) == table_text(table));
    CHECK_THROWS_WITH(read_table(file.path(), supernet, "another"),
                      ContainsSubstring("switchyard_table.json: platform: the table was made for another platform"));
    CHECK_THROWS_WITH(read_table(file.path(), read_supernet(kWorkloads + "ofa_resnet50.yaml"), "test"),
                      ContainsSubstring("expected a table of this supernet, found one of another"));
    const SushiFile broken("switchyard_broken.json", "{\"format\": \"switchyard-latency-table\"}");
    CHECK_THROWS_WITH(read_table(broken.path(), supernet, "test"),
                      ContainsSubstring("version: expected a value, found nothing"));
}

TEST_CASE("query streams", "[sushi]") {
    const sched::QueryRange range{70, 80, 1000, 3000, 500};
    sched::QueryStreamConfig config;
    config.count = 20000;
    const auto stream = [&](const std::string& kind) {
        config.kind = kind;
        return make_query_stream(config, range);
    };
    const auto mean = [](const std::vector<Query>& queries, std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t q = begin; q < end; ++q) sum += queries[q].accuracy;
        return sum / static_cast<double>(end - begin);
    };
    const std::vector<Query> uniform = stream("uniform");
    CHECK(mean(uniform, 0, 20000) == Approx(75).margin(0.2));
    for (const Query& query : uniform)
        REQUIRE((query.accuracy >= 70 && query.accuracy <= 80 && query.latency_us >= 1000));
    const std::vector<Query> drifting = stream("drifting");
    CHECK(mean(drifting, 0, 1000) < 72);
    CHECK(mean(drifting, 19000, 20000) > 78);
    const std::vector<Query> adversarial = stream("adversarial");
    CHECK(adversarial[6].accuracy == 70);
    CHECK(adversarial[7].accuracy == 80);
    std::size_t changes = 0;
    const std::vector<Query> bursty = stream("bursty");
    for (std::size_t q = 1; q < bursty.size(); ++q) changes += bursty[q].accuracy != bursty[q - 1].accuracy ? 1 : 0;
    CHECK(changes == Approx(20000 / 16.0).epsilon(0.1));

    // Poisson arrivals: mean and standard deviation of the gaps are 500 / 0.8; constraints stay.
    config.load = 0.8;
    const std::vector<Query> poisson = stream("uniform");
    CHECK(poisson.back().arrival_us == Approx(20000 * 500 / 0.8).epsilon(0.02));
    double squares = 0;
    for (std::size_t q = 1; q < poisson.size(); ++q)
        squares += std::pow(poisson[q].arrival_us - poisson[q - 1].arrival_us - 625, 2);
    CHECK(std::sqrt(squares / 20000) == Approx(625).epsilon(0.03));
    CHECK(poisson[99].accuracy == uniform[99].accuracy);

    const SushiFile trace("switchyard_queries.csv", "# arrival_us,accuracy,latency_us\n0,75,2000\n10.5,76,1500\n");
    config.trace = trace.path();
    const std::vector<Query> read = stream("trace");
    REQUIRE(read.size() == 2);
    CHECK(read[1].arrival_us == 10.5);
    const SushiFile bad("switchyard_queries_bad.csv", "5,75,2000\n4,75,2000\n");
    config.trace = bad.path();
    CHECK_THROWS_WITH(stream("trace"),
                      ContainsSubstring("switchyard_queries_bad.csv:2: arrival_us: expected 5 or more"));
}
