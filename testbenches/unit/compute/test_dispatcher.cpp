// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/compute/dispatcher_implementations.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Runs `body` on a bench with each implementation, in a process of its own.
void with_each(const std::function<void(ComputeBench&)>& body) {
    for (const std::string& impl : dispatcher_implementations())
        in_child([&] {
            ComputeBench bench("bench", with_dispatcher({}, impl));
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            INFO("implementation " << impl);
            body(bench);
        });
}

DispatchExtension request(unsigned dyn_dim, unsigned kernels, unsigned first = 0) {
    DispatchExtension dispatch;
    dispatch.kernel_first = static_cast<std::uint16_t>(first);
    dispatch.kernel_count = static_cast<std::uint16_t>(kernels);
    dispatch.dyn_dim = dyn_dim;
    dispatch.input_offset = dispatch.weight_offset = dispatch.output_offset = 0x8000;
    return dispatch;
}

/// Kernels for 4, 16 and 128 samples of a layer of 32 outputs and 64 inputs.
std::vector<Kernel> three_kernels() {
    return {gemm_kernel(4, 32, 64, 4, 32), gemm_kernel(16, 32, 64, 16, 32), gemm_kernel(128, 32, 64, 32, 32)};
}

constexpr std::uint64_t kFetchCycles = 2;  // 128 bytes at 128 a cycle, and the latency

}  // namespace

TEST_CASE("dispatcher selects the smallest dyn_dim that is no less than the real one", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        REQUIRE(bench.load(three_kernels()).status == ::tlm::TLM_OK_RESPONSE);
        struct Selection {
            unsigned dyn_dim;
            int kernel;
        };
        for (const Selection selection : {Selection{1, 0}, Selection{4, 0}, Selection{5, 1}, Selection{16, 1},
                                          Selection{17, 2}, Selection{128, 2}}) {
            DispatchExtension dispatch = request(selection.dyn_dim, 3);
            CHECK(bench.dispatch(dispatch).status == ::tlm::TLM_OK_RESPONSE);
            CHECK(dispatch.kernel == selection.kernel);
            CHECK(dispatch.macs == selection.dyn_dim * 32ull * 64);
            sc_core::sc_start(10, sc_core::SC_US);
        }
        DispatchExtension second_range = request(3, 2, 1);  // another operator's kernels
        CHECK(bench.dispatch(second_range).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(second_range.kernel == 1);
        CHECK(bench.dispatcher.stats().kernels_selected == std::vector<std::uint64_t>{2, 3, 2});
        CHECK(bench.dispatcher.stats().dispatches == 7);
        CHECK(bench.registry.errors().empty());
    });
}

TEST_CASE("dispatcher: an invocation for a batch selects by the batch's samples and walks one unit after another",
          "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        // For 4 and 16 samples, and for whole units of 16: 32 and 64 samples.
        std::vector<Kernel> kernels = {gemm_kernel(4, 32, 64, 4, 32), gemm_kernel(16, 32, 64, 16, 32)};
        for (const std::uint16_t units : {2, 4}) {
            kernels.push_back(kernels[1]);
            kernels.back().loop(Level::unit, Dim::n).block = units;
            kernels.back().total[static_cast<unsigned>(Dim::n)] = static_cast<std::uint16_t>(16 * units);
        }
        REQUIRE(bench.load(kernels).status == ::tlm::TLM_OK_RESPONSE);
        // 40 samples of a batch come as units of 0, 16, 9 and 15.
        std::uint64_t macs = 0;
        int selected = -1;
        bool counted = false;
        for (const unsigned samples : {0u, 16u, 9u, 15u}) {
            DispatchExtension dispatch = request(samples, 4);
            dispatch.invocation_samples = 40;
            dispatch.continued = counted;
            if (selected >= 0) {
                dispatch.kernel_first = static_cast<std::uint16_t>(selected);
                dispatch.kernel_count = 1;
            }
            const std::uint64_t searched = bench.dispatcher.stats().search_cycles;
            CHECK(bench.dispatch(dispatch).status == ::tlm::TLM_OK_RESPONSE);
            CHECK(bench.dispatcher.stats().search_cycles - searched == (selected < 0 ? 3 : 1));
            CHECK(dispatch.kernel == 3);
            CHECK(dispatch.macs == samples * 32ull * 64);
            selected = dispatch.kernel;
            counted |= samples > 0;
            macs += dispatch.macs;
            sc_core::sc_start(10, sc_core::SC_US);
        }
        CHECK(macs == 40 * 32ull * 64);
        CHECK(bench.dispatcher.stats().kernels_selected == std::vector<std::uint64_t>{0, 0, 0, 1});
        CHECK(bench.sent.size() == 4);

        // Few samples of a batch: the kernel for as few, in whichever unit they come.
        DispatchExtension few = request(1, 4);
        few.invocation_samples = 3;
        CHECK(bench.dispatch(few).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(few.kernel == 0);

        DispatchExtension many = request(16, 4);
        many.invocation_samples = 65;
        CHECK(bench.dispatch(many).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(), ContainsSubstring("that of its largest kernel, found 65"));
    });
}

TEST_CASE("dispatcher: cycles are search, fetch and blocks; kernel fitting skips the rest", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        bench.load(three_kernels());
        sc_core::sc_start(1, sc_core::SC_US);
        DispatchExtension dispatch = request(40, 3);  // of 128: one block of 32 samples and one of 8, two skipped
        dispatch.operator_index = 3;
        dispatch.unit = 5;
        dispatch.batch = 7;
        const auto reply = bench.dispatch(dispatch);
        CHECK(reply.status == ::tlm::TLM_OK_RESPONSE);
        CHECK(dispatch.blocks_issued == 2);
        CHECK(dispatch.blocks_skipped == 2);
        const std::uint64_t search = 3, latency = 1, last_drain = 7 + 8 + 31;  // of 8 rows
        CHECK(dispatch.cycles == search + kFetchCycles + latency + 2 * 64 + last_drain);
        CHECK(reply.cycles == dispatch.cycles);
        CHECK(bench.dispatcher.stats().search_cycles == search);
        CHECK(bench.dispatcher.stats().blocks_issued == 2);
        CHECK(bench.dispatcher.stats().blocks_skipped == 2);

        REQUIRE(bench.sent.size() == 1);
        CHECK(bench.sent[0].cycle == dispatch.cycles);
        CHECK(bench.sent[0].what.operator_index == 3);
        CHECK(bench.sent[0].what.unit == 5);
        CHECK(bench.sent[0].what.batch == 7);
        CHECK(bench.sent[0].what.dyn_dim == 40);
        CHECK(bench.sent[0].what.output_offset == 0x8000);
    });
}

TEST_CASE("dispatcher: nothing to do costs a search and is still sent", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        std::vector<Kernel> kernels = three_kernels();
        kernels[2].loop(Level::tile, Dim::n).block = 4;  // 32 samples a rank
        bench.load(kernels);
        sc_core::sc_start(1, sc_core::SC_US);
        const auto index_list = std::make_shared<const SampleIndexList>();
        DispatchExtension no_samples = request(0, 3);
        no_samples.index_list = index_list;
        bench.dispatch(no_samples);
        CHECK(no_samples.kernel == 0);
        CHECK(no_samples.cycles == 3);
        CHECK(bench.dispatcher.stats().kernels_selected == std::vector<std::uint64_t>{0, 0, 0});

        DispatchExtension not_mine = request(30, 3);  // rank 0 has them all
        not_mine.rank = 1;
        bench.dispatch(not_mine);
        CHECK(not_mine.kernel == 2);
        CHECK(not_mine.cycles == 3 + kFetchCycles);
        CHECK(not_mine.blocks_issued == 0);
        CHECK(not_mine.blocks_skipped == 4);
        CHECK(not_mine.macs == 0);
        CHECK(bench.pe_array.stats().commands == 0);
        REQUIRE(bench.sent.size() == 2);
        CHECK(bench.sent[0].what.index_list == index_list);
        CHECK(bench.sent[1].what.dyn_dim == 30);
    });
}

TEST_CASE("dispatcher: a dyn_dim beyond every kernel is an error, not a clamp", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        bench.load(three_kernels());
        DispatchExtension dispatch = request(129, 3), none = request(1, 0), beyond = request(1, 3, 1);
        dispatch.operator_index = 9;
        CHECK(bench.dispatch(dispatch).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK(dispatch.kernel == -1);
        CHECK(dispatch.macs == 0);
        CHECK(bench.dispatch(none).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK(bench.dispatch(beyond).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK(bench.dispatcher.stats().none_found == 2);
        CHECK(bench.sent.empty());
        REQUIRE(bench.registry.errors().size() == 3);
        CHECK_THAT(
            bench.registry.errors()[0],
            ContainsSubstring("bench.dispatcher: operator 9: expected a dyn_dim of at most 128, that of its largest "
                              "kernel, found 129"));
    });
}

TEST_CASE("dispatcher: configure builds the directory and names a bad kernel", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        const auto loaded = bench.load(three_kernels());
        CHECK(loaded.status == ::tlm::TLM_OK_RESPONSE);
        CHECK(loaded.cycles == 3 * kFetchCycles);
        std::uint32_t count = 0;
        bench.access(bench.configure_socket(), ::tlm::TLM_READ_COMMAND, 0, &count, sizeof count);
        CHECK(count == 3);

        // One flipped bit in the store: noticed when the kernel is fetched, and when the directory is rebuilt.
        std::uint8_t byte = 0;
        bench.access(bench.controller, ::tlm::TLM_READ_COMMAND, 128 + 40, &byte, 1);
        byte ^= 0x10;
        bench.access(bench.controller, ::tlm::TLM_WRITE_COMMAND, 128 + 40, &byte, 1);
        DispatchExtension small = request(4, 3), flipped = request(5, 3);
        CHECK(bench.dispatch(small).status == ::tlm::TLM_OK_RESPONSE);
        const std::string of_flipped = "bench.dispatcher: kernel 1: kernel: expected bytes with the stored CRC-16 ";
        CHECK(bench.dispatch(flipped).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(), ContainsSubstring(of_flipped));
        CHECK(bench.configure(3).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(), ContainsSubstring(of_flipped));
        CHECK(bench.dispatch(small).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);  // nothing is configured now

        // Other kernels without a configure: valid, but not those of the directory.
        bench.load(three_kernels());
        KernelBytes other = encode(gemm_kernel(8, 32, 64, 8, 32));
        bench.access(bench.controller, ::tlm::TLM_WRITE_COMMAND, 128, other.data(), kKernelBytes);
        CHECK(bench.dispatch(flipped).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(), ContainsSubstring("found a changed one; configure again"));
        CHECK(bench.configure(3).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(bench.dispatch(flipped).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(flipped.macs == 5 * 32 * 64);
    });
}

TEST_CASE("dispatcher: ranges must be sorted", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        std::vector<Kernel> kernels = three_kernels(), again = three_kernels();
        kernels.insert(kernels.end(), again.begin(), again.end());  // two operators' kernels
        REQUIRE(bench.load(kernels).status == ::tlm::TLM_OK_RESPONSE);
        DispatchExtension one = request(4, 3), two = request(4, 3, 3), both = request(4, 4, 2);
        CHECK(bench.dispatch(one).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(bench.dispatch(two).status == ::tlm::TLM_OK_RESPONSE);
        CHECK(two.kernel == 3);
        CHECK(bench.dispatch(both).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(),
                   ContainsSubstring("expected kernels with rising dyn_dim, found kernels [2, 6)"));
    });
}

TEST_CASE("dispatcher: what a component refuses comes back, with the deepest cause first", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        Kernel short_kernel = gemm_kernel(8, 32, 64, 4, 32);
        short_kernel.loop(Level::spm, Dim::n).block = 1;
        bench.load({gemm_kernel(4, 40, 64, 4, 40), short_kernel, gemm_kernel(16, 8, 8, 16, 8)});
        DispatchExtension too_wide = request(4, 3), uncovered = request(8, 3), good = request(16, 3);
        CHECK(bench.dispatch(too_wide).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        REQUIRE(bench.registry.errors().size() == 2);
        CHECK_THAT(
            bench.registry.errors()[0],
            ContainsSubstring("bench.pe_array: expected a block of at most the array's 32 x 32 PEs, found 4 x 40"));
        CHECK_THAT(bench.registry.errors()[1],
                   ContainsSubstring("bench.dispatcher: kernel 0: expected blocks that the PE array takes"));
        CHECK(bench.dispatch(uncovered).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(),
                   ContainsSubstring("kernel 1: expected loops over all outputs of its operator"));
        CHECK(bench.dispatch(uncovered).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);  // nothing was remembered
        bench.refuse_sends = true;
        CHECK(bench.dispatch(good).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
        CHECK_THAT(bench.registry.errors().back(),
                   ContainsSubstring("expected the network interface to send it, found "));
    });
}

TEST_CASE("dispatcher: its configuration register takes 32 bits at address 0", "[dispatcher]") {
    with_each([](ComputeBench& bench) {
        std::array<std::uint8_t, 8> data{};
        auto& socket = bench.configure_socket();
        CHECK(bench.access(socket, ::tlm::TLM_WRITE_COMMAND, 4, data.data(), 4).status ==
              ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(bench.access(socket, ::tlm::TLM_WRITE_COMMAND, 0, data.data(), 8).status ==
              ::tlm::TLM_BURST_ERROR_RESPONSE);
        CHECK(bench.access(socket, ::tlm::TLM_IGNORE_COMMAND, 0, data.data(), 4).status ==
              ::tlm::TLM_COMMAND_ERROR_RESPONSE);
        bench.load(three_kernels());
        ::tlm::tlm_generic_payload debug;
        debug.set_read();
        debug.set_data_ptr(data.data());
        debug.set_data_length(4);
        CHECK(socket->transport_dbg(debug) == 4);
        CHECK(data[0] == 3);
        CHECK(bench.configure(1 << 20).status == ::tlm::TLM_GENERIC_ERROR_RESPONSE);  // beyond the scratchpad
    });
}

SIM_TEST("dispatcher: an implementation that does not exist", "[dispatcher]") {
    SimulationRegistry registry;
    hw::KernelDispatcher::Config config;
    config.impl = "rtl";
    CHECK_THROWS_AS(hw::make_kernel_dispatcher("dispatcher", config, registry), InputError);
}
