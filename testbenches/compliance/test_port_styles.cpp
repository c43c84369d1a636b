// SPDX-License-Identifier: Apache-2.0
// The digits network through every kind of initiator: the same bits in memory, and no rule of the base protocol broken
// on any link, inside the chip and outside.

#include <algorithm>
#include <cstring>
#include <fstream>

#include "switchyard/testbenches/compliance/accelerator_rig.h"
#include "switchyard/testbenches/unit/image/small_image.h"

using namespace switchyard;
using namespace switchyard::compliance;
using namespace switchyard::testing;

namespace {

struct Port {
    const char* name;
    std::map<std::string, std::string> overrides;
};

const std::vector<Port>& ports() {
    static const std::vector<Port> kPorts{{"as it is", {}},
                                          {"one request at a time", {{"host.port_requests", "1"}}},
                                          {"early completion", {{"host.port_completes_early", "on"}}}};
    return kPorts;
}

/// Runs the network and writes the bytes of its logits to `file`.
void run(const PortInitiator::Style& style, const Port& port, const std::string& file) {
    std::map<std::string, std::string> overrides = port.overrides;
    overrides["chip.functional"] = overrides["chip.check_protocol"] = "on";
    AcceleratorRig rig(mini(overrides), style);
    platform::NpyArray logits;
    rig.run([&](AcceleratorRig& r) { logits = run_digits(r); });
    CHECK(wrong_digits(logits) == 0);
    CHECK(rig.port_checker.monitor().transactions() > 300);
    CHECK(rig.port.direct_accesses == (style.dmi ? (digits_image().size() + 4095) / 4096 : 0));
    CHECK(rig.memory_checker.monitor().transactions() > 40);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(logits.values.data()),
               static_cast<std::streamsize>(logits.values.size() * sizeof(float)));
}

/// Only AT initiators see how a port takes requests. The others try the port as it is.
void check_same_results(const std::vector<PortInitiator::Style>& styles, const std::vector<Port>& of_ports) {
    digits_image();  // compiled once, before the children
    std::string expected;
    for (const PortInitiator::Style& style : styles) {
        for (const Port& port : of_ports) {
            if (!style.at && !port.overrides.empty()) continue;
            INFO(style.name << ", port " << port.name);
            const TemporaryFile file;
            in_child([&] { run(style, port, file.path()); });
            CHECK(file.contents().size() == 128 * 10 * sizeof(float));
            if (expected.empty()) expected = file.contents();
            CHECK((file.contents() == expected));
        }
    }
}

}  // namespace

TEST_CASE("every kind of initiator leaves the same results in memory and breaks no rule", "[accelerator][protocol]") {
    std::vector<PortInitiator::Style> styles = port_styles();
    const auto with_quantum = [](const PortInitiator::Style& style) {
        return !style.at && !style.dmi && style.quantum != sc_core::SC_ZERO_TIME;
    };
    styles.erase(std::remove_if(styles.begin(), styles.end(), with_quantum), styles.end());
    check_same_results(styles, {ports().front()});
    const auto at = std::find_if(styles.begin(), styles.end(), [](const auto& style) { return style.at; });
    REQUIRE(at != styles.end());
    check_same_results({*at}, ports());
}

TEST_CASE("every initiator leaves the same results in memory and breaks no rule", "[.ci-long][accelerator][protocol]") {
    check_same_results(port_styles(), ports());
}
