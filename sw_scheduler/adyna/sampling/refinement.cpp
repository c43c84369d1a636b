// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace switchyard::sched {

namespace {

struct Insertion {
    std::uint16_t value = 0;
    double saving = 0;
};

Insertion best_insertion(const Distribution& phi, std::uint16_t low, std::uint16_t high) {
    Insertion best;
    for (std::uint32_t value = low + 1u; value < high; ++value) {
        const double saving = phi.frequency(low, value) * (high - value);
        if (saving > best.saving) best = {static_cast<std::uint16_t>(value), saving};
    }
    return best;
}

/// A set of values, and for each range the best value to add in it.
class Refinement {
public:
    Refinement(DynDims values, const Distribution& phi)
        : values_(std::move(values)), phi_(phi), noise_(kRounding * phi.total() * phi.largest()) {
        for (std::size_t i = 0; i < values_.size(); ++i)
            insertions_.push_back(best_insertion(phi_, low(i), values_[i]));
    }

    const DynDims& values() const { return values_; }

    /// Makes the first exchange that pays, in order of punishment. False if none does.
    bool exchange() {
        std::vector<double> punish;
        for (std::size_t i = 0; i + 1 < values_.size(); ++i)
            punish.push_back(phi_.frequency(low(i), values_[i]) * (values_[i + 1] - values_[i]));
        std::vector<std::size_t> order(punish.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return punish[a] < punish[b]; });
        for (const std::size_t i : order) {
            if (exchange(i, punish[i])) return true;
        }
        return false;
    }

private:
    static constexpr double kRounding = 1e-12;  ///< differences of sums are not exact to the last bit

    std::uint16_t low(std::size_t i) const { return i == 0 ? std::uint16_t{0} : values_[i - 1]; }

    bool exchange(std::size_t removed, double punish) {
        std::size_t place = removed + 1;
        Insertion added = best_insertion(phi_, low(removed), values_[removed + 1]);
        const Insertion merged = added;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (i == removed || i == removed + 1 || insertions_[i].saving <= added.saving) continue;
            added = insertions_[i];
            place = i;
        }
        if (added.saving <= punish + noise_) return false;
        erase(removed, merged);
        insert(place > removed ? place - 1 : place, added.value);
        return true;
    }

    void erase(std::size_t i, const Insertion& merged) {
        values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(i));
        insertions_.erase(insertions_.begin() + static_cast<std::ptrdiff_t>(i));
        insertions_[i] = merged;
    }

    void insert(std::size_t i, std::uint16_t value) {
        insertions_[i] = best_insertion(phi_, value, values_[i]);
        insertions_.insert(insertions_.begin() + static_cast<std::ptrdiff_t>(i), best_insertion(phi_, low(i), value));
        values_.insert(values_.begin() + static_cast<std::ptrdiff_t>(i), value);
    }

    DynDims values_;
    const Distribution& phi_;
    double noise_;
    std::vector<Insertion> insertions_;
};

}  // namespace

DynDims refine(DynDims values, const Distribution& phi) {
    Refinement refinement(std::move(values), phi);
    while (refinement.exchange()) continue;
    return refinement.values();
}

}  // namespace switchyard::sched
