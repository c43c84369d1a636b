// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// Room for about five kernels an operator.
const char* const kStore = " --set scratchpad.kernel_share=0.1";

std::string roomy_image(const std::string& name, const std::string& more, const std::string& design = "adyna") {
    return compiled(std::string(kDigits) + " --platform " + kMini + kStore + " --design " + design + " " + more,
                    name + ".syk");
}

/// Runs ten batches; the profile is in NAME.json of scratch().
json run_roomy(const std::string& image, const std::string& name) {
    return report_of_run(std::string("--platform ") + kMini + kStore + " --image " + image + " --trace " +
                         kDigitsTrace + " --batches 10 --write-profile " + scratch(name + ".json"));
}

}  // namespace

TEST_CASE("what the profilers count becomes a profile, and the profile better kernels", "[cli][sampling]") {
    const std::string initial = roomy_image("initial", "");
    const json report = run_roomy(initial, "initial");
    const std::string file = scratch("initial.json");
    const json profile = read_json(file);
    CHECK(profile.at("batches") == 10);
    CHECK(profile.at("batch_samples") == 128);

    std::map<std::string, json> reported;
    for (const json& op : report.at("operators")) reported[op.at("operator").get<std::string>()] = op;
    const switchyard::Image image = switchyard::read_image(initial);
    std::size_t dynamic = 0;
    for (const auto& op : image.meta.operators) dynamic += op.dynamic ? 1 : 0;
    CHECK(profile.at("operators").size() == dynamic);
    for (const auto& [name, counted] : profile.at("operators").items()) {
        INFO(name);
        const unsigned units = 128 / counted.at("unit_samples").get<unsigned>();
        const json& kernels = counted.at("kernels");
        std::uint64_t sum = 0;
        for (const auto& [dyn_dim, invocations] : kernels.items()) sum += invocations.get<std::uint64_t>();
        CHECK(sum == 10 * units);
        CHECK(kernels.contains("0"));
        CHECK(kernels.contains(std::to_string(counted.at("unit_samples").get<unsigned>())));
        // The report sums up over tiles and leaves out what was not selected.
        for (const json& selected : reported.at(name).at("kernels"))
            CHECK(kernels.at(std::to_string(selected.at("dyn_dim").get<unsigned>())).get<double>() ==
                  selected.at("invocations").get<double>() / reported.at(name).at("tiles").get<double>());
    }

    const std::string resampled = roomy_image("resampled", "--profile " + file);
    CHECK(read_text(resampled) == read_text(roomy_image("again", "--sampling profile --profile " + file)));
    const std::string even = roomy_image("even", "--sampling uniform --profile " + file);
    CHECK(read_text(resampled) != read_text(even));
    CHECK(mean_latency_us(run_roomy(resampled, "resampled")) < mean_latency_us(run_roomy(even, "even")));
}

TEST_CASE("kernels for the declared routes are quicker than evenly spaced ones", "[cli][sampling]") {
    // In compacted segments most units are full, and there is little to gain.
    const std::string alone = "--without compaction";
    const std::string even = roomy_image("declared_even", alone);
    CHECK(read_text(even) == read_text(roomy_image("declared_uniform", alone + " --sampling uniform")));
    const double before = mean_latency_us(run_roomy(even, "declared_even"));
    const double sampled =
        mean_latency_us(run_roomy(roomy_image("declared_sampled", alone + " --sampling profile"), "declared_sampled"));
    const double optimal =
        mean_latency_us(run_roomy(roomy_image("declared_optimal", alone + " --sampling optimal"), "declared_optimal"));
    INFO(before << ", " << sampled << ", " << optimal << " us");
    CHECK(sampled < 0.98 * before);
    CHECK(optimal < 0.98 * before);
}

TEST_CASE("the static design keeps its kernels", "[cli][sampling]") {
    const std::string profile = scratch("static.json");
    write_text(profile, read_text("testbenches/data/fig6_profile.json"));
    const auto compile = [&](const std::string& more) {
        const std::string image = scratch("static.syk");
        const Outcome outcome = sy_sched(std::string("compile testbenches/data/fig6.yaml --platform ") + kMini +
                                         " --set scratchpad.kernel_share=0.012 -o " + image + " " + more);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        switchyard::Image read = switchyard::read_image(image);
        read.meta.design.clear();
        return switchyard::encode(read);
    };
    const auto uniform = compile("--design adyna --sampling uniform --profile " + profile);
    CHECK(compile("--design adyna-static --profile " + profile) == uniform);
    CHECK(compile("--design adyna --profile " + profile) != uniform);
}

TEST_CASE("one operator's kernels are sampled from a profile", "[cli][sampling]") {
    const std::string profile = scratch("one.json"), file = scratch("sampling.json");
    write_text(profile,
               "{\"batch_samples\": 64, \"unit_samples\": 64, \"batches\": 10, \"operators\": {\n"
               " \"a\": {\"0\": 1, \"20\": 6, \"21\": 3},\n"
               " \"b\": {\"unit_samples\": 32, \"kernels\": {\"0\": 0, \"8\": 4, \"16\": 12, \"24\": 4, \"32\": 0}}}}");
    const Outcome counted = sy_sched("sample --profile " + profile + " --operator a --kernels 4 --json " + file);
    INFO(counted.err);
    REQUIRE(counted.status == 0);
    const json result = read_json(file);
    CHECK(result.at("counted_by") == "dyn_dim");
    CHECK(result.at("mean_samples").get<double>() == Approx((6 * 20 + 3 * 21) / 10.0));
    CHECK(result.at("initial") == json{{"expected_loss", (6 * 12 + 3 * 11) / 10.0}, {"dyn_dims", {16, 32, 48, 64}}});
    CHECK(result.at("sampled").at("expected_loss") == 0);
    CHECK(result.at("optimal").at("expected_loss") == 0);
    CHECK(result.at("from_kernels").at("expected_loss") <= result.at("initial").at("expected_loss"));
    CHECK_THAT(counted.out, Catch::Matchers::ContainsSubstring("initial                     10.500   16 32 48 64\n"));

    REQUIRE(sy_sched("sample --profile " + profile + " --operator b --kernels 4 --json " + file).status == 0);
    const json by_kernel = read_json(file);
    CHECK(by_kernel.at("counted_by") == "kernel");
    CHECK(by_kernel.at("unit_samples") == 32);
    CHECK_FALSE(by_kernel.contains("from_kernels"));
    CHECK(by_kernel.at("sampled").at("expected_loss") <= by_kernel.at("initial").at("expected_loss"));

    const std::string text = read_text("docs/report_format.md");
    for (const auto& [key, value] : result.items())
        CHECK_THAT(text, Catch::Matchers::ContainsSubstring("`" + key + "`"));

    const std::string start = "sample --profile " + profile;
    check_refused(sy_sched(start + " --operator c --kernels 4"),
                  {"one.json: operators.c: expected a value, found nothing"});
    check_refused(sy_sched(start + " --operator a --kernels 0"), {"--kernels"});
    check_refused(sy_sched("sample --profile " + scratch("nowhere.json") + " --operator a --kernels 2"),
                  {"nowhere.json: cannot be read"});
}

TEST_CASE("samplings that cannot be are refused", "[cli][bad][sampling]") {
    const auto compile = [](const std::string& model, const std::string& more) {
        return sy_sched("compile " + model + " --platform " + kMini + " -o " + scratch("bad.syk") + " " + more);
    };
    check_refused(compile(kDigits, "--design adyna --sampling best"),
                  {"sampling: expected one of uniform, profile, optimal, found best"});
    check_refused(compile(kDigits, "--design m-tile --sampling optimal"),
                  {"design m-tile: expected sampling uniform, found optimal"});
    check_refused(compile("testbenches/data/static_chain.yaml", "--design adyna --sampling profile"),
                  {"static_chain.yaml: static_chain: expected a profile for sampling profile, found none"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                         kDigitsTrace + " --batches 1 --write-profile /dev/null/x.json"),
                  {"/dev/null/x.json: cannot be written"});
}
