#pragma once

#include <cstdint>

/// What a driver sees of the chip: offsets, bits and codes of the host interface's configuration port. The contract of
/// each register (reset value, access, reserved bits) stands in HostInterface's constructor; docs/register_map.md is
/// printed from it. All registers are 32 bits wide and little-endian.
namespace switchyard::hw::host_registers {

inline constexpr std::uint32_t kIdValue = 0x4453'5359;  // "SYSD"
inline constexpr std::uint32_t kVersionValue = 0x0001'0000;

enum Offset : std::uint64_t {
    kId = 0x000,
    kVersion = 0x004,
    kPlatformLow = 0x008,
    kPlatformHigh = 0x00C,
    kControl = 0x010,
    kStatus = 0x014,
    kError = 0x018,
    kErrorInfo = 0x01C,
    kIrqStatus = 0x020,
    kIrqEnable = 0x024,
    kImageBytes = 0x028,
    kDoorbell = 0x02C,
    kBatchDone = 0x030,
    kLastCyclesLow = 0x034,
    kLastCyclesHigh = 0x038,
    kDmaHostLow = 0x040,
    kDmaHostHigh = 0x044,
    kDmaChipLow = 0x048,
    kDmaChipHigh = 0x04C,
    kDmaBytes = 0x050,
    kDmaControl = 0x054,
    kProfileTile = 0x060,
    kProfileRecords = 0x064,
};

/// Windows behind the registers.
inline constexpr std::uint64_t kRegisterBytes = 0x1000;
inline constexpr std::uint64_t kImageWindow = 0x0100'0000;  ///< kernel image, any order and size of accesses
inline constexpr std::uint64_t kImageWindowBytes = 64ull << 20;
inline constexpr std::uint64_t kProfileWindow = 0x0800'0000;  ///< ProfileRecord[kProfileRecords], read only
inline constexpr std::uint64_t kProfileWindowBytes = 1ull << 20;
inline constexpr std::uint64_t kErrorTextWindow = 0x0900'0000;  ///< debug transport only: last error, NUL-terminated
inline constexpr std::uint64_t kErrorTextWindowBytes = 4096;

enum Control : std::uint32_t {
    kCommitImage = 1u << 0,  ///< check the image in the window and load it into the tiles
    kResetImage = 1u << 1,   ///< forget the loaded image and the last error
};

enum Status : std::uint32_t {
    kLoaded = 1u << 0,
    kLoading = 1u << 1,
    kBusy = 1u << 2,           ///< a batch is running
    kLastBatchDone = 1u << 3,  ///< at least one batch has finished since the image was loaded
    kDmaBusy = 1u << 4,
    kProfileBusy = 1u << 5,
    kFailed = 1u << 6,  ///< ERROR is not zero
};

/// Bits of IRQ_STATUS (write 1 to clear) and IRQ_ENABLE.
enum Interrupt : std::uint32_t {
    kIrqLoaded = 1u << 0,
    kIrqBatchDone = 1u << 1,
    kIrqDmaDone = 1u << 2,
    kIrqProfileReady = 1u << 3,
    kIrqError = 1u << 4,
    kIrqAll = 0x1F,
};

enum DmaControl : std::uint32_t {
    kDmaToChip = 1u << 0,    ///< host memory to HBM
    kDmaFromChip = 1u << 1,  ///< HBM to host memory
    kDmaSizeOnly = 1u << 2,  ///< move time and bytes, not values
};

/// ERROR. ERROR_INFO holds what the comment says, 0 otherwise.
enum class ErrorCode : std::uint32_t {
    none = 0,
    image_truncated = 1,   ///< IMAGE_BYTES is less than the image needs; info: IMAGE_BYTES
    image_checksum = 2,    ///< a CRC does not match
    image_version = 3,     ///< info: the version found
    image_platform = 4,    ///< made for another platform; info: low half of its fingerprint
    image_malformed = 5,   ///< no image, or a record in it is inconsistent
    image_too_large = 6,   ///< IMAGE_BYTES exceeds the window; info: IMAGE_BYTES
    image_tile = 7,        ///< names a tile that the chip lacks; info: the tile
    tile_rejected = 8,     ///< a tile answered program_error; info: the tile
    not_loaded = 9,        ///< doorbell before an image was loaded
    busy = 10,             ///< doorbell, commit or reset while a batch or a load is under way
    dma_busy = 11,         ///< DMA_CONTROL while a transfer is under way
    dma_request = 12,      ///< no or both directions, zero bytes, or an HBM address that does not exist
    dma_host_memory = 13,  ///< host memory answered with an error; info: bytes moved before
    profile_request = 14,  ///< PROFILE_TILE out of range or another request under way; info: the tile
};

}  // namespace switchyard::hw::host_registers
