// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlm>

#include "switchyard/tlm/packet.h"

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
    explicit PayloadPool(std::string name);
    ~PayloadPool();
    PayloadPool(const PayloadPool&) = delete;
    PayloadPool& operator=(const PayloadPool&) = delete;

    ::tlm::tlm_generic_payload& allocate();
    /// Payloads given out and not yet returned.
    std::size_t in_use() const;
    /// Payloads ever made: the peak of `in_use`.
    std::size_t capacity() const;

protected:
    /// A payload of the pool, and what it keeps for life.
    class Slot : public ::tlm::tlm_generic_payload {
    public:
        /// Sets what is kept back to its defaults.
        virtual void reset_kept() {}
    };
    /// Where the payloads live: as long as the pool and its last payload.
    class Store : public ::tlm::tlm_mm_interface {
    public:
        ::tlm::tlm_generic_payload& allocate();
        void free(::tlm::tlm_generic_payload* payload) override;
        /// The pool is gone: live on for the payloads that are still in use.
        void orphan();
        std::size_t in_use() const { return capacity_ - free_.size(); }
        std::size_t capacity() const { return capacity_; }

    protected:
        virtual Slot& make() = 0;

    private:
        bool orphaned_ = false;
        std::size_t capacity_ = 0;
        std::vector<Slot*> free_;
    };
    template <class AnySlot>
    class StoreOf : public Store {
        Slot& make() override { return slots_.emplace_back(); }
        std::deque<AnySlot> slots_;
    };

    PayloadPool(std::string name, Store* store) : name_(std::move(name)), store_(store) {}

private:
    std::string name_;
    Store* store_;  ///< deletes itself after the pool and its last payload
};

/// A pool of payloads that each keep one of each of `Extensions` for life (sticky extensions, 14.5): they are reset
/// (`reset()`), not freed, when the payload returns, so that a packet costs no allocation once the pool is warm.
template <class... Extensions>
class ExtendedPayloadPool : public PayloadPool {
public:
    explicit ExtendedPayloadPool(std::string name) : PayloadPool(std::move(name), new StoreOf<ExtendedSlot>) {}

private:
    class ExtendedSlot : public Slot {
    public:
        ExtendedSlot() { (this->set_extension(&std::get<Extensions>(kept_)), ...); }
        ~ExtendedSlot() override {
            // ~tlm_generic_payload would free them.
            for (unsigned id = 0; id < ::tlm::max_num_extensions(); ++id) this->set_extension(id, nullptr);
        }
        void reset_kept() override { (std::get<Extensions>(kept_).reset(), ...); }

    private:
        std::tuple<Extensions...> kept_;
    };
};

/// A pool of packets that carry nothing but themselves.
using PacketPayloadPool = ExtendedPayloadPool<PacketExtension>;

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
    /// An extension that the payload has.
    template <class Extension>
    Extension& extension() const {
        return *payload_->template get_extension<Extension>();
    }
    PacketExtension& packet() const { return extension<PacketExtension>(); }

private:
    ::tlm::tlm_generic_payload* payload_ = nullptr;
};

}  // namespace switchyard
