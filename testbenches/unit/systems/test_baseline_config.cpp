// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/gpu_roofline/gpu_config.h"
#include "switchyard/platform/systems/m_tenant/tenant_config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

/// What reading `text` complains about, the path cut to the file's name.
template <class Read>
std::string error_of(const std::string& text, Read&& read, std::map<std::string, std::string> overrides = {}) {
    const sched::TextFile file("baseline.yaml", text);
    try {
        read(file.path(), overrides);
    } catch (const InputError& error) {
        const std::string message = error.what();
        const std::size_t at = message.find("baseline.yaml");
        return at == std::string::npos ? message : message.substr(at);
    }
    return "no error";
}

}  // namespace

TEST_CASE("a100.yaml is the card of the data sheet", "[baselines]") {
    std::map<std::string, std::string> overrides{{"gpu.launch_us", "3"}, {"noc.topology", "mesh"}};
    const GpuConfig gpu = read_gpu_config("configs/platforms/a100.yaml", overrides);
    CHECK(gpu.name == "a100");
    CHECK(gpu.tensor_flops_per_us() * 1e-6 == Approx(312).epsilon(0.001));
    CHECK(gpu.memory_gb_per_s == 1935);
    CHECK(gpu.l2_bytes == 40u << 20);
    CHECK(gpu.board_power_w == 300);
    CHECK(gpu.launch_us == 3);
    CHECK(overrides == std::map<std::string, std::string>{{"noc.topology", "mesh"}});  // left for others
}

TEST_CASE("mistakes in a baseline's file name the line and the key", "[baselines]") {
    CHECK(error_of("gpu:\n  launch: 3\n", read_gpu_config).rfind("baseline.yaml:2: gpu.launch: expected one of ", 0) ==
          0);
    CHECK(error_of("gpu:\n  launch_us: -1\n", read_gpu_config) ==
          "baseline.yaml:2: gpu.launch_us: expected 0 to 1000000, found -1");
    CHECK(error_of("gpu: {}\nhbm: {}\n", read_gpu_config) ==
          "baseline.yaml:2: hbm: expected one of gpu, system, found hbm");
    CHECK(error_of("{}\n", read_gpu_config) == "baseline.yaml:1: gpu: expected a section, found none");
    CHECK(error_of("- gpu\n", read_gpu_config) == "baseline.yaml:1: expected a mapping of sections, found a list");
    CHECK(error_of("gpu: {}\n", read_gpu_config, {{"gpu.tensor_efficiency", "2"}}) ==
          "--set: gpu.tensor_efficiency: expected 0.01 to 1, found 2");
    CHECK(error_of("m_tenant:\n  groups: three\n", read_tenant_config) ==
          "baseline.yaml:2: m_tenant.groups: expected one of free, power_of_two, found \"three\"");
}

TEST_CASE("tenants need no file", "[baselines]") {
    std::map<std::string, std::string> overrides{{"m_tenant.host_synchronisation_us", "45"}};
    const TenantConfig config = read_tenant_config("", overrides);
    CHECK(config.groups == "free");
    CHECK(config.host_synchronisation_us == 45);
    CHECK(overrides.empty());
}
