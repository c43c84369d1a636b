// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/dispatcher/regression.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/testbenches/cosim/dispatcher/kernels.h"
#include "switchyard/testbenches/cosim/dispatcher/reference.h"
#include "switchyard/testbenches/unit/compute/random_kernel.h"

namespace switchyard::testing {

namespace {

class Regression {
public:
    Regression(std::unique_ptr<rtl::DispatcherModel> model, FunctionalCoverage& coverage, unsigned seed)
        : bench_(std::move(model), coverage, seed), reference_(coverage), random_(seed), seed_(seed) {}

    void run(bool brief) {
        phase("behind a reset");
        check({dispatch(0, 0, 1), dispatch(0, 1, 1)});
        // A little of everything first: most faults show at once.
        for (unsigned trial = 0; trial < 2; ++trial) random_kernels();
        for (unsigned trial = 0; trial < 4; ++trial) wide_kernels();
        if (brief) return;
        search();
        full_directory();
        bad_kernels();
        refusals();
        for (unsigned trial = 0; trial < 40; ++trial) random_kernels();
        for (unsigned trial = 0; trial < 200; ++trial) wide_kernels();
        padding();
    }
    rtl::DispatcherModel& model() { return bench_.model(); }

private:
    void phase(const std::string& name) {
        phase_ = name;
        const auto some = [this] { return random_() % 3 == 0 ? 0u : static_cast<unsigned>(random_() % 90); };
        bench_.stalls = {some(), some(), some(), some(), some()};
    }
    void no_stalls() { bench_.stalls = {}; }

    void store(const std::vector<Kernel>& kernels) {
        bench_.store.clear();
        for (const Kernel& kernel : kernels) bench_.store.push_back(encode(kernel));
    }
    PinCommand configure(std::size_t kernels) {
        PinCommand command;
        command.configure = true;
        command.count = static_cast<std::uint32_t>(kernels);
        return command;
    }
    PinCommand dispatch(std::size_t first, std::size_t count, std::uint32_t dyn_dim) {
        PinCommand command;
        command.first = static_cast<std::uint16_t>(first);
        command.count = static_cast<std::uint32_t>(count);
        command.dyn_dim = dyn_dim;
        command.multicast = random_() % 2 == 0;
        command.channelwise = random_() % 2 == 0;
        for (std::uint32_t* offset : {&command.input_offset, &command.weight_offset, &command.output_offset})
            *offset = static_cast<std::uint32_t>(random_());
        for (std::uint16_t* field : {&command.in_channels, &command.in_rows, &command.in_columns})
            *field = static_cast<std::uint16_t>(random_() >> random_() % 16);
        return command;
    }
    PinCommand dispatch_unit(std::size_t first, std::size_t count, std::uint32_t dyn_dim, std::uint32_t invocation) {
        PinCommand command = dispatch(first, count, dyn_dim);
        command.invocation = invocation;
        command.continued = random_() % 3 == 0;
        return command;
    }
    void check(const std::vector<PinCommand>& commands) {
        const std::vector<PinOutcome> seen = bench_.run(commands);
        const Stalls& stalls = bench_.stalls;
        const bool free = stalls.command + stalls.fetch + stalls.data + stalls.instruction + stalls.result == 0;
        for (std::size_t i = 0; i < commands.size(); ++i) {
            const PinOutcome expected = reference_.expect(commands[i], bench_.store);
            std::string wrong = difference(expected, seen[i]);
            if (wrong.empty() && free && seen[i].cycles != expected.cycles)
                wrong = fmt::format("{} cycles instead of {}: {}", seen[i].cycles, expected.cycles, seen[i].text());
            if (!wrong.empty())
                throw std::runtime_error(
                    fmt::format("SWITCHYARD_SEED={}, {}, command {}: {}", seed_, phase_, i, wrong));
        }
    }

    /// Every range of up to 9 kernels and every dyn_dim around them; unsorted and missing ranges.
    void search() {
        phase("search");
        std::vector<Kernel> kernels;
        for (unsigned i = 0; i < 9; ++i) kernels.push_back(smallest_kernel(3 + 2 * i));
        for (unsigned dyn_dim : {5u, 5u, 7u}) kernels.push_back(smallest_kernel(dyn_dim));
        store(kernels);
        no_stalls();
        std::vector<PinCommand> commands{configure(0), dispatch(0, 1, 1), configure(kernels.size())};
        for (unsigned first = 0; first < 9; ++first) {
            for (unsigned count = 0; first + count <= 9; ++count) {
                for (unsigned dyn_dim = 0; dyn_dim < 22; ++dyn_dim) commands.push_back(dispatch(first, count, dyn_dim));
            }
        }
        for (unsigned first = 0; first < kernels.size(); ++first) {
            for (unsigned count = 0; count < 7; ++count) commands.push_back(dispatch(first, count, 4));
        }
        // A rank without any part of the output.
        commands.push_back(dispatch(0, 9, 4));
        commands.back().rank = 1;
        // Selected by the samples of an invocation, of which this is a part.
        for (unsigned invocation = 1; invocation < 22; ++invocation) {
            for (unsigned dyn_dim = 0; dyn_dim <= std::min(invocation, 19u); ++dyn_dim)
                commands.push_back(dispatch_unit(0, 9, dyn_dim, invocation));
        }
        for (const std::uint32_t invocation : {0x10003u, 0x80000000u})
            commands.push_back(dispatch_unit(0, 9, 3, invocation));
        commands.push_back(dispatch(0, 9, 0x10003));
        commands.push_back(dispatch(0, 9, 0x80000000));
        commands.push_back(dispatch(0xFFFF, 0xFFFF, 3));
        commands.push_back(dispatch(13, 0, 3));
        check(commands);
        // A directory begins a run of its own, wherever the last one of the directory before began.
        store({smallest_kernel(9), smallest_kernel(12)});
        check({configure(2), dispatch(0, 2, 10)});
    }
    void full_directory() {
        phase("full directory");
        std::vector<Kernel> kernels;
        unsigned dyn_dim = 0;
        for (unsigned i = 0; i < rtl::kDispatcherKernels + 1; ++i)
            kernels.push_back(smallest_kernel(dyn_dim += 1 + random_() % 250));
        store(kernels);
        std::vector<PinCommand> commands{configure(kernels.size()), dispatch(0, 1, 1), configure(kernels.size() - 1)};
        for (const unsigned wanted : {1u, dyn_dim}) {
            commands.push_back(dispatch(0, 1, wanted));
            commands.push_back(dispatch(0, rtl::kDispatcherKernels, wanted));
        }
        for (unsigned i = 0; i < 400; ++i) {
            const std::size_t first = random_() % rtl::kDispatcherKernels;
            commands.push_back(dispatch(first, random_() % (rtl::kDispatcherKernels - first + 1),
                                        static_cast<std::uint32_t>(random_() % (dyn_dim + 10))));
        }
        check(commands);
    }
    void bad_kernels() {
        for (const KernelBytes& bad : malformed_kernels()) {
            phase("malformed kernel");
            store({smallest_kernel(4), smallest_kernel(8)});
            check({configure(2), dispatch(0, 2, 6)});
            const KernelBytes good = bench_.store[1];
            bench_.store[1] = bad;
            check({dispatch(0, 2, 6)});
            bench_.store[1] = good;
            check({dispatch(0, 2, 6)});
            bench_.store[1] = bad;
            check({configure(2), dispatch(0, 1, 1)});
        }
        for (const Kernel& bad : faulty_kernels()) {
            phase("faulty kernel");
            store({bad, smallest_kernel(9)});
            PinCommand of_no_rank = dispatch(0, 2, 6);  // nothing to do, and so nothing wrong with that
            of_no_rank.rank = 0xFFFF;
            check({configure(2), dispatch(0, 2, 6), dispatch(0, 2, 9), of_no_rank});
        }
        for (unsigned trial = 0; trial < 50; ++trial) {
            phase("wild kernel");
            const Kernel wild = wild_kernel(random_);
            PinCommand command = dispatch(0, 1, random_() % (wild.dyn_dim() + 1u));
            command.rank = static_cast<std::uint16_t>(random_());
            store({wild});
            check({configure(1), command});
        }
        phase("changed kernel");
        store({smallest_kernel(4), smallest_kernel(8)});
        check({configure(2)});
        bench_.store[1] = encode(smallest_kernel(9));
        check({dispatch(0, 2, 6), dispatch(0, 2, 3)});
    }
    void refusals() {
        const Kernel kernel = [] {
            Kernel made = smallest_kernel(12);
            made.loop(Level::pe, Dim::n).block = 1;
            made.loop(Level::spm, Dim::n).block = 12;
            return made;
        }();
        // With free ports, and with one for instructions that is slower than the nest: what is refused then is still in
        // the queue when the nest has ended.
        for (const unsigned waits : {0u, 80u}) {
            for (int ordinal = -1; ordinal < 10; ++ordinal) {
                phase("refusals");
                if (waits == 0) no_stalls();
                bench_.stalls.instruction = waits;
                store({smallest_kernel(2), kernel});
                PinCommand load = configure(2), run = dispatch(0, 2, 8), failing = dispatch(0, 2, 8);
                run.refuse_instruction = ordinal;
                failing.fail_fetch = 0;
                check({load, run, dispatch(0, 2, 0), dispatch(0, 2, 5), failing, dispatch(0, 2, 0)});
                load.fail_fetch = ordinal % 2;
                check({load, dispatch(0, 1, 1)});
            }
        }
    }
    void random_kernels() {
        phase("random kernels");
        std::vector<Kernel> kernels;
        for (unsigned made_for = 1 + random_() % 6; made_for <= 24; made_for += 1 + random_() % 9) {
            Kernel kernel = random_kernel(random_, 16, 8, made_for);
            for (Dim dim : {Dim::c, Dim::r, Dim::s}) {
                // As well with a part of the reduction at the innermost level.
                const unsigned part = 1 + random_() % 3;
                kernel.loop(Level::reg, dim).block = static_cast<std::uint16_t>(part);
                kernel.loop(Level::spm, dim).block = static_cast<std::uint16_t>((kernel.size(dim) + part - 1) / part);
            }
            kernel.loop(Level::reg, Dim::p).stride = static_cast<std::uint8_t>(1 + random_() % 3);
            kernel.loop(Level::reg, Dim::q).stride = static_cast<std::uint8_t>(1 + random_() % 3);
            kernel.pad = static_cast<std::uint8_t>(random_() % 3);
            if (random_() % 2 == 0) add_units(kernel, random_);
            kernels.push_back(kernel);
        }
        run_on(kernels, 12);
    }
    void wide_kernels() {
        phase("wide kernels");
        std::vector<Kernel> kernels;
        for (unsigned i = 0; i < 4; ++i) {
            kernels.push_back(wide_kernel(random_));
            if (random_() % 2 == 0) add_units(kernels.back(), random_);
        }
        run_on(kernels, 12);
    }
    /// Windows that end above, within and below the padding behind the last row. Where the second sample begins says
    /// how many rows the tile has of the first one.
    void padding() {
        for (unsigned pad = 0; pad < 4; ++pad) {
            phase("padding");
            Kernel kernel = smallest_kernel(2);
            kernel.pad = static_cast<std::uint8_t>(pad);
            kernel.loop(Level::pe, Dim::n).block = 1;
            kernel.loop(Level::spm, Dim::n).block = 2;
            for (const auto& [dim, size] : {std::pair{Dim::p, 4}, std::pair{Dim::r, 3}})
                kernel.total[static_cast<unsigned>(dim)] = kernel.loop(Level::spm, dim).block =
                    static_cast<std::uint16_t>(size);
            store({kernel});
            std::vector<PinCommand> commands{configure(1)};
            for (std::uint16_t rows = 1; rows <= 8; ++rows) {
                commands.push_back(dispatch(0, 1, 2));
                commands.back().in_rows = rows;
                commands.back().in_columns = commands.back().in_channels = 1;
            }
            check(commands);
        }
    }
    void run_on(std::vector<Kernel> kernels, unsigned dispatches) {
        std::stable_sort(kernels.begin(), kernels.end(),
                         [](const Kernel& a, const Kernel& b) { return a.dyn_dim() < b.dyn_dim(); });
        store(kernels);
        std::vector<PinCommand> commands{configure(kernels.size())};
        for (unsigned i = 0; i < dispatches; ++i) {
            const std::size_t index = random_() % kernels.size();
            const Kernel& kernel = kernels[index];
            const std::uint32_t units = kernel.loop(Level::unit, Dim::n).block;
            PinCommand command;
            if (units == 1 && random_() % 2 == 0) {
                const std::uint32_t smaller = index > 0 ? kernels[index - 1].dyn_dim() : 0u;
                // Kernels of several units are not for samples alone: those that select this one.
                command = dispatch(0, kernels.size(), smaller + random_() % (kernel.dyn_dim() - smaller + 1u));
                if (command.dyn_dim <= smaller) command = dispatch(index, 1, random_() % (kernel.dyn_dim() + 1u));
            } else {
                // What selects this kernel is at most its dyn_dim, and what is dispatched at most a unit of it.
                command = dispatch_unit(0, kernels.size(), 0, kernel.dyn_dim());
                if (index == 0 || random_() % 2 == 0) command.first = static_cast<std::uint16_t>(index);
                command.count -= command.first;
                if (command.first == index && random_() % 2 == 0) command.invocation -= random_() % kernel.dyn_dim();
                command.dyn_dim = static_cast<std::uint32_t>(random_() % (kernel.dyn_dim() / units + 1u));
            }
            const std::uint64_t ranks = std::uint64_t{kernel.loop(Level::tile, Dim::n).block} *
                                        kernel.loop(Level::tile, Dim::k).block * kernel.loop(Level::tile, Dim::p).block;
            command.rank = static_cast<std::uint16_t>(random_() % (std::min<std::uint64_t>(ranks, 0xFFFF) + 1));
            commands.push_back(command);
        }
        check(commands);
    }

    PinBench bench_;
    Reference reference_;
    std::mt19937 random_;
    unsigned seed_;
    std::string phase_;
};

}  // namespace

std::string dispatcher_regression(std::unique_ptr<rtl::DispatcherModel> model, FunctionalCoverage& coverage,
                                  unsigned seed, const std::function<void(rtl::DispatcherModel&)>& inspect,
                                  bool brief) {
    Regression regression(std::move(model), coverage, seed);
    try {
        regression.run(brief);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    if (inspect) inspect(regression.model());
    return "";
}

}  // namespace switchyard::testing
