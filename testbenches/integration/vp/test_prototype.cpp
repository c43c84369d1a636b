#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <boost/crc.hpp>

#include "switchyard/platform/network_image.h"
#include "switchyard/platform/npy.h"
#include "switchyard/testbenches/integration/vp/boot_package.h"
#include "switchyard/testbenches/integration/vp/firmware/package.h"
#include "switchyard/testbenches/integration/vp/prototype.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

const std::string kFolder = "configs/workloads/digits/skipnet";

/// digits_skipnet with its trained weights, the first 128 digits and what PyTorch made of them.
struct Network {
    PlatformConfig platform = read_platform("configs/platforms/mini.yaml", {{"chip.values", "on"}});
    BootPackage package;
    std::vector<std::uint8_t> labels;

    Network() {
        const sched::Model model = sched::read_model("configs/workloads/digits_skipnet.yaml");
        const Image image = compile_network(model, platform, {});
        const NetworkValues values(image, kFolder + "/weights", kFolder + "/input_batch0.npy");
        const std::vector<BatchRouting> routing =
            read_trace(kFolder + "/routing.jsonl", model.graph.signatures(), image.meta.batch_samples, 1);
        const NpyArray logits = read_npy(kFolder + "/logits_batch0.npy");
        const std::size_t classes = logits.values.size() / logits.shape.at(0);
        for (auto first = logits.values.begin(); first != logits.values.end();
             first += static_cast<std::ptrdiff_t>(classes))
            labels.push_back(static_cast<std::uint8_t>(
                std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first));
        package = make_boot_package(image, values, routing.at(0), labels, platform.tiles());
    }
};

const Network& network() {
    static const Network kNetwork;
    return kNetwork;
}

std::string expected_text() {
    std::string digits;
    for (unsigned batch = 0; batch < PACKAGE_BATCHES; ++batch) {
        for (std::size_t i = 0; i < network().labels.size(); ++i) {
            digits += static_cast<char>('0' + network().labels[i]);
            if (i % 64 == 63) digits += '\n';
        }
    }
    return "damaged image: a checksum of the image does not match\n"
           "batch without an image: 9\n"
           "no transfer under way: the chip did not answer in time\n"
           "nobody at an address: trap 5\n"
           "image loaded\nbatch 0 done\nbatch 1 done\n" +
           std::string("profile: ") + "PROFILE\n" + digits +
           "256 of 256 labels as expected, 2048 of 2048 gate decisions as recorded\n";
}

/// The line that only the chip knows, replaced by PROFILE; it must count something.
std::string without_profile(const std::string& text) {
    const std::string begin = "profile: ";
    const std::size_t at = text.find(begin) + begin.size(), end = text.find('\n', at);
    if (end == std::string::npos || text.substr(at, 2) == "0 ") return text;
    return text.substr(0, at) + "PROFILE" + text.substr(end);
}

/// A folder of this process, gone with it.
class Scratch {
public:
    Scratch() : path_(std::filesystem::temp_directory_path() / ("switchyard_vp_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string file(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Boots the prototype and leaves what it printed and computed in `file`.
void boot(double quantum_ns, bool uses_dmi, const std::string& file) {
    ::tlm::tlm_global_quantum::instance().set(sc_core::sc_time(quantum_ns, sc_core::SC_NS));
    const Network& net = network();
    Prototype prototype("prototype", net.platform, uses_dmi);
    prototype.put(read_elf(SWITCHYARD_VP_PROGRAMS "/firmware.elf"));
    prototype.put(PACKAGE_ADDRESS, net.package.bytes);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));

    CHECK(prototype.system.is_off());
    CHECK(prototype.system.exit_code() == 0);
    const std::string text = prototype.uart.text();
    CHECK(without_profile(text) == expected_text());
    CHECK(prototype.get(net.package.labels, net.labels.size()) == net.labels);
    // Without DMI every instruction is a transport call at least.
    CHECK((prototype.cpu.transports() < prototype.cpu.core().instructions()) == uses_dmi);

    std::ofstream out(file, std::ios::binary);
    out << text;
    for (const auto& [address, bytes] :
         {std::pair{net.package.labels, net.package.samples}, std::pair{net.package.logits, net.package.logits_bytes},
          std::pair{net.package.masks, net.package.masks_bytes}}) {
        const std::vector<std::uint8_t> memory = prototype.get(address, bytes);
        out.write(reinterpret_cast<const char*>(memory.data()), static_cast<std::streamsize>(memory.size()));
    }
}

}  // namespace

TEST_CASE("firmware boots the accelerator and runs digits, the same with every quantum", "[vp]") {
    network();  // once, not in each child
    const Scratch scratch;
    std::vector<std::string> results;
    for (const double quantum : {0.0, 10.0, 1000.0, 10000.0}) {
        const std::string file = scratch.file(std::to_string(static_cast<int>(quantum)));
        in_child([&] { boot(quantum, true, file); });
        results.push_back(contents(file));
    }
    in_child([&] { boot(1000, false, scratch.file("transport")); });
    results.push_back(contents(scratch.file("transport")));
    CHECK(results[0].size() > 256 * 10 * 2 + 2048 * 8);
    for (std::size_t i = 1; i < results.size(); ++i) {
        INFO(i);
        CHECK(results[i] == results[0]);
    }
}
