// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <vector>

#include "switchyard/platform/driver/switchyard_driver.h"
#include "switchyard/platform/driver/switchyard_package.h"
#include "switchyard/platform/driver/switchyard_registers.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

const std::string kFolder = "configs/workloads/digits/skipnet";
constexpr std::uint64_t kAddress = 0x80100000;

std::string pack_arguments(const std::string& address = "0x80100000") {
    return "pack " + digits_image() + " --weights " + kFolder + "/weights --inputs " + kFolder +
           "/input_batch0.npy --address " + address + " -o " + scratch("pack.syp") + " ";
}

/// A package as firmware sees it.
struct Package {
    std::string bytes;
    switchyard_package head{};

    explicit Package(const std::string& path) : bytes(read_text(path)) {
        std::memcpy(&head, bytes.data(), sizeof head);
    }

    template <class T>
    std::vector<T> table(std::uint32_t offset, std::size_t count) const {
        REQUIRE(offset % 16 == 0);
        REQUIRE(offset + count * sizeof(T) <= bytes.size());
        std::vector<T> result(count);
        std::memcpy(result.data(), &bytes[offset], count * sizeof(T));
        return result;
    }
    /// Bytes that a list moves; each transfer goes `direction` and stays inside the package.
    std::uint64_t moved(const switchyard_package_list& list, std::uint32_t direction) const {
        struct Descriptor {
            std::uint64_t host, chip;
            std::uint32_t bytes, flags;
            std::uint64_t reserved;
        };
        std::uint64_t sum = 0;
        for (const Descriptor& transfer : table<Descriptor>(list.offset, list.count)) {
            REQUIRE(transfer.flags == direction);
            REQUIRE(transfer.reserved == 0);
            REQUIRE(transfer.host >= kAddress + sizeof(switchyard_package));
            REQUIRE(transfer.host + transfer.bytes <= kAddress + bytes.size());
            sum += transfer.bytes;
        }
        return sum;
    }
};

}  // namespace

TEST_CASE("a package for firmware holds the image, lists of all tensors, and room for outputs", "[pack]") {
    const Outcome outcome =
        sy_sched(pack_arguments() + "--batches 3 --expect " + kFolder + "/logits_batch0.npy --trace " + kDigitsTrace);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const Package package(scratch("pack.syp"));
    const switchyard_package& head = package.head;
    CHECK(head.magic == SWITCHYARD_PACKAGE_MAGIC);
    CHECK(head.version == SWITCHYARD_PACKAGE_VERSION);
    CHECK(head.address == kAddress);
    CHECK(head.bytes == package.bytes.size());
    CHECK(head.batches == 3);
    CHECK(package.bytes.substr(head.image, head.image_bytes) == read_text(digits_image()));

    const Image image = read_image(digits_image());
    CHECK(head.tiles == image.tiles.size());
    CHECK(head.batch_samples == image.meta.batch_samples);
    CHECK(head.gates == image.meta.switches.size());
    std::map<std::string, std::uint64_t> bytes;
    for (const ImageMeta::Tensor& tensor : image.meta.tensors)
        for (const std::uint64_t piece : tensor.piece_bytes) bytes[tensor.kind] += piece;
    const std::uint64_t masks = std::uint64_t{head.gates} * head.batch_samples * 8;
    CHECK(package.moved(head.weights, SWITCHYARD_DMA_CONTROL_TO_CHIP) == bytes["weights"]);
    for (const auto& batch : package.table<switchyard_package_batch>(head.batch, head.batches)) {
        CHECK(package.moved(batch.to_chip, SWITCHYARD_DMA_CONTROL_TO_CHIP) == bytes["input"] + masks);
        CHECK(package.moved(batch.from_chip, SWITCHYARD_DMA_CONTROL_FROM_CHIP) == bytes["output"] + masks);
    }
    std::vector<std::uint32_t> samples(head.batches, 0);
    for (const auto& output : package.table<switchyard_package_output>(head.output, head.outputs)) {
        samples.at(output.batch) += output.samples;
        CHECK(output.channels == 10);
        CHECK(output.rows * output.columns == 1);
    }
    CHECK(samples == std::vector<std::uint32_t>(head.batches, head.batch_samples));
    // The inputs' file has one batch, so all three are the same.
    const auto labels = package.table<std::uint16_t>(head.expected_labels, std::size_t{3} * head.batch_samples);
    CHECK(std::vector<std::uint16_t>(labels.begin(), labels.begin() + head.batch_samples) ==
          std::vector<std::uint16_t>(labels.end() - head.batch_samples, labels.end()));
    package.table<std::uint64_t>(head.expected_masks, std::size_t{3} * head.gates * head.batch_samples);

    const std::string before = package.bytes;
    REQUIRE(
        sy_sched(pack_arguments() + "--batches 3 --expect " + kFolder + "/logits_batch0.npy --trace " + kDigitsTrace)
            .status == 0);
    CHECK(read_text(scratch("pack.syp")) == before);
    REQUIRE(sy_sched(pack_arguments()).status == 0);
    CHECK(Package(scratch("pack.syp")).head.batches == 1);
    CHECK(Package(scratch("pack.syp")).head.expected_labels == 0);
}

TEST_CASE("what cannot be packed is refused", "[pack]") {
    check_refused(sy_sched(pack_arguments("0x80100008")), {"--address", "expected a multiple of 16, found 0x80100008"});
    check_refused(sy_sched(pack_arguments("here")), {"--address"});
    check_refused(sy_sched(pack_arguments() + "--batches 0"), {"--batches"});
    check_refused(sy_sched(pack_arguments() + "--expect " + kFolder + "/input_batch0.npy"), {"--expect", "shape"});
    check_refused(sy_sched(pack_arguments() + "--expect " + kFolder + "/missing.npy"), {"missing.npy"});
    check_refused(sy_sched("pack " + std::string(kDigits) + " --weights . --inputs . --address 0 -o x"), {kDigits});
}
