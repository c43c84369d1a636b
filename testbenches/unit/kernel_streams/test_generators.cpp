// SPDX-License-Identifier: Apache-2.0
// Number of kernels in closed form, and dependences that are the data flow and nothing else.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "descriptions.h"
#include "switchyard/sw_scheduler/ace/dependence.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using Catch::Matchers::ContainsSubstring;
using test::Description;
using test::shipped;

namespace {

const std::vector<std::string> kWorkloads{"ant",        "grasp",    "humanoid",  "halfcheetah",
                                          "walker2d",   "instanas", "condconv",  "nasnet",
                                          "squeezenet", "randwire", "amoebanet", "dynamic_routing"};

using EdgeSet = std::set<std::pair<std::size_t, std::size_t>>;

/// Pairs of a kernel and one that reads what it wrote. Segments are the same, or the reader's is the sum of two halves.
EdgeSet data_flow(const std::vector<GpuKernel>& kernels) {
    EdgeSet edges;
    for (std::size_t later = 0; later < kernels.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            for (const MemorySegment& read : kernels[later].reads)
                for (const MemorySegment& written : kernels[earlier].writes)
                    if (written.start >= read.start && written.start < read.start + read.size)
                        edges.insert({earlier, later});
    return edges;
}

EdgeSet dependences(const std::vector<GpuKernel>& kernels) {
    std::vector<ace::Footprint> footprints;
    footprints.reserve(kernels.size());
    for (const GpuKernel& kernel : kernels) footprints.push_back({kernel.reads, kernel.writes});
    EdgeSet edges;
    for (std::size_t later = 0; later < kernels.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            if (ace::depends_on(footprints[later], footprints[earlier], ace::DependenceRule::all_hazards))
                edges.insert({earlier, later});
    return edges;
}

/// Kernels on the longest chain.
std::size_t depth(std::size_t kernels, const EdgeSet& edges) {
    std::vector<std::size_t> level(kernels, 1);
    for (std::size_t later = 0; later < kernels; ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            if (edges.count({earlier, later}) != 0) level[later] = std::max(level[later], level[earlier] + 1);
    return *std::max_element(level.begin(), level.end());
}

std::size_t named(const std::vector<GpuKernel>& kernels, const std::string& part) {
    return static_cast<std::size_t>(std::count_if(kernels.begin(), kernels.end(), [&](const GpuKernel& kernel) {
        return kernel.name.find(part) != std::string::npos;
    }));
}

/// Of a substep: state and sums 1 + 1 + 1 + 1 + 3; five kernels a batch of joints or actuators, nine a batch of
/// contacts; an addition for each batch behind the first.
std::size_t brax_kernels(std::size_t substeps, std::size_t joints, std::size_t actuators, std::size_t colliders) {
    return substeps * (7 + 5 * joints + 5 * actuators + 9 * colliders + (joints - 1) + (actuators - 1) + colliders - 1);
}

}  // namespace

TEST_CASE("the dependences of a stream are its data flow", "[kernel_streams]") {
    const std::string name = GENERATE(from_range(kWorkloads));
    const GeneratedStream stream = shipped(name).generate({1, 0});
    INFO(name);
    const EdgeSet edges = data_flow(stream.kernels);
    CHECK(dependences(stream.kernels) == edges);
    // Every result but the last is read, and the longest chain is shorter than the stream.
    CHECK(depth(stream.kernels.size(), edges) < stream.kernels.size());
    for (const GpuKernel& kernel : stream.kernels) {
        REQUIRE(validation_error(kernel).empty());
        REQUIRE(kernel.work.written_bytes > 0);
        REQUIRE(kernel.work.read_bytes > 0);
    }
}

TEST_CASE("grids are those of the libraries", "[kernel_streams]") {
    using Grid = std::array<std::uint32_t, 3>;
    // The largest tile with 40 or more: 8 x 8 of 128 x 128.
    CHECK(matrix_product_shape(1024, 1024, 256).grid == Grid{64, 1, 1});
    CHECK(matrix_product_shape(1024, 1024, 256).threads == 256);
    // 2 x 10 of 32 x 32, in two parts of the depth; one part if the depth is short, not more than depth / 64.
    CHECK(matrix_product_shape(64, 320, 960).grid == Grid{20, 1, 2});
    CHECK(matrix_product_shape(64, 320, 100).grid == Grid{20, 1, 1});
    CHECK(matrix_product_shape(16, 32, 256).grid == Grid{1, 1, 4});
    CHECK(matrix_product_shape(16, 32, 1 << 20).grid == Grid{1, 1, 40});
    // Batch norm: a CTA a channel; a thread for four pixels, 64 to 512.
    CHECK(batch_norm_shape(96, 1024).grid == Grid{96, 1, 1});
    CHECK(batch_norm_shape(96, 1024).threads == 256);
    CHECK(batch_norm_shape(96, 16).threads == 64);
    CHECK(batch_norm_shape(96, 1 << 20).threads == 512);
    CHECK(one_output_shape(4097, kLargeCta).grid == Grid{5, 1, 1});
    CHECK(one_pixel_shape(2048).grid == Grid{2, 1, 1});
}

TEST_CASE("Brax: kernels of a step, threads and bytes of its operations", "[kernel_streams]") {
    CHECK(shipped("ant").generate({}).kernels.size() == brax_kernels(10, 1, 1, 1));
    CHECK(shipped("grasp").generate({}).kernels.size() == brax_kernels(4, 2, 2, 2));
    CHECK(shipped("humanoid").generate({}).kernels.size() == brax_kernels(8, 3, 3, 1));
    CHECK(shipped("halfcheetah").generate({}).kernels.size() == brax_kernels(16, 1, 1, 2));
    CHECK(shipped("walker2d").generate({}).kernels.size() == brax_kernels(4, 1, 1, 1));

    const std::vector<GpuKernel> ant = shipped("ant").generate({}).kernels;
    const auto kernel = [&](const std::string& name) {
        return *std::find_if(ant.begin(), ant.end(), [&](const GpuKernel& k) { return k.name == name; });
    };
    // 2048 environments; 8 joints of ten bodies; 128 threads a CTA; a body has 13 numbers.
    CHECK(kernel("kinetic").ctas() == 2048 * 10 / 128);
    CHECK(kernel("revolute_joints_apply").ctas() == 2048 * 8 / 128);
    CHECK(kernel("revolute_joints_take_parent").work.read_bytes == 2048 * 10 * 13 * 4);
    CHECK(kernel("revolute_joints_take_parent").work.written_bytes == 2048 * 8 * 13 * 4);
    CHECK(kernel("capsule_plane_contact").ctas() == 2048 * 5 / 128);
    // kinetic, take, apply, sum, both, potential, take, contact, impulse, sum, divide, collision: the chain of a
    // substep; the last one's sums of the environment hang on it.
    CHECK(depth(ant.size(), data_flow(ant)) == 10 * 12);
}

TEST_CASE("Brax with a kernel for each joint and contact", "[kernel_streams]") {
    const std::string text =
        "name: ant\ngenerator: brax\nbodies: 10\nsubsteps: 1\njoints: {revolute: 8}\nactuators: {revolute: 8}\n"
        "contacts: {capsule_plane: 5}\nkernels: item\n";
    const std::vector<GpuKernel> kernels = Description(text).generate().kernels;
    CHECK(kernels.size() == 7 + (8 * 3 + 2) + (8 * 4 + 1) + (5 * 4 + 5));
    CHECK(named(kernels, "revolute_joints_apply") == 8);
    CHECK(named(kernels, "capsule_plane_contact") == 5);
    CHECK(dependences(kernels) == data_flow(kernels));
}

TEST_CASE("InstaNAS draws a graph for each input", "[kernel_streams]") {
    const StreamModel model = shipped("instanas");
    CHECK(model.input_dependent);
    const auto names = [&](std::uint64_t input) { return kernel_stream_text(model.generate({1, input}).kernels); };
    CHECK(names(0) == names(0));
    CHECK(names(0) != names(1));
    CHECK_FALSE(model.generate({2, 0}).kernels.empty());

    const auto all = [](const char* probability) {
        return Description(std::string("name: i\ngenerator: instanas\nchoice_probability: ") + probability + "\n")
            .generate()
            .kernels;
    };
    // None chosen: the basic block of the seven layers that change the shape, six kernels each, between 3 + 3 + 2.
    CHECK(all("0").size() == 7 * 6 + 3 + 3 + 2);
    // All: four inverted blocks of 8 and a basic block of 6, four additions; ten of 17 layers keep their shape and have
    // four more, and so does none of the first layers, whose widths all differ.
    CHECK(all("1").size() == 17 * (4 * 8 + 6 + 4) + 10 * 4 + 8);
}

TEST_CASE("Dynamic Routing: closed paths are not computed", "[kernel_streams]") {
    const auto with = [](const char* probability) {
        return Description(std::string("name: d\ngenerator: dynamic_routing\nrows: 128\ncolumns: 256\n"
                                       "open_probability: ") +
                           probability + "\n")
            .generate()
            .kernels;
    };
    // Stem 3 + 4 + 4, the first cell's gate 8; all paths closed: each of 16 layers has the gate of the one cell that
    // something reaches, and the decoder a convolution of 3, another, and an interpolation.
    CHECK(with("0").size() == 11 + 8 * 17 + 3 + 2);
    CHECK(with("1").size() > with("0").size());
    CHECK(with("0.4").size() < with("1").size());
}

TEST_CASE("CondConv mixes weights by the input", "[kernel_streams]") {
    const std::vector<GpuKernel> kernels = shipped("condconv").generate({}).kernels;
    // The last three stages have 6 + 8 + 2 blocks.
    CHECK(named(kernels, "mix_weights") == 3 * 16);
    CHECK_FALSE(shipped("condconv").input_dependent);
}

TEST_CASE("a captured stream is a workload", "[kernel_streams]") {
    const auto folder = std::filesystem::temp_directory_path();
    const std::vector<GpuKernel> ant = shipped("walker2d").generate({}).kernels;
    const std::vector<std::uint8_t> bytes = encode_kernel_stream(ant);
    std::ofstream(folder / "switchyard_captured.syks", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const Description description("name: mine\ngenerator: recorded\nstream: switchyard_captured.syks\n");
    CHECK(kernel_stream_text(description.generate().kernels) == kernel_stream_text(ant));
    std::ofstream(folder / "switchyard_captured.syks") << kernel_stream_text(ant);
    CHECK(description.generate().kernels.size() == ant.size());
    std::ofstream(folder / "switchyard_captured.syks", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size() / 2));
    CHECK_THROWS_WITH(description.generate(), ContainsSubstring("truncated"));
    std::filesystem::remove(folder / "switchyard_captured.syks");
}

TEST_CASE("a description that cannot be used is refused with its line", "[kernel_streams][bad]") {
    const auto refused = [](const std::string& text, const std::string& message) {
        const Description description(text);
        CHECK_THROWS_WITH(read_stream_model(description.path()), ContainsSubstring(message));
    };
    refused("name: x\ngenerator: resnet\n", ":2: generator: expected one of brax, squeezenet");
    refused("name: x\ngenerator: nasnet\nfilters: 45\n", ":3: filters: expected a multiple of 4, found 45");
    refused("name: x\ngenerator: amoebanet\nlayers: 4\n", "layers: expected a multiple of 3, found 4");
    refused("name: x\ngenerator: random_wiring\nneighbours: 3\n", "neighbours: expected an even number, found 3");
    refused("name: x\ngenerator: brax\nbodies: 3\nsubsteps: 1\njoints: {hinge: 1}\nactuators: {}\ncontacts: {}\n",
            "joints.hinge");
    refused("name: x\ngenerator: squeezenet\nimages: 3\n", "images");
    refused(
        "name: x\ngenerator: brax\nbodies: 3\nsubsteps: 1\nkernels: item\njoints: {revolute: 65}\nactuators: {}\n"
        "contacts: {}\n",
        "kernels: revolute_joints: expected at most 64 items that a kernel sums, found 65");
}
