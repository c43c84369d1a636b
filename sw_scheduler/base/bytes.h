// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

/// Appends little-endian fields. A record's `transfer(archive, record)` lists its fields once, for ByteWriter and
/// ByteReader alike, so that the two directions cannot drift apart.
class ByteWriter {
public:
    template <class T>
    using Record = const T&;

    /// `expected`: bytes for which there is room at once.
    explicit ByteWriter(std::size_t expected = 0) : bytes_(expected) {}

    template <class... Fields>
    void operator()(const Fields&... fields) {
        (put(fields), ...);
    }
    template <class E>
    void enumeration(const E& value, E) {
        put(static_cast<std::underlying_type_t<E>>(value));
    }
    template <class E>
    void enumerations(const std::vector<E>& values, E last) {
        put(static_cast<std::uint32_t>(values.size()));
        for (const E value : values) enumeration(value, last);
    }
    void append(const std::uint8_t* bytes, std::size_t count) {
        if (count > 0) std::memcpy(room(count), bytes, count);
    }

    std::size_t size() const { return size_; }
    std::vector<std::uint8_t> take() {
        bytes_.resize(std::exchange(size_, 0));
        return std::exchange(bytes_, {});
    }

private:
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_integral_v<T>)
            store(room(sizeof(T)), value);
        else
            transfer(*this, value);
    }
    /// A list: u32 count, then the items.
    template <class T>
    void put(const std::vector<T>& items) {
        put(static_cast<std::uint32_t>(items.size()));
        if constexpr (std::is_integral_v<T>) {
            std::uint8_t* const bytes = room(items.size() * sizeof(T));
            for (std::size_t i = 0; i < items.size(); ++i) store(bytes + i * sizeof(T), items[i]);
        } else {
            for (const T& item : items) put(item);
        }
    }
    template <class T>
    static void store(std::uint8_t* bytes, T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
    }

    /// For N more bytes.
    std::uint8_t* room(std::size_t count) {
        if (bytes_.size() - size_ < count) bytes_.resize(2 * bytes_.size() + count);
        return bytes_.data() + std::exchange(size_, size_ + count);
    }

    std::vector<std::uint8_t> bytes_;  ///< of which the first size_ are written
    std::size_t size_ = 0;
};

/// Reads what ByteWriter wrote. Errors are InputError "offset N: ...", N counted from the first byte given.
class ByteReader {
public:
    template <class T>
    using Record = T&;

    ByteReader(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

    template <class... Fields>
    void operator()(Fields&... fields) {
        (read(fields), ...);
    }
    template <class E>
    void enumeration(E& value, E last) {
        const auto code = get<std::underlying_type_t<E>>();
        if (code > static_cast<std::underlying_type_t<E>>(last))
            fail("expected a known code, found " + std::to_string(code));
        value = static_cast<E>(code);
    }

    template <class E>
    void enumerations(std::vector<E>& values, E last) {
        const auto count = get<std::uint32_t>();
        if (count > remaining())
            fail("expected a list that fits the record, found " + std::to_string(count) + " items");
        values.resize(count);
        for (E& value : values) enumeration(value, last);
    }

    template <class T>
    T get() {
        last_ = at_;
        if (remaining() < sizeof(T)) fail("expected more bytes, found the end of the record");
        at_ += sizeof(T);
        return load<T>(bytes_ + last_);
    }
    /// The next `count` bytes, which are skipped.
    const std::uint8_t* take(std::size_t count) {
        last_ = at_;
        if (remaining() < count) fail("expected more bytes, found the end of the record");
        at_ += count;
        return bytes_ + last_;
    }
    void expect_end() {
        last_ = at_;
        if (remaining() > 0)
            fail("expected the end of the record, found " + std::to_string(remaining()) + " more bytes");
    }

    std::size_t remaining() const { return size_ - at_; }
    std::size_t offset() const { return at_; }
    /// Throws InputError with the offset of the field read last.
    [[noreturn]] void fail(const std::string& message) const {
        throw InputError("offset " + std::to_string(last_) + ": " + message);
    }

private:
    template <class T>
    void read(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            const auto byte = get<std::uint8_t>();
            if (byte > 1) fail("expected 0 or 1, found " + std::to_string(byte));
            value = byte == 1;
        } else if constexpr (std::is_integral_v<T>) {
            value = get<T>();
        } else {
            transfer(*this, value);
        }
    }
    template <class T>
    void read(std::vector<T>& items) {
        const auto count = get<std::uint32_t>();
        // Every item takes a byte or more: a corrupt count must not reserve memory that the record cannot fill.
        if (count > remaining())
            fail("expected a list that fits the record, found " + std::to_string(count) + " items");
        items.resize(count);
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            if (count > 0 && count <= remaining() / sizeof(T)) {
                const std::uint8_t* const bytes = take(count * sizeof(T));
                for (std::size_t i = 0; i < count; ++i) items[i] = load<T>(bytes + i * sizeof(T));
                last_ = at_ - sizeof(T);
                return;
            }
        }
        for (T& item : items) read(item);
    }
    template <class T>
    static T load(const std::uint8_t* bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
        return static_cast<T>(value);
    }

    const std::uint8_t* bytes_;
    std::size_t size_, at_ = 0, last_ = 0;
};

}  // namespace switchyard
