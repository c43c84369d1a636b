// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz_input.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/base/crc32.h"

using namespace switchyard;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
        value |= static_cast<std::uint64_t>(bytes[at + i]) << 8 * i;
    return value;
}

void put_crc(Bytes& bytes, std::size_t at, std::size_t begin, std::size_t size) {
    if (at + 4 > bytes.size() || begin > bytes.size() || size > bytes.size() - begin) return;
    const std::uint32_t crc = crc32_of(bytes.data() + begin, size);
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(crc >> 8 * i);
}

/// Checksums that fit what is there (docs/image_format.md), so that damage behind them is found by the fields' checks.
void repair_checksums(Bytes& bytes) {
    constexpr std::size_t kHeader = 64, kEntry = 32, kSections = 24, kTableCrc = 28, kHeaderCrc = 60;
    const std::uint64_t sections = std::min<std::uint64_t>(number_at(bytes, kSections, 4), 4096);
    for (std::uint64_t s = 0; s < sections; ++s) {
        const std::size_t entry = kHeader + s * kEntry;
        put_crc(bytes, entry + 24, number_at(bytes, entry + 8, 8), number_at(bytes, entry + 16, 8));
    }
    put_crc(bytes, kTableCrc, kHeader, sections * kEntry);
    put_crc(bytes, kHeaderCrc, 0, kHeaderCrc);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const platform::PlatformConfig kPlatform = platform::read_platform("configs/platforms/mini.yaml", {});
    const Bytes raw(data, data + size);
    fuzz::try_reading([&] { decode_image(raw, "image"); });
    Bytes repaired = raw;
    repair_checksums(repaired);
    fuzz::try_reading([&] {
        const Image image = platform::decode_image_for(kPlatform, repaired, "image");
        sched::explain(image);
        sched::describe_image(image);
    });
    return 0;
}
