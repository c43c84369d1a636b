// SPDX-License-Identifier: Apache-2.0
// Random graphs of kernels whose segments touch, overlap by a byte, are empty, or wrap at the end of the address space.
// Each kernel makes the bytes that it writes of those that it reads, so that a wrong order is a wrong value: memory
// after execution out of order must be that after execution in order.
#include <array>
#include <cstdlib>
#include <vector>

#include "switchyard/hw/scheduling_window/window_model.h"
#include "switchyard/sw_scheduler/ace/scheduled_list.h"
#include "switchyard/sw_scheduler/ace/scheduling_window.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::ace;

namespace {

/// The last and the first bytes of the address space; nothing else is used.
constexpr std::uint64_t kBytes = 48;
using Memory = std::array<std::uint8_t, kBytes>;

std::size_t place(std::uint64_t address) {
    return (address + kBytes / 2) % kAddressSpace;
}

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

/// What a kernel has read.
std::uint64_t digest(const Memory& memory, const Footprint& kernel, std::uint64_t number) {
    std::uint64_t value = mixed(number + 1);
    for (const MemorySegment& segment : kernel.reads)
        for (std::uint64_t i = 0; i < segment.size; ++i)
            value = mixed(value ^ (memory[place((segment.start + i) % kAddressSpace)] + 0x100 * (i + 1)));
    return value;
}

void write(Memory& memory, const Footprint& kernel, std::uint64_t value) {
    for (const MemorySegment& segment : kernel.writes)
        for (std::uint64_t i = 0; i < segment.size; ++i)
            memory[place((segment.start + i) % kAddressSpace)] = static_cast<std::uint8_t>(mixed(value + i));
}

std::vector<MemorySegment> random_segments(RandomSource& random) {
    std::vector<MemorySegment> segments(random.integer(0, 3));
    for (MemorySegment& segment : segments) {
        const std::uint64_t first = random.integer(0, kBytes - 1);
        const auto size = std::min<std::uint64_t>(random.integer(0, 6), kBytes - first);
        segment = {(first + kAddressSpace - kBytes / 2) % kAddressSpace, size};
    }
    return segments;
}

std::vector<Footprint> random_graph(RandomSource& random) {
    std::vector<Footprint> kernels(random.integer(1, 24));
    for (Footprint& kernel : kernels) kernel = {random_segments(random), random_segments(random)};
    return kernels;
}

Memory in_order(const std::vector<Footprint>& kernels) {
    Memory memory{};
    for (std::size_t k = 0; k < kernels.size(); ++k) write(memory, kernels[k], digest(memory, kernels[k], k));
    return memory;
}

/// ACE-SW: the window in software.
class SoftwareWindow {
public:
    SoftwareWindow(RandomSource& random, DependenceRule rule) : window_(random.integer(2, 12), rule) {}
    bool insert(std::size_t number, const Footprint& kernel) {
        if (window_.full()) return false;
        window_.insert(number, kernel);
        return true;
    }
    std::optional<std::size_t> dispatch() { return window_.take_ready(); }
    void complete(std::size_t number) { window_.complete(number); }

private:
    SchedulingWindow window_;
};

/// ACE-HW: a stale list on the host, entries on their way to the GPU, the window there. Ids begin anew after 256
/// kernels.
class HardwareWindow {
public:
    HardwareWindow(RandomSource& random, DependenceRule rule)
        : HardwareWindow(random.integer(2, 12), random.integer(0, 12), rule) {
        // So that a graph has ids on both sides of 255 and 0.
        const unsigned before = random.integer(0, 300);
        for (unsigned k = 0; k < before; ++k) {
            window_.insert(list_.send({}));
            window_.complete(*window_.dispatch());
        }
        first_ = before;
    }
    bool insert(std::size_t, const Footprint& kernel) {
        if (!waiting_) waiting_ = list_.send(kernel);
        if (!window_.can_insert()) return false;
        window_.insert(*waiting_);
        waiting_.reset();
        return true;
    }
    std::optional<std::size_t> dispatch() {
        const std::optional<KernelId> id = window_.dispatch();
        if (!id) return std::nullopt;
        return static_cast<std::size_t>(static_cast<KernelId>(*id - first_));  // graphs are shorter than 256
    }
    void complete(std::size_t number) { window_.complete(static_cast<KernelId>(number + first_)); }

private:
    HardwareWindow(unsigned slots, unsigned more, DependenceRule rule)
        : list_(slots + more, rule), window_({slots, slots + more}) {}

    ScheduledList list_;
    hw::WindowModel window_;
    std::optional<WindowEntry> waiting_;
    std::size_t first_ = 0;
};

/// Kernels enter, begin and end at random times; each reads when it begins or when it ends. Returns nothing if no
/// kernel can begin or end although some are left.
template <class Window>
std::optional<Memory> out_of_order(const std::vector<Footprint>& kernels, RandomSource& random, DependenceRule rule) {
    struct Running {
        std::size_t number;
        bool has_read;
        std::uint64_t value;
    };
    Window window(random, rule);
    Memory memory{};
    std::vector<Running> running;
    const unsigned most = random.integer(1, 8);
    std::size_t inserted = 0, completed = 0;
    while (completed < kernels.size()) {
        bool moved = false;
        while (inserted < kernels.size() && random.chance(0.7) && window.insert(inserted, kernels[inserted])) {
            ++inserted;
            moved = true;
        }
        while (running.size() < most && random.chance(0.7)) {
            const std::optional<std::size_t> number = window.dispatch();
            if (!number) break;
            const bool early = random.chance(0.5);
            running.push_back({*number, early, early ? digest(memory, kernels[*number], *number) : 0});
            moved = true;
        }
        if (!running.empty() && (random.chance(0.5) || !moved)) {
            const unsigned index = random.integer(0, static_cast<unsigned>(running.size()) - 1);
            const Running done = running[index];
            running.erase(running.begin() + index);
            const Footprint& kernel = kernels[done.number];
            write(memory, kernel, done.has_read ? done.value : digest(memory, kernel, done.number));
            window.complete(done.number);
            ++completed;
            continue;
        }
        if (moved) continue;
        // Chance alone may have stood still.
        if (inserted < kernels.size() && window.insert(inserted, kernels[inserted])) {
            ++inserted;
        } else if (const std::optional<std::size_t> number = window.dispatch()) {
            running.push_back({*number, false, 0});
        } else {
            return std::nullopt;
        }
    }
    return memory;
}

template <class Window>
std::uint64_t wrong_graphs(std::uint64_t first, std::uint64_t count, DependenceRule rule) {
    std::uint64_t wrong = 0;
    for (std::uint64_t graph = first; graph < first + count; ++graph) {
        RandomSource random(graph, 20);
        const std::vector<Footprint> kernels = random_graph(random);
        const std::optional<Memory> memory = out_of_order<Window>(kernels, random, rule);
        INFO("graph " << graph);
        REQUIRE(memory);  // no deadlock, no stale id that blocks for ever
        if (*memory != in_order(kernels)) ++wrong;
    }
    return wrong;
}

void compare(std::uint64_t graphs) {
    CHECK(wrong_graphs<SoftwareWindow>(0, graphs, DependenceRule::all_hazards) == 0);
    CHECK(wrong_graphs<HardwareWindow>(graphs, graphs, DependenceRule::all_hazards) == 0);
}

}  // namespace

TEST_CASE("memory after execution out of order is that after execution in order", "[ace]") {
    compare(20000);
}

TEST_CASE("Algorithm 1 as printed gives wrong values: it misses read after write", "[ace]") {
    CHECK(wrong_graphs<SoftwareWindow>(0, 200, DependenceRule::as_printed) > 0);
    CHECK(wrong_graphs<HardwareWindow>(0, 200, DependenceRule::as_printed) > 0);
}

TEST_CASE("the same on a million graphs", "[.out-of-order-long]") {
    compare(500000);
}
