// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "switchyard/hw/host/host_interface.h"

namespace switchyard::hw {

using namespace host_registers;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t kControlBytes = 8;

std::vector<std::uint8_t> little_endian(std::uint32_t value) {
    return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
            static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
}

ErrorCode code_of(ImageFault fault) {
    switch (fault) {
        case ImageFault::truncated:
            return ErrorCode::image_truncated;
        case ImageFault::checksum:
            return ErrorCode::image_checksum;
        case ImageFault::version:
            return ErrorCode::image_version;
        case ImageFault::malformed:
            break;
    }
    return ErrorCode::image_malformed;
}

}  // namespace

void HostInterface::run_jobs() {
    for (;;) {
        wait(job_started_);
        if (requested_job_ == Job::none) continue;  // a reset came at the same time
        begins(kJobActivity);
        job_ = requested_job_;
        batch_ = requested_batch_;
        if (job_ == Job::load)
            load_image();
        else
            run_batch();
        job_ = Job::none;
        if (!discarding_) requested_job_ = Job::none;
        ends(kJobActivity);
    }
}

void HostInterface::load_image() {
    Image image;
    if (decode_committed(image)) {
        forget_image();  // its programs are being replaced; one that is refused leaves it as it is
        rejecting_tiles_.clear();
        for (const TileProgram& program : image.tiles) {
            if (!program.operators.empty()) {
                send_program(program);
                programmed_tiles_.insert(program.tile);
            } else if (programmed_tiles_.erase(program.tile) > 0) {
                send_program(program);  // nothing is left of the image before
            }
        }
        wait_for_tiles();
        if (discarding_) return;
        if (rejecting_tiles_.empty()) {
            program_ = std::move(image.chip);
            ++stats_.images_loaded;
            set_status(kLoaded, true);
            say("image", fmt::format("image loaded, {} segments", program_.segments.size()));
            interrupt(kIrqLoaded);
        } else {
            const Endpoint tile = *rejecting_tiles_.begin();
            fail(ErrorCode::tile_rejected, tile,
                 fmt::format("tile {}: expected the tile to take its program, found that it rejects it", tile));
        }
    }
    set_status(kLoading, false);
}

bool HostInterface::decode_committed(Image& image) {
    const std::vector<std::uint8_t> window = std::move(committed_);
    const std::uint32_t bytes = committed_bytes_;
    if (bytes > config_.image_window_bytes) {
        fail(ErrorCode::image_too_large, bytes,
             fmt::format("expected an image of at most the {} bytes of the window, found {}",
                         config_.image_window_bytes, bytes));
        return false;
    }
    try {
        image = decode_image(window, "image window");
    } catch (const ImageError& error) {
        const std::uint32_t version = bytes < 6 ? 0 : window[4] | window[5] << 8;
        const bool is_version = error.fault() == ImageFault::version;
        fail(code_of(error.fault()), is_version ? version : bytes, error.what());
        return false;
    } catch (const InputError& error) {
        fail(ErrorCode::image_malformed, bytes, error.what());
        return false;
    }
    if (image.platform_fingerprint != chip_.platform_fingerprint) {
        fail(ErrorCode::image_platform, static_cast<std::uint32_t>(image.platform_fingerprint),
             fmt::format("expected an image for platform {:016x}, found one for {:016x} ('{}'); compile it for this "
                         "platform",
                         chip_.platform_fingerprint, image.platform_fingerprint, image.meta.platform));
        return false;
    }
    std::set<unsigned> tiles;
    for (const TileProgram& program : image.tiles) tiles.insert(program.tile);
    for (const SegmentInfo& segment : image.chip.segments) tiles.insert(segment.tiles.begin(), segment.tiles.end());
    if (!tiles.empty() && *tiles.rbegin() >= chip_.tiles) {
        fail(ErrorCode::image_tile, *tiles.rbegin(),
             fmt::format("expected programs of the chip's {} tiles, found one of tile {}", chip_.tiles,
                         *tiles.rbegin()));
        return false;
    }
    return true;
}

void HostInterface::send_program(const TileProgram& program) {
    const std::vector<std::uint8_t> bytes = encode(program);
    for (std::size_t begin = 0; begin < bytes.size(); begin += config_.config_packet_bytes) {
        const std::size_t end = std::min(bytes.size(), begin + config_.config_packet_bytes);
        PooledPayload part =
            packet({program.tile}, {MessageKind::config, MemoryOperation::none, ::tlm::TLM_WRITE_COMMAND,
                                    kTileProgramWindow + begin, end - begin});
        carry(part,
              {bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end)});
        send(part);
    }
    // The network keeps the order of packets between two endpoints: the commit comes last.
    pending_tiles_.insert(program.tile);
    const std::vector<std::uint8_t> size = little_endian(static_cast<std::uint32_t>(bytes.size()));
    PooledPayload commit = packet({program.tile}, {MessageKind::config, MemoryOperation::none, ::tlm::TLM_WRITE_COMMAND,
                                                   kTileProgramCommit, size.size()});
    carry(commit, size);
    send(commit);
    stats_.config_bytes += bytes.size() + size.size();
}

void HostInterface::wait_for_tiles() {
    while (!pending_tiles_.empty()) wait(tile_answered_);
}

void HostInterface::run_batch() {
    const sc_time begin = sc_core::sc_time_stamp();
    for (std::size_t s = 0; s < program_.segments.size(); ++s) {
        const std::vector<std::uint16_t>& tiles = program_.segments[s].tiles;
        if (tiles.empty()) continue;
        segment_ = static_cast<std::uint16_t>(s);
        const sc_time start = sc_core::sc_time_stamp();
        start_segment(tiles);
        wait_for_tiles();
        segment_cycles_[{stats_.images_loaded, segment_}] += clock_.count(sc_core::sc_time_stamp() - start);
        if (log_ != nullptr)
            log_->slice(segments_track_, fmt::format("segment {}", segment_), start.value(),
                        sc_core::sc_time_stamp().value(), {{"batch", batch_}, {"segment", segment_}});
        ++stats_.segments;
    }
    if (discarding_) return;
    const std::uint64_t cycles = clock_.count(sc_core::sc_time_stamp() - begin);
    registers_.set(kLastCyclesLow, static_cast<std::uint32_t>(cycles));
    registers_.set(kLastCyclesHigh, static_cast<std::uint32_t>(cycles >> 32));
    registers_.set(kBatchDone, registers_.get(kBatchDone) + 1);
    stats_.busy_cycles += cycles;
    ++stats_.batches;
    set_status(kBusy, false);
    set_status(kLastBatchDone, true);
    say("batch", fmt::format("batch {} done in {} cycles", batch_, cycles));
    interrupt(kIrqBatchDone);
}

void HostInterface::start_segment(const std::vector<Endpoint>& tiles) {
    pending_tiles_.insert(tiles.begin(), tiles.end());
    const PooledPayload start =
        packet(tiles, {MessageKind::control, MemoryOperation::none, ::tlm::TLM_WRITE_COMMAND, 0, kControlBytes});
    auto& message = start.extension<AdynaMessage>();
    message.control = static_cast<std::uint32_t>(ControlCode::segment_start);
    message.batch = batch_;
    message.segment = segment_;
    send(start);
}

void HostInterface::run_profiles() {
    for (;;) {
        wait(profile_started_);
        if (!status(kProfileBusy)) continue;
        begins(kProfileActivity);
        profile_tile_ = requested_profile_tile_;
        const std::uint64_t start = sc_core::sc_time_stamp().value();
        send(packet({profile_tile_},
                    {MessageKind::config, MemoryOperation::none, ::tlm::TLM_READ_COMMAND, kTileProfileRead, 0}));
        wait(profile_arrived_);
        if (!discarding_) {
            registers_.set(kProfileRecords, static_cast<std::uint32_t>(profile_.size() / sizeof(ProfileRecord)));
            set_status(kProfileBusy, false);
            interrupt(kIrqProfileReady);
        }
        if (log_ != nullptr)
            log_->slice(profiles_track_, "profile", start, sc_core::sc_time_stamp().value(), {{"tile", profile_tile_}});
        ends(kProfileActivity);
    }
}

}  // namespace switchyard::hw
