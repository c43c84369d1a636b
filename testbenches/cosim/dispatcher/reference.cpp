// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/dispatcher/reference.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/partition.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::testing {

using rtl::DispatcherStatus;

namespace {

constexpr std::array<Dim, 4> kAxes{Dim::n, Dim::k, Dim::p, Dim::q};

/// Output box of the command's rank; q from 0 on.
Box box_of(const PinCommand& command, const Kernel& kernel) {
    OperatorShape shape;
    shape.out_channels = kernel.size(Dim::k);
    shape.out_rows = kernel.size(Dim::p);
    Partition partition;
    partition.dyn_dim = kernel.dyn_dim() / kernel.loop(Level::unit, Dim::n).block;
    partition.n = kernel.loop(Level::tile, Dim::n).block;
    partition.p = kernel.loop(Level::tile, Dim::p).block;
    return output_box(shape, partition, kernel.loop(Level::tile, Dim::k).block, command.rank, command.dyn_dim);
}

}  // namespace

PinOutcome Reference::expect(const PinCommand& command, const std::vector<KernelBytes>& store) {
    PinOutcome outcome = command.configure ? expect_configure(command, store) : expect_dispatch(command, store);
    coverage_.hit("status " + std::to_string(static_cast<unsigned>(outcome.status)));
    return outcome;
}

PinOutcome Reference::expect_dispatch(const PinCommand& command, const std::vector<KernelBytes>& store) {
    PinOutcome outcome;
    outcome.kernels = static_cast<std::uint32_t>(directory_.size());
    const std::size_t first = command.first, count = command.count;
    outcome.cycles = 1;
    if (first + count > directory_.size()) {
        outcome.status = DispatcherStatus::out_of_range;
        return outcome;
    }
    outcome.largest = directory_.largest(first, count);
    if (!directory_.sorted(first, count)) {
        outcome.status = DispatcherStatus::unsorted;
        return outcome;
    }
    outcome.search_cycles = hw::search_steps(count);
    outcome.cycles += outcome.search_cycles;
    const std::uint32_t selecting = command.invocation > 0 ? command.invocation : command.dyn_dim;
    const std::size_t fit = directory_.best_fit(first, count, selecting);
    coverage_.hit(command.invocation > 0 ? "selected by invocation" : "selected by dyn_dim");
    coverage_.hit_if(count == 0, "search no kernels");
    coverage_.hit_if(selecting > 0xFFFF, "search beyond 16 bits");
    if (fit == first + count) {
        outcome.status = DispatcherStatus::none_found;
        coverage_.hit_if(count > 0, "search none");
        return outcome;
    }
    coverage_.hit_if(count > 1 && fit == first, "search hit first");
    coverage_.hit_if(count > 1 && fit == first + count - 1, "search hit last");
    coverage_.hit_if(fit > first && fit < first + count - 1, "search hit middle");
    coverage_.hit_if(count == 1, "search hit only");
    coverage_.hit(directory_[fit].kernel.dyn_dim() == selecting ? "search exact" : "search larger");
    outcome.index = static_cast<std::uint32_t>(fit);
    if (command.dyn_dim == 0) {
        coverage_.hit("search dyn_dim 0");
        coverage_.hit("send without blocks");
    } else {
        outcome.fetched = {outcome.index};
        outcome.cycles += 2;
        if (command.continued) {
            coverage_.hit("profiler continued");
        } else {
            coverage_.hit(++invocations_[fit] == 1 ? "profiler first" : "profiler again");
        }
        expect_kernel(command, fit < store.size() ? store[fit] : KernelBytes{}, outcome);
    }
    outcome.invocations = invocations_[fit];
    if (outcome.status == DispatcherStatus::ok) {
        ++outcome.cycles;
        outcome.sent = command.multicast ? rtl::kOpMulticast : rtl::kOpUnicast;
        outcome.sent_address = command.output_offset;
        coverage_.hit(command.multicast ? "send multicast" : "send unicast");
        if (command.refuse_instruction == static_cast<int>(outcome.blocks.size()))
            outcome.status = DispatcherStatus::send_refused;
    }
    return outcome;
}

PinOutcome Reference::expect_configure(const PinCommand& command, const std::vector<KernelBytes>& store) {
    PinOutcome outcome;
    outcome.cycles = 1;
    directory_.clear();
    invocations_.clear();
    for (std::uint32_t index = 0; index < command.count && outcome.status == DispatcherStatus::ok; ++index) {
        outcome.fetched.push_back(index);
        outcome.cycles += 2;
        outcome.index = index;
        if (static_cast<int>(index) == command.fail_fetch) {
            outcome.status = DispatcherStatus::fetch_failed;
            break;
        }
        try {
            directory_.append(index < store.size() ? store[index] : KernelBytes{});
        } catch (const InputError&) {
            outcome.status = DispatcherStatus::bad_kernel;
            break;
        }
        if (index + 1 == room_ && index + 1 < command.count) outcome.status = DispatcherStatus::full;
    }
    if (outcome.status != DispatcherStatus::ok) directory_.clear();
    invocations_.assign(directory_.size(), 0);
    outcome.kernels = static_cast<std::uint32_t>(directory_.size());
    return outcome;
}

void Reference::expect_kernel(const PinCommand& command, const KernelBytes& bytes, PinOutcome& outcome) {
    Kernel kernel;
    try {
        kernel = decode_kernel(bytes.data());
    } catch (const InputError&) {
        outcome.status = DispatcherStatus::bad_kernel;
    }
    if (command.fail_fetch == 0) outcome.status = DispatcherStatus::fetch_failed;
    if (outcome.status != DispatcherStatus::ok) return;
    if (bytes != directory_[outcome.index].bytes) {
        outcome.status = DispatcherStatus::changed;
        return;
    }
    try {
        expect_blocks(command, kernel, outcome);
    } catch (const std::domain_error& error) {
        for (unsigned fault = 0; fault <= static_cast<unsigned>(hw::NestFault::too_long); ++fault) {
            if (std::string(error.what()) == text(static_cast<hw::NestFault>(fault)))
                outcome.status = static_cast<DispatcherStatus>(static_cast<unsigned>(DispatcherStatus::units) + fault);
        }
    }
}

void Reference::expect_blocks(const PinCommand& command, const Kernel& kernel, PinOutcome& outcome) {
    const hw::KernelNest nest(kernel, command.rank, command.dyn_dim);
    const Box box = box_of(command, kernel);
    const std::uint32_t stride_p = kernel.loop(Level::reg, Dim::p).stride,
                        stride_q = kernel.loop(Level::reg, Dim::q).stride;
    const std::array<std::uint32_t, 4> size{box.n1 - box.n0, box.k1 - box.k0, box.p1 - box.p0, kernel.size(Dim::q)};
    // Input rows of the window of output row p of the box; padding is not stored.
    const auto stored = [&](std::int64_t row) {
        return static_cast<std::uint64_t>(std::clamp<std::int64_t>(row - kernel.pad, 0, command.in_rows));
    };
    const auto row_at = [&](std::uint32_t p) { return stored(std::int64_t{box.p0 + p} * stride_p); };
    const auto row_end = [&](std::uint32_t p) {
        return stored(std::int64_t{box.p0 + p} * stride_p + kernel.size(Dim::r));
    };
    outcome.skipped = nest.walk([&](const hw::KernelNest::Visit& visit) {
        PinBlock block;
        block.ops = rtl::kOpLoad | rtl::kOpMac | rtl::kOpStore;
        block.vector_op = kernel.vector_op != 0;
        block.first = visit.first;
        block.last = visit.last;
        block.rows = visit.shape.rows;
        block.columns = visit.shape.columns;
        block.row_outputs = visit.shape.row_outputs;
        block.column_outputs = visit.shape.column_outputs;
        block.reduction = nest.reduction();
        block.position = visit.position;
        block.box = {box.n0, box.k0, box.p0, 0};
        for (unsigned axis = 0; axis < 4; ++axis) {
            const std::uint64_t full =
                std::uint64_t{kernel.loop(Level::reg, kAxes[axis]).block} * kernel.loop(Level::pe, kAxes[axis]).block;
            block.extent[axis] =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(full, size[axis] - visit.position[axis]));
            const std::string dim(1, "nkpq"[axis]);
            coverage_.hit_if(block.extent[axis] < full && visit.position[axis] > 0,
                             "nest " + dim + " ends with a part");
        }
        const auto [n, k, p, q] = visit.position;
        // The layouts of address_generator.sv.
        const std::uint64_t row = row_at(p) - row_at(0);
        const std::uint64_t rows = row_end(size[2] - 1) - row_at(0);
        const std::uint64_t column = std::max<std::int64_t>(0, std::int64_t{q} * stride_q - kernel.pad);
        const std::uint64_t channels = command.channelwise ? size[1] : command.in_channels;
        const std::uint64_t input =
            ((n * channels + (command.channelwise ? k : 0)) * rows + row) * command.in_columns + column;
        const std::uint64_t output = ((std::uint64_t{n} * size[1] + k) * size[2] + p) * size[3] + q;
        block.input_address = static_cast<std::uint32_t>(command.input_offset + 2 * input);
        block.weight_address =
            static_cast<std::uint32_t>(command.weight_offset + 2 * std::uint64_t{k} * nest.reduction());
        block.output_address = static_cast<std::uint32_t>(command.output_offset + 2 * output);
        coverage_.hit(block.vector_op ? "block vector" : "block multiply-accumulate");
        coverage_.hit(block.first  ? block.last ? "block first and last" : "block first"
                      : block.last ? "block last"
                                   : "block neither");
        if (outcome.status == DispatcherStatus::ok) outcome.blocks.push_back(block);
        if (static_cast<int>(outcome.blocks.size()) - 1 == command.refuse_instruction &&
            outcome.status == DispatcherStatus::ok) {
            outcome.status = DispatcherStatus::refused;
            coverage_.hit(block.last ? "refused last block" : "refused with blocks behind it");
        }
    });
    outcome.issued = outcome.blocks.size();
    outcome.cycles += outcome.issued;
    if (outcome.status == DispatcherStatus::refused) outcome.skipped = 0;
    if (outcome.status == DispatcherStatus::ok) {
        coverage_.hit_if(outcome.blocks.empty(), "send rank without work");
        if (!outcome.blocks.empty()) {
            cover_loops(kernel);
            for (unsigned axis = 0; axis < 4; ++axis) {
                const std::uint64_t full = std::uint64_t{kernel.loop(Level::reg, kAxes[axis]).block} *
                                           kernel.loop(Level::pe, kAxes[axis]).block;
                coverage_.hit_if((size[axis] + full - 1) / full < kernel.loop(Level::spm, kAxes[axis]).block,
                                 std::string("nest ") + "nkpq"[axis] + " cut short");
            }
        }
    }
}

void Reference::cover_loops(const Kernel& kernel) {
    static constexpr const char* kLevelNames[] = {"reg", "pe", "spm", "tile", "unit"};
    for (unsigned level = 0; level < kLevels; ++level) {
        for (unsigned dim = 0; dim < kDims; ++dim)
            coverage_.hit(std::string("loop ") + kLevelNames[level] + "." + "nkcpqrs"[dim] +
                          (kernel.loops[level][dim].block > 1 ? " taken" : " skipped"));
    }
    std::array<unsigned, 4> place{0, 1, 2, 3};
    std::stable_sort(place.begin(), place.end(), [&](unsigned a, unsigned b) {
        return kernel.loop(Level::spm, kAxes[a]).order > kernel.loop(Level::spm, kAxes[b]).order;
    });
    coverage_.hit(std::string("nest ") + "nkpq"[place.front()] + " outermost");
    coverage_.hit(std::string("nest ") + "nkpq"[place.back()] + " innermost");
}

std::string difference(const PinOutcome& expected, const PinOutcome& seen) {
    const std::string wanted = expected.text(), got = seen.text();
    return wanted == got ? "" : "expected " + wanted + "\ngot " + got;
}

}  // namespace switchyard::testing
