// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <fstream>

#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/driver/switchyard_package.h"
#include "switchyard/platform/system/npy.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/integration/vp/firmware/platform.h"
#include "switchyard/testbenches/integration/vp/flat_memory.h"
#include "switchyard/testbenches/integration/vp/prototype.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

const std::string kFolder = "configs/workloads/digits/skipnet";
constexpr std::uint32_t kBatches = 2;

/// digits_skipnet with its trained weights, the first 128 digits twice and what PyTorch made of them, packed by the
/// installed tool.
struct Network {
    std::string package;
    switchyard_package head{};
    std::vector<std::uint8_t> labels;

    Network() {
        const std::string path = scratch("skipnet.syp");
        const Outcome packed =
            sy_sched("pack " + digits_image() + " --weights " + kFolder + "/weights --inputs " + kFolder +
                     "/input_batch0.npy --expect " + kFolder + "/logits_batch0.npy --trace " + kFolder +
                     "/routing.jsonl --batches " + std::to_string(kBatches) + " --address " +
                     std::to_string(PACKAGE_ADDRESS) + " -o " + path);
        INFO(packed.err);
        REQUIRE(packed.status == 0);
        package = read_text(path);
        std::memcpy(&head, package.data(), sizeof head);
        const NpyArray logits = read_npy(kFolder + "/logits_batch0.npy");
        const std::size_t classes = logits.values.size() / logits.shape.at(0);
        for (auto first = logits.values.begin(); first != logits.values.end();
             first += static_cast<std::ptrdiff_t>(classes))
            labels.push_back(static_cast<std::uint8_t>(
                std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first));
    }
};

const Network& network() {
    static const Network kNetwork;
    return kNetwork;
}

std::string expected_text() {
    std::string digits;
    for (unsigned batch = 0; batch < kBatches; ++batch) {
        for (std::size_t i = 0; i < network().labels.size(); ++i) {
            digits += static_cast<char>('0' + network().labels[i]);
            if (i % 64 == 63) digits += '\n';
        }
    }
    return "damaged image: a checksum of the image does not match\n"
           "damaged image, checked by the chip: 2\n"
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

/// How the prototype is built and run.
struct Boot {
    double quantum_ns = 1000;
    bool uses_dmi = true, edge_triggered = false;
};

/// Boots the prototype and leaves what it printed and computed in `file`.
void boot(const Boot& how, const std::string& file) {
    ::tlm::tlm_global_quantum::instance().set(sc_core::sc_time(how.quantum_ns, sc_core::SC_NS));
    const Network& net = network();
    const PlatformConfig platform = read_platform(
        kMini, {{"chip.functional", "yes"}, {"host.interrupt_rearm_ns", how.edge_triggered ? "20" : "0"}});
    Prototype prototype("prototype", platform, how.uses_dmi, how.edge_triggered);
    prototype.put(read_elf(SWITCHYARD_VP_PROGRAMS "/firmware.elf"));
    prototype.put(PACKAGE_ADDRESS, {net.package.begin(), net.package.end()});
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));

    CHECK(prototype.system.is_off());
    CHECK(prototype.system.exit_code() == 0);
    const std::string text = prototype.uart.text();
    CHECK(without_profile(text) == expected_text());
    // Without DMI every instruction is a transport call at least.
    CHECK((prototype.cpu.transports() < prototype.cpu.core().instructions()) == how.uses_dmi);

    // The package now holds what the chip has computed: logits and masks.
    const std::vector<std::uint8_t> package = prototype.get(PACKAGE_ADDRESS, net.package.size());
    CHECK(std::string(package.begin(), package.end()) != net.package);
    write_text(file, text + std::string(package.begin(), package.end()));
}

/// Boots with each, and compares what the firmware and the chip have left.
void check_same_results(const std::vector<Boot>& boots) {
    network();  // once, not in each child
    std::vector<std::string> results;
    for (const Boot& how : boots) {
        const std::string file = scratch("result");
        in_child([&] { boot(how, file); });
        results.push_back(read_text(file));
    }
    for (std::size_t i = 1; i < results.size(); ++i) {
        INFO(i);
        CHECK(results[i] == results[0]);
    }
}

}  // namespace

TEST_CASE("firmware boots the accelerator and runs digits, the same with every quantum", "[vp]") {
    // The last one without DMI and with an edge-triggered interrupt controller.
    check_same_results({{0}, {1000, false, true}});
}

TEST_CASE("firmware sees the same with further quanta, without DMI, and with edge-triggered interrupts",
          "[.ci-long][vp]") {
    check_same_results({{0}, {10}, {1000}, {10000}, {1000, false}, {1000, true, true}});
}

TEST_CASE("checking an image takes firmware less than ten instructions a byte", "[vp][driver]") {
    const ElfFile elf = read_elf(SWITCHYARD_VP_PROGRAMS "/check_image.elf");
    const auto check = [&elf](const std::string& package) {
        FlatMemory memory(Prototype::kRam, 4u << 20);
        memory.put(elf);
        memory.put(PACKAGE_ADDRESS, package);
        Rv32Core core(memory);
        core.reset(elf.entry);
        const std::uint32_t end = elf.symbols.at("halted");
        while (core.pc() != end && core.instructions() < 100'000'000) core.step();
        REQUIRE(core.pc() == end);
        return std::pair{memory.word(elf.symbols.at("result")), core.instructions()};
    };
    std::string package = network().package;
    const auto [result, instructions] = check(package);
    CHECK(result == SWITCHYARD_OK);
    INFO(instructions << " instructions for " << network().head.image_bytes << " bytes");
    CHECK(instructions > network().head.image_bytes);
    CHECK(instructions < 10 * std::uint64_t{network().head.image_bytes});
    package[network().head.image + network().head.image_bytes - 1] ^= 1;  // in the last section
    CHECK(check(package).first == SWITCHYARD_IMAGE_CHECKSUM);
}
