// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/dummy_buffer.h"
#include "switchyard/tlm/memory_manager.h"

using namespace switchyard;
using switchyard::testing::ExpectReport;

namespace {

struct CountedExtension : ::tlm::tlm_extension<CountedExtension> {
    explicit CountedExtension(int& alive_now) : alive(alive_now) { ++alive; }
    CountedExtension(const CountedExtension& other) : tlm_extension(other), alive(other.alive) { ++alive; }
    ~CountedExtension() override { --alive; }
    ::tlm::tlm_extension_base* clone() const override { return new CountedExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base&) override {}

    int& alive;
};

}  // namespace

SIM_TEST("a payload comes out of the pool with default attributes and one reference", "[tlm][memory_manager]") {
    PayloadPool pool("pool");
    for (int use = 0; use < 2; ++use) {
        ::tlm::tlm_generic_payload& payload = pool.allocate();
        CHECK(payload.get_ref_count() == 1);
        CHECK(payload.has_mm());
        CHECK(payload.get_command() == ::tlm::TLM_IGNORE_COMMAND);
        CHECK(payload.get_address() == 0);
        CHECK(payload.get_data_ptr() == nullptr);
        CHECK(payload.get_data_length() == 0);
        CHECK(payload.get_byte_enable_ptr() == nullptr);
        CHECK(payload.get_byte_enable_length() == 0);
        CHECK(payload.get_streaming_width() == 0);
        CHECK_FALSE(payload.is_dmi_allowed());
        CHECK(payload.get_response_status() == ::tlm::TLM_INCOMPLETE_RESPONSE);
        CHECK(payload.get_gp_option() == ::tlm::TLM_MIN_PAYLOAD);
        unsigned char byte = 0;
        payload.set_write();
        payload.set_address(0x40);
        payload.set_data_ptr(&byte);
        payload.set_data_length(1);
        payload.set_byte_enable_ptr(&byte);
        payload.set_byte_enable_length(1);
        payload.set_streaming_width(1);
        payload.set_dmi_allowed(true);
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
        payload.set_gp_option(::tlm::TLM_FULL_PAYLOAD);
        payload.release();
    }
    CHECK(pool.capacity() == 1);
    CHECK(pool.in_use() == 0);
}

SIM_TEST("a payload is used again, the one that came back last first", "[tlm][memory_manager]") {
    PayloadPool pool("pool");
    ::tlm::tlm_generic_payload& first = pool.allocate();
    ::tlm::tlm_generic_payload& second = pool.allocate();
    CHECK(&first != &second);
    CHECK(pool.in_use() == 2);
    first.acquire();
    first.release();
    CHECK(pool.in_use() == 2);
    first.release();
    CHECK(pool.in_use() == 1);
    CHECK(&pool.allocate() == &first);
    first.release();
    second.release();
    CHECK(pool.capacity() == 2);
}

SIM_TEST("automatic extensions go with the last reference, others stay", "[tlm][memory_manager]") {
    PayloadPool pool("pool");
    int alive = 0;
    {
        PooledPayload payload(pool);
        payload->set_auto_extension(new CountedExtension(alive));
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
    PooledPayload again(pool);
    CHECK(again->get_extension<CountedExtension>() == nullptr);
}

SIM_TEST("a routed payload keeps its extension, reset, with the room it had", "[tlm][memory_manager]") {
    RoutedPayloadPool pool("pool");
    RoutedExtension* extension = nullptr;
    const std::uint8_t* bytes = nullptr;
    std::weak_ptr<const SampleIndexList> index_list;
    {
        PooledPayload payload(pool);
        extension = &payload.routed();
        extension->kind = PacketKind::probe;
        extension->destinations = {1, 2, 3};
        extension->reply_to = {4};
        extension->values.resize(1000);
        extension->has_values = true;
        extension->tag = 7;
        auto shared = std::make_shared<const SampleIndexList>();
        index_list = shared;
        extension->index_list = std::move(shared);
        bytes = extension->values.data();
        CHECK_FALSE(index_list.expired());
    }
    CHECK(index_list.expired());
    PooledPayload payload(pool);
    REQUIRE(&payload.routed() == extension);
    CHECK(extension->kind == PacketKind::data);
    CHECK(extension->destinations.empty());
    CHECK(extension->destinations.capacity() >= 3);
    CHECK(extension->reply_to.empty());
    CHECK(extension->tag == 0);
    CHECK_FALSE(extension->has_values);
    CHECK(extension->values.empty());
    extension->values.resize(1000);
    CHECK(extension->values.data() == bytes);
    CHECK(pool.capacity() == 1);
}

TEST_CASE("no field of a routed extension survives a reset", "[tlm][memory_manager]") {
    // Changed? Then reset() and this test have a field to learn.
    struct AllFields {
        ::tlm::tlm_extension<RoutedExtension>* base;
        PacketKind kind;
        Endpoint source;
        std::vector<Endpoint> destinations;
        std::uint32_t batch;
        std::uint16_t segment, operator_id, edge, unit;
        std::uint32_t dyn_dim, first_sample, last_sample;
        std::uint64_t payload_bytes, requested_bytes;
        std::vector<Endpoint> reply_to;
        std::uint32_t tag;
        bool wants_receipt;
        std::uint16_t receipt_tag;
        bool receipt_follows, has_values;
        std::shared_ptr<int> index_list, masks, labels, mask_samples;
        std::vector<std::uint8_t> values;
        std::shared_ptr<int> part;
        std::uint64_t first_byte;
        std::shared_ptr<int> runs;
    };
    STATIC_REQUIRE(sizeof(AllFields) == sizeof(RoutedExtension));

    RoutedExtension used;
    used.kind = PacketKind::write_done;
    used.source = 1;
    used.destinations = {1};
    used.batch = 1;
    used.segment = used.operator_id = used.edge = used.unit = 1;
    used.dyn_dim = used.first_sample = used.last_sample = 1;
    used.payload_bytes = used.requested_bytes = 1;
    used.reply_to = {1};
    used.tag = 1;
    used.wants_receipt = used.receipt_follows = true;
    used.receipt_tag = 1;
    used.has_values = true;
    used.index_list = std::make_shared<const SampleIndexList>();
    used.masks = std::make_shared<const std::vector<std::uint64_t>>();
    used.labels = std::make_shared<const std::vector<SampleLabel>>();
    used.mask_samples = std::make_shared<const SampleSet>();
    used.values = {1};
    used.part = std::make_shared<const TensorPart>();
    used.first_byte = 1;
    used.runs = std::make_shared<const std::vector<MemoryRun>>();
    used.reset();
    CHECK(used.kind == PacketKind::data);
    CHECK(used.source == 0);
    CHECK(used.destinations.empty());
    CHECK(used.batch == 0);
    CHECK(used.segment + used.operator_id + used.edge + used.unit == 0);
    CHECK(used.dyn_dim + used.first_sample + used.last_sample == 0);
    CHECK(used.payload_bytes + used.requested_bytes == 0);
    CHECK(used.reply_to.empty());
    CHECK(used.tag == 0);
    CHECK_FALSE(used.wants_receipt);
    CHECK_FALSE(used.receipt_follows);
    CHECK(used.receipt_tag == 0);
    CHECK_FALSE(used.has_values);
    CHECK_FALSE(used.index_list);
    CHECK_FALSE(used.masks);
    CHECK_FALSE(used.labels);
    CHECK_FALSE(used.mask_samples);
    CHECK(used.values.empty());
    CHECK_FALSE(used.part);
    CHECK(used.first_byte == 0);
    CHECK_FALSE(used.runs);
}

SIM_TEST("a handle moves its reference", "[tlm][memory_manager]") {
    PayloadPool pool("pool");
    {
        PooledPayload first(pool);
        PooledPayload second(std::move(first));
        CHECK(second->get_ref_count() == 1);
        PooledPayload third(pool);
        third = std::move(second);
        CHECK(pool.in_use() == 2);
    }
    CHECK(pool.in_use() == 0);
}

SIM_TEST("a payload that is never released is reported when its pool goes", "[tlm][memory_manager]") {
    ExpectReport leak("switchyard/payload_leak");
    auto pool = std::make_unique<RoutedPayloadPool>("chip.tile_3");
    ::tlm::tlm_generic_payload& payload = pool->allocate();
    pool.reset();
    REQUIRE(leak.messages().size() == 1);
    CHECK(leak.messages().front() == "chip.tile_3: 1 payloads were never released");
    payload.release();  // still safe, and the store goes with it
}

SIM_TEST("payloads of a simulation that was cut short are no leak", "[tlm][memory_manager]") {
    auto pool = std::make_unique<PayloadPool>("pool");
    ::tlm::tlm_generic_payload& payload = pool->allocate();
    sc_core::sc_event later("later");
    later.notify(10, sc_core::SC_NS);
    sc_core::sc_start(5, sc_core::SC_NS);
    pool.reset();
    payload.release();
    SUCCEED("no report");
}

SIM_TEST("a handle shares a payload that it did not allocate", "[tlm][memory_manager]") {
    PayloadPool pool("pool");
    ::tlm::tlm_generic_payload& payload = pool.allocate();
    PooledPayload held;
    {
        const PooledPayload shared = PooledPayload::share(payload);
        CHECK(payload.get_ref_count() == 2);
        held = PooledPayload::share(*shared);
    }
    CHECK(payload.get_ref_count() == 2);
    payload.release();
    CHECK(pool.in_use() == 1);
    held = PooledPayload();
    CHECK(pool.in_use() == 0);
}

TEST_CASE("the dummy data buffer is as long as any payload, and stays where it was given out",
          "[tlm][memory_manager]") {
    unsigned char* const small = dummy_buffer(1);
    CHECK(dummy_buffer(4096) == small);
    unsigned char* const buffer = dummy_buffer(std::size_t{4} << 30);
    buffer[(std::size_t{4} << 30) - 1] = 1;
    CHECK(dummy_buffer(1) == buffer);
    small[0] = 1;
    CHECK_THROWS_AS(dummy_buffer((std::size_t{4} << 30) + 1), std::length_error);
}
