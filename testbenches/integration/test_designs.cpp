// SPDX-License-Identifier: Apache-2.0
// What the designs of Adyna's evaluation (section VIII) do differently with the same network.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_design(const std::string& design, const std::string& chip, const std::string& settings = "",
                const std::string& without = "") {
    const std::string platform = std::string(" --platform ") + kMini;
    const std::string image =
        compiled(kDigits + platform + " --design " + design + (without.empty() ? "" : " --without " + without) +
                     (settings.find("ideal_kernel_store") == std::string::npos
                          ? ""
                          : " --set chip.impl=stages --set chip.ideal_kernel_store=yes"),
                 design + ".syk");
    return report_of_run(platform + " --image " + image + " --trace " + kDigitsTrace +
                         " --batches 4 --set chip.impl=" + chip + settings);
}

const json& op(const json& report, const std::string& name) {
    for (const json& one : report.at("operators"))
        if (one.at("operator") == name) return one;
    FAIL("no operator " << name);
    return report;
}

}  // namespace

TEST_CASE("m-tile computes every branch for every sample, with one kernel", "[designs]") {
    const std::string chip = GENERATE("tiles", "stages");
    const json m_tile = run_design("m-tile", chip), adyna = run_design("adyna", chip);
    for (const char* const name : {"block0.a", "block7.b", "block3.out"}) {
        CAPTURE(name);
        CHECK(op(m_tile, name).at("samples_per_batch") == 128);
        CHECK(op(m_tile, name).at("kernels").size() == 1);
    }
    CHECK(op(adyna, "block0.a").at("samples_per_batch") < 128);
    CHECK(m_tile.at("batches").at(0).at("macs") > adyna.at("batches").at(0).at("macs"));
    CHECK(m_tile.at("routing").at("source") == "every branch");
}

TEST_CASE("full-kernel has a kernel for every dyn_dim, which takes an ideal store", "[designs]") {
    const json full = run_design("full-kernel", "stages", " --set chip.ideal_kernel_store=true");
    const json adyna = run_design("adyna", "stages");
    // Kernel fitting can do no better than the kernel that was made for the size; the search takes a cycle less.
    CHECK(mean_latency_us(full) < mean_latency_us(adyna));
    CHECK(op(full, "block0.a").at("kernels").size() > op(adyna, "block0.a").at("kernels").size());
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + scratch("full-kernel.syk") +
                         " --trace " + kDigitsTrace + " --batches 1 --set chip.impl=stages"),
                  {"full-kernel.syk: expected at most ", " kernels a tile in the scratchpad of mini, found ",
                   "set chip.ideal_kernel_store: yes"});
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + scratch("full-kernel.syk") +
                         " --trace " + kDigitsTrace + " --batches 1 --set chip.ideal_kernel_store=true"),
                  {"mini.yaml", "chip", "ideal_kernel_store: expected impl: stages, found tiles"});
}

TEST_CASE("adyna without routing computes every branch for every sample, with its kernels", "[designs]") {
    const json m_tile = run_design("m-tile", "stages"), all = run_design("adyna", "stages", "", "routing");
    CHECK(all.at("design") == "adyna");
    CHECK(all.at("without") == json{"routing"});
    CHECK(all.at("routing").at("source") == "every branch");
    CHECK(op(all, "block0.a").at("samples_per_batch") == 128);
    CHECK(all.at("batches").at(0).at("macs") == m_tile.at("batches").at(0).at("macs"));
}

TEST_CASE("without kernel fitting a kernel takes the time of the size that it was made for", "[designs]") {
    const std::string off = " --set chip.kernel_fitting=no", ideal = " --set chip.ideal_kernel_store=yes";
    const json fitted = run_design("adyna", "stages"), whole = run_design("adyna", "stages", off);
    CHECK(mean_latency_us(whole) > mean_latency_us(fitted));
    CHECK(whole.at("batches") != fitted.at("batches"));
    CHECK(whole.at("batches").at(0).at("macs") == fitted.at("batches").at(0).at("macs"));
    // Where every size has a kernel of its own there is nothing to fit.
    CHECK(run_design("full-kernel", "stages", ideal).at("batches") ==
          run_design("full-kernel", "stages", ideal + off).at("batches"));
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + scratch("adyna.syk") + " --trace " +
                         kDigitsTrace + " --batches 1 --set chip.impl=tiles" + off),
                  {"mini.yaml", "chip", "kernel_fitting: expected yes, or impl: stages, found no"});
}

TEST_CASE("an online scheduler delays each dynamic operator", "[designs]") {
    const std::string ideal = " --set chip.ideal_kernel_store=true --set chip.online_scheduling_us=";
    const double none = mean_latency_us(run_design("real-time", "stages", ideal + "0"));
    const double some = mean_latency_us(run_design("real-time", "stages", ideal + "1"));
    const double more = mean_latency_us(run_design("real-time", "stages", ideal + "50"));
    CHECK(none < some);
    // 16 dynamic convolutions, one after another on the host's processor; where the pipeline has nothing else to do,
    // all of it shows.
    CHECK(more > none + 16 * 50 * 0.5);
    CHECK(more < none + 16 * 50 * 1.05);
}
