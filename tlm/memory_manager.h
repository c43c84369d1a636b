// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm>

#include "switchyard/tlm/routed_extension.h"

namespace switchyard {

/// A pool of generic payloads (IEEE 1666 14.5), one a component or one a simulation, as its owner likes. A payload
/// comes out with every attribute at its default and a reference count of 1; when the count returns to 0 its automatic
/// extensions are freed and it goes back into the pool.
///
/// Payloads outlive the pool: those in use when it is destroyed are freed with their last reference. The destructor
/// reports them as a warning "switchyard/payload_leak", unless the simulation was cut short: stopped with work still
/// scheduled, or ended by an exception.
class PayloadPool {
public:
    explicit PayloadPool(std::string name) : PayloadPool(std::move(name), false) {}
    ~PayloadPool();
    PayloadPool(const PayloadPool&) = delete;
    PayloadPool& operator=(const PayloadPool&) = delete;

    ::tlm::tlm_generic_payload& allocate();
    /// Payloads given out and not yet returned.
    std::size_t in_use() const;
    /// Payloads ever made: the peak of `in_use`.
    std::size_t capacity() const;

protected:
    class Store;
    PayloadPool(std::string name, bool routed);

private:
    std::string name_;
    Store* store_;  ///< deletes itself after the pool and its last payload
};

/// A pool of payloads that each keep their RoutedExtension for life (a sticky extension, 14.5): it is reset, not freed,
/// when the payload returns, so that a packet costs no allocation once the pool is warm.
class RoutedPayloadPool : public PayloadPool {
public:
    explicit RoutedPayloadPool(std::string name) : PayloadPool(std::move(name), true) {}
};

/// One reference to a pooled payload, or none: releases it at the end of its scope.
class PooledPayload {
public:
    PooledPayload() = default;
    explicit PooledPayload(PayloadPool& pool) : payload_(&pool.allocate()) {}
    /// Another reference to a payload that somebody else has allocated: 14.5 u.
    static PooledPayload share(::tlm::tlm_generic_payload& payload) {
        payload.acquire();
        PooledPayload reference;
        reference.payload_ = &payload;
        return reference;
    }
    ~PooledPayload() {
        if (payload_) payload_->release();
    }
    PooledPayload(PooledPayload&& other) noexcept : payload_(std::exchange(other.payload_, nullptr)) {}
    PooledPayload& operator=(PooledPayload&& other) noexcept {
        std::swap(payload_, other.payload_);
        return *this;
    }

    ::tlm::tlm_generic_payload& operator*() const { return *payload_; }
    ::tlm::tlm_generic_payload* operator->() const { return payload_; }
    /// Of a payload from a RoutedPayloadPool.
    RoutedExtension& routed() const { return *payload_->get_extension<RoutedExtension>(); }

private:
    ::tlm::tlm_generic_payload* payload_ = nullptr;
};

}  // namespace switchyard
