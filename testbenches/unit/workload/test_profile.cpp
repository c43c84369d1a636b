// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

double fraction(const DynGraph& graph, const std::vector<double>& fractions, const std::string& name) {
    return fractions.at(static_cast<std::size_t>(graph.find_operator(name)));
}

}  // namespace

TEST_CASE("the profile of Fig. 6 has the figure's expectations", "[profile]") {
    const DynGraph graph = read_model("testbenches/data/fig6.yaml").graph;
    const auto fractions = expected_fractions(read_profile("testbenches/data/fig6_profile.json", graph));
    CHECK(8 * fraction(graph, fractions, "b1") == Approx(5.03));
    CHECK(8 * fraction(graph, fractions, "b2a") == Approx(2.97));
    CHECK(8 * fraction(graph, fractions, "b2b") == Approx(2.97));
    CHECK(fraction(graph, fractions, "out") == 1);
    for (const double worst : worst_case_fractions(graph)) CHECK(worst == 1);
}

TEST_CASE("a profile counts micro-batches by dyn_dim", "[profile]") {
    const DynGraph graph = read_model("testbenches/data/fig6.yaml").graph;
    BatchRouting batch;
    batch.samples = 8;
    batch.masks = {{1, 1, 2, 1, 2, 2, 2, 1}};
    const Profile profile = profile_of(graph, {batch}, 3);  // units {0,1,2} {3,4,5} {6,7}
    const auto frequency = [&](const char* name) {
        return profile.operators[static_cast<std::size_t>(graph.find_operator(name))].frequency;
    };
    CHECK(frequency("b1") == std::map<std::uint32_t, std::uint64_t>{{2, 1}, {1, 2}});
    CHECK(frequency("b2a") == std::map<std::uint32_t, std::uint64_t>{{1, 2}, {2, 1}});
    CHECK(frequency("stem") == std::map<std::uint32_t, std::uint64_t>{{3, 2}, {2, 1}});
    const auto fractions = expected_fractions(profile);
    CHECK(fraction(graph, fractions, "b1") == 0.5);
    CHECK(fraction(graph, fractions, "stem") == 1);
}

TEST_CASE("a profile is read back as it was written", "[profile]") {
    const Model model = read_model("testbenches/data/early_exit.yaml");
    const Profile profile = profile_of(model.graph, declared_routing(model, 20), 16);
    const TextFile file("profile.json", "");
    write_profile(profile, model.graph, file.path());
    const Profile back = read_profile(file.path(), model.graph);
    REQUIRE(back.operators.size() == profile.operators.size());
    for (std::size_t op = 0; op < back.operators.size(); ++op)
        CHECK(back.operators[op].frequency == profile.operators[op].frequency);
    CHECK(back.batches == 20);
}

TEST_CASE("frequencies by kernel stand for the dyn_dims of its range", "[profile]") {
    const DynGraph graph = read_model("testbenches/data/fig6.yaml").graph;
    const TextFile file("profile.json",
                        "{\"batch_samples\": 8, \"unit_samples\": 8, \"batches\": 10, \"operators\": {\n"
                        " \"b1\": {\"unit_samples\": 4, \"kernels\": {\"0\": 5, \"1\": 0, \"2\": 9, \"4\": 6}},\n"
                        " \"b2a\": {\"kernels\": {\"8\": 10}}, \"b2b\": {\"3\": 10}}}");
    const Profile profile = read_profile(file.path(), graph);
    const auto of = [&](const char* name) {
        return profile.operators[static_cast<std::size_t>(graph.find_operator(name))];
    };
    CHECK(of("b1").by_kernel);
    CHECK(of("b1").unit_samples == 4);
    CHECK(of("b1").frequency == std::map<std::uint32_t, std::uint64_t>{{0, 5}, {1, 0}, {2, 9}, {4, 6}});
    CHECK(of("b2a").by_kernel);
    CHECK(of("b2a").unit_samples == 8);
    CHECK_FALSE(of("b2b").by_kernel);
    // 9 units of 2 samples, 6 of 3 or 4; 10 units of 1 to 8.
    const auto fractions = expected_fractions(profile);
    CHECK(80 * fraction(graph, fractions, "b1") == Approx(9 * 2 + 6 * 3.5));
    CHECK(80 * fraction(graph, fractions, "b2a") == Approx(10 * 4.5));
    CHECK(80 * fraction(graph, fractions, "b2b") == Approx(10 * 3));
    CHECK(fraction(graph, fractions, "stem") == 1);

    const TextFile again("again.json", "");
    write_profile(profile, graph, again.path());
    const Profile back = read_profile(again.path(), graph);
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        CHECK(back.operators[op].by_kernel == profile.operators[op].by_kernel);
        CHECK(back.operators[op].unit_samples == profile.operators[op].unit_samples);
        CHECK(back.operators[op].frequency == profile.operators[op].frequency);
    }
    // One operator can be had without the model.
    CHECK(read_operator_profile(file.path(), "b1").frequency == of("b1").frequency);
    CHECK_THROWS_WITH(
        read_operator_profile(file.path(), "b3"),
        Catch::Matchers::ContainsSubstring("profile.json: operators.b3: expected a value, found nothing"));
}

TEST_CASE("a profile that does not fit its model is refused", "[profile]") {
    const DynGraph graph = read_model("testbenches/data/fig6.yaml").graph;
    const auto refused = [&](const std::string& text) {
        const TextFile file("profile.json", text);
        try {
            read_profile(file.path(), graph);
        } catch (const InputError& error) {
            const std::string message = error.what();
            return message.substr(message.find("profile.json"));
        }
        return std::string{};
    };
    const std::string head = "{\"batch_samples\": 8, \"unit_samples\": 8, \"batches\": 2, \"operators\": ";
    const std::string b2 = ", \"b2a\": {\"3\": 2}, \"b2b\": {\"3\": 2}}}";
    CHECK(refused(head + "{\"b1\": {\"5\": 2}" + b2).empty());
    CHECK(refused(head + "\n{\"b1\": ") == "profile.json:2: expected JSON, found other text from byte 76 on");
    CHECK(refused(head + "{\"b1\": {\"5\": 3}" + b2) ==
          "profile.json: operators.b1: expected counts of 2 micro-batches together, found 3");
    CHECK(refused(head + "{\"b1\": {\"9\": 2}" + b2) ==
          "profile.json: operators.b1: expected dyn_dims of 0 to 8, found \"9\"");
    CHECK(refused(head + "{\"b1\": {\"5\": 2}, \"b3\": {\"5\": 2}" + b2) ==
          "profile.json: operators.b3: expected an operator of model \"fig6\", found \"b3\"");
    CHECK(refused(head + "{\"b1\": {\"5\": 2}, \"b2a\": {\"3\": 2}}}") ==
          "profile.json: operators.b2b: expected a value, found nothing");
    CHECK(refused("{\"batch_samples\": 16, \"unit_samples\": 8, \"batches\": 2, \"operators\": {}}") ==
          "profile.json: batch_samples: expected 8, the samples of a batch of model \"fig6\", found 16");
    CHECK(refused("{\"batch_samples\": 8, \"unit_samples\": 0, \"batches\": 2, \"operators\": {}}") ==
          "profile.json: unit_samples: expected an integer of 1 to 4294967295, found 0");
    const auto by_kernel = [&](const std::string& b1) { return refused(head + "{\"b1\": " + b1 + b2); };
    CHECK(by_kernel("{\"kernels\": {\"8\": 2}}").empty());
    CHECK(by_kernel("{\"kernels\": {\"4\": 2}}") ==
          "profile.json: operators.b1.kernels: expected a kernel of 8, the largest, found none");
    CHECK(by_kernel("{\"unit_samples\": 4, \"kernels\": {\"4\": 2}}") ==
          "profile.json: operators.b1.kernels: expected counts of 4 micro-batches together, found 2");
    CHECK(by_kernel("{\"unit_samples\": 4, \"kernels\": {\"8\": 4}}") ==
          "profile.json: operators.b1.kernels: expected dyn_dims of 0 to 4, found \"8\"");
    CHECK(by_kernel("{\"unit_samples\": 16, \"kernels\": {\"16\": 2}}") ==
          "profile.json: operators.b1.unit_samples: expected at most 8, the samples of a batch, found 16");
    CHECK(by_kernel("{\"unit_samples\": 0, \"kernels\": {\"8\": 2}}") ==
          "profile.json: operators.b1.unit_samples: expected an integer of 1 to 4294967295, found 0");
    CHECK(by_kernel("{\"kernels\": {\"8\": 2}, \"5\": 1}") ==
          "profile.json: operators.b1.5: expected one of kernels, unit_samples, found 5");
    CHECK(by_kernel("{\"kernels\": [8]}") ==
          "profile.json: operators.b1.kernels: expected an object of dyn_dim to count, found a list of 1");
    CHECK(refused(head + "{\"stem\": {\"kernels\": {\"8\": 2}}, \"b1\": {\"5\": 2}" + b2) ==
          "profile.json: operators.stem: expected counts of dyn_dims for an operator on no branch, found counts of "
          "kernels");
    CHECK(refused("{\"samples\": 8}") ==
          "profile.json: samples: expected one of batch_samples, unit_samples, batches, operators, found samples");
}

TEST_CASE("moved load counts the multiply-accumulates that are expected elsewhere", "[profile]") {
    const DynGraph graph = read_model("testbenches/data/fig6.yaml").graph;
    std::vector<double> from(graph.operators.size(), 0.5), to = from;
    CHECK(moved_load(graph, from, to) == 0);
    const auto b1 = static_cast<std::size_t>(graph.find_operator("b1"));
    to[b1] = 0.6;
    double all = 0;
    for (const Operator& op : graph.operators) all += static_cast<double>(op.macs_per_sample);
    const double share = static_cast<double>(graph.operators[b1].macs_per_sample) / all;
    CHECK(moved_load(graph, from, to) == Approx(0.2 * share));
    CHECK(moved_load(graph, to, from) == Approx(0.1 * share / (0.5 + 0.1 * share)));
}
