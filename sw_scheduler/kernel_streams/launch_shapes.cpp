// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"

#include <algorithm>

namespace switchyard::sched {

namespace {

std::uint64_t quotient_up(std::uint64_t value, std::uint64_t by) {
    return (value + by - 1) / by;
}

LaunchShape in_x(std::uint64_t ctas, std::uint32_t threads, std::uint32_t registers_per_thread) {
    const std::uint64_t limited = std::min<std::uint64_t>(std::max<std::uint64_t>(ctas, 1), kMaxGridX);
    return {{static_cast<std::uint32_t>(limited), 1, 1}, threads, registers_per_thread, 0};
}

struct Tile {
    std::uint32_t rows, columns, threads, registers_per_thread;
};

/// A thread holds 8 x 8, 8 x 4 or 4 x 4 sums.
constexpr Tile kTiles[] = {
    {128, 128, 256, 128}, {128, 64, 256, 96}, {64, 64, 256, 64}, {64, 32, 128, 64}, {32, 32, 64, 64}};
/// Columns of the left and rows of the right matrix that lie in shared memory, twice: one is computed with, one loaded.
constexpr std::uint32_t kTileDepth = 8, kBuffers = 2, kElementBytes = 4;

}  // namespace

LaunchShape elementwise_shape(std::uint64_t elements) {
    return in_x(quotient_up(elements, 512), 128, 32);
}

LaunchShape one_output_shape(std::uint64_t outputs, std::uint32_t threads) {
    return in_x(quotient_up(outputs, threads), threads, 40);
}

LaunchShape one_pixel_shape(std::uint64_t pixels) {
    return in_x(quotient_up(pixels, kLargeCta), kLargeCta, 40);
}

LaunchShape batch_norm_shape(std::uint32_t channels, std::uint64_t pixels) {
    // Fewer than 64 pixels: further threads are for further images, and there are none.
    const auto threads_for = [](std::uint64_t elements) {
        std::uint32_t threads = 32;
        while (threads < 512 && threads < elements) threads *= 2;
        return threads;
    };
    return in_x(channels, std::max(threads_for(pixels / 4), 64u), 32);
}

LaunchShape loop_fusion_shape(std::uint64_t elements) {
    return in_x(quotient_up(elements, 128), 128, 32);
}

LaunchShape reduction_shape(std::uint64_t outputs) {
    return in_x(quotient_up(outputs, 16), 512, 32);
}

LaunchShape matrix_product_shape(std::uint64_t rows, std::uint64_t columns, std::uint64_t depth) {
    const auto ctas = [&](const Tile& tile) {
        return quotient_up(rows, tile.rows) * quotient_up(columns, tile.columns);
    };
    const Tile* chosen =
        std::find_if(std::begin(kTiles), std::end(kTiles), [&](const Tile& tile) { return ctas(tile) >= kWantedCtas; });
    if (chosen == std::end(kTiles)) --chosen;
    const std::uint64_t tiles = ctas(*chosen);
    const std::uint64_t wanted_parts = tiles < kWantedCtas ? quotient_up(kWantedCtas, tiles) : 1;
    const std::uint64_t parts = std::max<std::uint64_t>(1, std::min(wanted_parts, depth / kMinPartDepth));
    LaunchShape shape = in_x(tiles, chosen->threads, chosen->registers_per_thread);
    shape.grid[2] = static_cast<std::uint32_t>(parts);
    shape.shared_bytes = (chosen->rows + chosen->columns) * kTileDepth * kBuffers * kElementBytes;
    shape.schedule.l2_bytes = tiles * (std::uint64_t{chosen->rows} + chosen->columns) * depth * kElementBytes;
    // A sum is read and written for each part.
    if (parts > 1) shape.schedule.l2_bytes += 2 * parts * rows * columns * kElementBytes;
    return shape;
}

}  // namespace switchyard::sched
