// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kGemm =
    R"({"name": "gemm", "grid": [16, 4], "block": [128], "registers": 64, "shared_bytes": 16384, "tensor_flops": 4194304,)"
    R"( "read_bytes": 65536, "written_bytes": 32768, "reads": [[4096, 32768], [65536, 32768]], "writes": [[131072, 32768]]})";

std::vector<GpuKernel> random_stream(std::uint64_t seed) {
    RandomSource random(seed, 0);
    std::vector<GpuKernel> kernels(random.integer(1, 20));
    for (GpuKernel& kernel : kernels) {
        kernel.name = "k" + std::to_string(random.integer(0, 9));
        kernel.grid = {random.integer(1, 100000), random.integer(1, 100), 1};
        kernel.block = {random.integer(1, 32), random.integer(1, 32), 1};
        kernel.registers_per_thread = random.integer(1, 255);
        kernel.shared_bytes = random.integer(0, kMaxSharedBytes);
        kernel.work = {random.log_integer(1, 1e12), random.log_integer(1, 1e12), random.integer(0, 9), 0};
        for (auto* segments : {&kernel.reads, &kernel.writes})
            for (unsigned i = random.integer(0, 4); i > 0; --i)
                segments->push_back({random.log_integer(1, 2e14), random.log_integer(1, 1e9)});
    }
    return kernels;
}

bool equal(const std::vector<GpuKernel>& a, const std::vector<GpuKernel>& b) {
    return kernel_stream_text(a) == kernel_stream_text(b);
}

void refused(const std::string& line, const std::string& message) {
    INFO(line);
    CHECK_THROWS_WITH(parse_kernel_stream(kGemm + "\n" + line + "\n", "s.jsonl"),
                      ContainsSubstring("s.jsonl:2: " + message));
}

}  // namespace

TEST_CASE("a kernel stream is read from JSON Lines", "[ace][stream]") {
    const std::vector<GpuKernel> kernels =
        parse_kernel_stream(kGemm + "\n\n" + R"({"name":"n","grid":[1],"block":[32],"dependent_loads":2})", "s");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].ctas() == 64);
    CHECK(kernels[0].threads_per_cta() == 128);
    CHECK(kernels[0].reads[1] == MemorySegment{65536, 32768});
    CHECK(kernels[0].work.tensor_flops == 4194304);
    CHECK(kernels[1].registers_per_thread == 32);
    CHECK(kernels[1].writes.empty());
}

TEST_CASE("both forms of a kernel stream hold the same", "[ace][stream]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::vector<GpuKernel> kernels = random_stream(seed);
        CHECK(equal(parse_kernel_stream(kernel_stream_text(kernels), "text"), kernels));
        CHECK(equal(decode_kernel_stream(encode_kernel_stream(kernels), "binary"), kernels));
    }
}

TEST_CASE("what is wrong with a line is told with its key", "[ace][stream][bad]") {
    refused("[1]", "expected a JSON object, found a list of 1");
    refused(R"({"name":"n","grid":[1]})", "block: expected a value, found nothing");
    refused(R"({"name":"n","grid":[1],"block":[32],"smem":1})",
            "smem: expected one of name, grid, block, registers, shared_bytes, ");
    refused(R"({"name":"n","grid":[1,1,1,1],"block":[32]})",
            "grid: expected a list of one to three integers, found a list of 4");
    refused(R"({"name":"n","grid":[0],"block":[32]})", "grid: expected 1 to 2147483647, found 0");
    refused(R"({"name":"n","grid":[1],"block":[64,32]})",
            "block: expected at most 1024 threads in a CTA, found 64 x 32 x 1");
    refused(R"({"name":"n","grid":[1],"block":[32],"registers":256})", "registers: expected 1 to 255, found 256");
    refused(R"({"name":"n","grid":[1],"block":[32],"flops":-1})", "flops: expected an integer of 0 or more, found -1");
    refused(R"({"name":"n","grid":[1],"block":[32],"reads":[[281474976710656,1]]})",
            "reads: expected addresses of at most 48 bits, found 281474976710656");
    refused(R"({"name":"n","grid":[1],"block":[32],"writes":[[0]]})",
            "writes: expected a list of [address, bytes], found a list of 1");
    refused(R"({"name":"n","grid":[1],"block":[32])", "");
    refused(R"({"name":"n","grid":[1],"block":[32],"reads":[[0,64]]})",
            "kernel n: expected work (flops, tensor_flops, read_bytes, written_bytes, l2_bytes, memory_instructions or "
            "dependent_loads above 0), found none; give what it does");
    CHECK_THROWS_WITH(parse_kernel_stream("\n", "s"), ContainsSubstring("expected one kernel or more, found none"));
    std::string many = R"({"name":"n","grid":[1],"block":[32],"reads":[[0,1])";
    for (unsigned i = 0; i < kMaxSegments; ++i) many += ",[0,1]";
    refused(many + "]}", "reads: expected at most 64 segments, found 65");
}

TEST_CASE("a binary stream that is truncated or damaged is refused, wherever", "[ace][stream][bad]") {
    const std::vector<std::uint8_t> good = encode_kernel_stream(random_stream(3));
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK_THROWS_AS(decode_kernel_stream({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, "s"),
                        InputError);
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::vector<std::uint8_t> bad = good;
        bad[at] ^= 0x10;
        CHECK_THROWS_AS(decode_kernel_stream(bad, "s"), InputError);
    }
}

TEST_CASE("any kind of work makes a kernel, none does not, in both forms", "[ace][stream]") {
    for (const char* key : {"flops", "tensor_flops", "read_bytes", "written_bytes", "l2_bytes", "memory_instructions",
                            "dependent_loads"}) {
        const std::string line = std::string(R"({"name":"n","grid":[1],"block":[32],")") + key + "\":1}";
        const std::vector<GpuKernel> kernels = parse_kernel_stream(line, "s");
        CHECK(equal(decode_kernel_stream(encode_kernel_stream(kernels), "binary"), kernels));
    }
    std::vector<GpuKernel> idle = parse_kernel_stream(kGemm, "s");
    idle[0].work = {};
    idle[0].schedule = {};
    CHECK_THROWS_WITH(decode_kernel_stream(encode_kernel_stream(idle), "b.syks"),
                      ContainsSubstring("b.syks: ") && ContainsSubstring("kernel gemm: expected work"));
    CHECK_THROWS_WITH(parse_kernel_stream(kernel_stream_text(idle), "s.jsonl"),
                      ContainsSubstring("s.jsonl:1: kernel gemm: expected work"));
}

TEST_CASE("a kernel that is made larger does not wrap", "[ace][stream]") {
    GpuKernel kernel = parse_kernel_stream(kGemm, "s")[0];
    CHECK(enlarged(kernel, 3).work.tensor_flops == 3 * kernel.work.tensor_flops);
    kernel.work.flops = std::uint64_t{1} << 63;
    CHECK_THROWS_WITH(enlarged(kernel, 2),
                      ContainsSubstring("kernel gemm: expected at most 18446744073709551615, found"));
    kernel.work.flops = 1;
    kernel.reads[0].start = kAddressSpace / 2;
    CHECK_THROWS_WITH(enlarged(kernel, 2), ContainsSubstring("kernel gemm: expected at most"));
}
