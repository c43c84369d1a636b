// SPDX-License-Identifier: Apache-2.0
// What sy-sim asks of an image before a run, and that sy-sched asks the same before it writes one.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/sw_scheduler/adyna/image/kernel_store.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

PlatformConfig mini(std::map<std::string, std::string> settings = {}) {
    return read_platform("configs/platforms/mini.yaml", std::move(settings));
}

NetworkImage compiled(const std::string& model, const PlatformConfig& platform, const std::string& design = "adyna") {
    NetworkImageOptions options;
    options.design = design;
    return compile_network(sched::read_model(model), platform, options);
}

/// What `work` throws, without the file in front.
template <class Error, class Work>
std::string thrown(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing";
}

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("scheduler and scratchpad round a share of kernels to the same number", "[image]") {
    for (unsigned share = 1; share < 100; ++share)
        for (const std::uint64_t hundreds : {1u, 2u, 3u, 40u, 977u}) {
            CAPTURE(share, hundreds);
            const std::uint64_t bytes = kernel_store_bytes(share / 100.0, 100 * kKernelBytes * hundreds);
            CHECK(bytes == share * hundreds * kKernelBytes);
            sched::HardwareDescription hardware;
            hardware.kernel_share = share / 100.0;
            hardware.scratchpad_bytes = static_cast<std::uint32_t>(100 * kKernelBytes * hundreds);
            CHECK(hardware.kernel_region_bytes() == bytes);
        }
    CHECK(kernel_store_bytes(0.5, 3 * kKernelBytes) == kKernelBytes);
}

TEST_CASE("an image that the compiler makes and a run would refuse is an error of the compiler", "[image]") {
    const PlatformConfig platform = mini();
    const Image good = compiled("testbenches/data/fig6.yaml", platform).image;
    CHECK(accepted_image(good, platform, "model.yaml").bytes == encode(good));
    const auto refused = [&](auto&& change) {
        Image image = good;
        const auto tile = std::find_if(image.tiles.begin(), image.tiles.end(),
                                       [](const TileProgram& program) { return !program.operators.empty(); });
        change(image, *tile);
        return thrown<std::logic_error>([&] { accepted_image(image, platform, "model.yaml"); });
    };
    const std::string whose = "this is an error of the compiler, which writes no image";
    CHECK_THAT(refused([](Image&, TileProgram& tile) { tile.operators.front().position_tokens = 7; }),
               Contains("found 7 tokens") && Contains(whose));
    CHECK_THAT(refused([](Image& image, TileProgram&) { ++image.platform_fingerprint; }),
               Contains("which has other sizes") && Contains(whose));
    // Of the dispatcher's rules.
    CHECK_THAT(refused([](Image&, TileProgram& tile) { tile.kernels.front().loop(Level::pe, Dim::c).block = 2; }),
               Contains("expected c, r and s on one PE") && Contains(whose));
    // Of the rules of the whole chip: nobody has rank 0 of an operator.
    CHECK_THAT(refused([](Image& image, TileProgram& tile) {
                   const std::uint16_t op = tile.operators.front().op_id;
                   for (TileProgram& one : image.tiles)
                       one.operators.erase(std::remove_if(one.operators.begin(), one.operators.end(),
                                                          [op](const TileOperator& each) {
                                                              return each.op_id == op && each.rank == 0;
                                                          }),
                                           one.operators.end());
               }),
               Contains("expected a tile of rank 0, found none") && Contains(whose));
}

TEST_CASE("an image of more kernels than tiles have room for is refused when it is compiled and when it is run",
          "[image]") {
    const std::string digits = "configs/workloads/digits_skipnet.yaml";
    CHECK_THAT(thrown<Infeasible>([&] { compiled(digits, mini(), "full-kernel"); }),
               Contains("digits_skipnet.yaml: expected at most ") && Contains("set chip.ideal_kernel_store: yes"));
    const NetworkImage ideal =
        compiled(digits, mini({{"chip.impl", "stages"}, {"chip.ideal_kernel_store", "yes"}}), "full-kernel");
    CHECK_THAT(thrown<Infeasible>([&] { decode_image_for(mini(), ideal.bytes, "full.syk"); }),
               Contains("full.syk: expected at most ") && Contains("set chip.ideal_kernel_store: yes"));
}

TEST_CASE("what no functional run computes is refused when it is compiled for a functional chip", "[image]") {
    const PlatformConfig functional = mini({{"chip.functional", "yes"}});
    CHECK_THAT(thrown<InputError>([&] { compiled("testbenches/data/fig6.yaml", functional); }),
               Contains("fig6.yaml: ") && Contains("expected parameters for its weights, found none"));
    CHECK(thrown<InputError>([&] { compiled("testbenches/data/fig6.yaml", mini()); }) == "nothing");
}

TEST_CASE("a gate without an output a branch decides nothing in a functional run", "[image]") {
    const std::string path = (std::filesystem::temp_directory_path() / fmt::format("gate_{}.yaml", getpid())).string();
    std::ofstream(path) << "name: gate\nbatch: 4\ninput: {channels: 8}\nlayers:\n"
                           "  - {name: data, kind: elementwise, from: input}\n"
                           "  - {name: gate, kind: matmul, from: data, out_channels: 5, parameters: gate}\n"
                           "  - {name: way, kind: switch, from: data, gate: gate, branches: 3}\n"
                           "  - {name: out, kind: merge, from: [way.0, way.1, way.2]}\n";
    CHECK(thrown<InputError>([&] { compiled(path, mini()); }) == "nothing");  // with recorded routes
    CHECK_THAT(
        thrown<InputError>([&] {
            compiled(path, mini({{"chip.functional", "yes"}}));
        }),
        Contains("gate: expected a gate that decides between the 3 branches of its switch, with an output for each or "
                 "with one output for two, found 5 outputs for 5 branches"));
    std::filesystem::remove(path);
}
