// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/workload/branch_sampling.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"
#include "switchyard/sw_scheduler/workload/route_messages.h"
#include "switchyard/sw_scheduler/workload/routing.h"

namespace switchyard::sched {

namespace {

double quantile_of(double normal) {
    return 0.5 * std::erfc(-normal * M_SQRT1_2);
}

/// Weights that make a sum of two standard normal numbers a standard normal one again.
struct Blend {
    explicit Blend(double correlation) : shared(std::sqrt(correlation)), own(std::sqrt(1 - correlation)) {}
    double operator()(double common, double single) const { return shared * common + own * single; }
    double shared, own;
};

double drifted(double probability, double shift) {
    return probability + 4 * shift * probability * (1 - probability);
}

std::uint64_t choose_one(double quantile, const std::vector<double>& probability, double shift) {
    double cumulative = 0;
    std::size_t last = 0;  // the last branch that can be taken, whatever the sum rounds to
    for (std::size_t branch = 0; branch < probability.size(); ++branch) {
        if (probability[branch] == 0) continue;
        cumulative += probability[branch];
        last = branch;
        if (quantile < drifted(std::min(cumulative, 1.0), shift)) break;
    }
    return std::uint64_t{1} << last;
}

template <class Quantile>
std::uint64_t choose_any(Quantile&& quantile, const std::vector<double>& probability, double shift) {
    std::uint64_t mask = 0;
    std::size_t closest = 0;
    double best = -2;
    for (std::size_t branch = 0; branch < probability.size(); ++branch) {
        const double margin = quantile() - (1 - drifted(probability[branch], shift));
        if (margin > 0) mask |= std::uint64_t{1} << branch;
        if (margin > best) {
            best = margin;
            closest = branch;
        }
    }
    return mask != 0 ? mask : std::uint64_t{1} << closest;
}

/// The drift's part of the tilt leaves the quantile's so much room that the two never exceed 1.
double tilt_of(double quantile, double shift) {
    const double drift = 4 * shift;
    return drift + (1 - std::abs(drift)) * (2 * quantile - 1);
}

/// How many samples of a batch each branch of a switch has taken, where that is limited.
class BranchLoads {
public:
    BranchLoads(const SwitchRoutes& routes, unsigned branches) : routes_(routes), taken_(branches) {}

    /// What of the decision has room, and what is drawn in place of the rest.
    std::uint64_t admit(std::uint64_t mask, RandomSource& random) {
        if (routes_.capacity == 0) return mask;
        std::uint64_t result = 0;
        unsigned refused = 0;
        for (unsigned branch = 0; branch < taken_.size(); ++branch) {
            if ((mask >> branch & 1) == 0) continue;
            if (taken_[branch] < routes_.capacity)
                take(branch, result);
            else
                ++refused;
        }
        for (; routes_.next_best && refused > 0; --refused) redraw(result, random);
        return result;
    }

private:
    void take(unsigned branch, std::uint64_t& result) {
        ++taken_[branch];
        result |= std::uint64_t{1} << branch;
    }
    bool has_room(unsigned branch, std::uint64_t result) const {
        return taken_[branch] < routes_.capacity && (result >> branch & 1) == 0;
    }
    /// One of the branches with room, by their probabilities, alike if these are all 0; none if none has room.
    void redraw(std::uint64_t& result, RandomSource& random) {
        double sum = 0;
        std::vector<unsigned> open;
        for (unsigned branch = 0; branch < taken_.size(); ++branch) {
            if (!has_room(branch, result)) continue;
            open.push_back(branch);
            sum += routes_.probability[branch];
        }
        if (open.empty()) return;
        double left = random.uniform() * (sum > 0 ? sum : static_cast<double>(open.size()));
        unsigned chosen = open.back();
        for (const unsigned branch : open) {
            left -= sum > 0 ? routes_.probability[branch] : 1;
            if (left >= 0) continue;
            chosen = branch;
            break;
        }
        take(chosen, result);
    }

    const SwitchRoutes& routes_;
    std::vector<std::uint32_t> taken_;
};

}  // namespace

RouteGenerator::RouteGenerator(RouteDistribution distribution, std::vector<SwitchSignature> switches,
                               std::uint32_t batch_samples)
    : distribution_(std::move(distribution)), switches_(std::move(switches)), batch_samples_(batch_samples) {
    for (std::size_t id = 0; id < switches_.size(); ++id) {
        const std::uint64_t room = std::uint64_t{distribution_.switches[id].capacity} * switches_[id].branches;
        if (room > 0 && room < batch_samples_ && switches_[id].exclusive)
            throw InputError("routing", 0, switches_[id].name + ".capacity",
                             no_room(switches_[id].branches, distribution_.switches[id].capacity, batch_samples_));
        draws_numbers_ |= distribution_.switches[id].by == RoutedBy::hash && !distribution_.numbers.empty();
    }
    double sum = 0;
    for (const double probability : distribution_.numbers) cumulative_numbers_.push_back(sum += probability);
}

BatchRouting RouteGenerator::batch(std::uint64_t index) const {
    RandomSource random(distribution_.seed, index);
    const std::uint32_t period = distribution_.drift_period_batches;
    const double shift =
        distribution_.drift_amplitude * std::sin(2 * M_PI * static_cast<double>(index % period) / period);
    const Blend within_sample(distribution_.correlation), within_input(distribution_.input_correlation),
        within_batch(distribution_.batch_correlation);
    const bool folded = distribution_.input_samples > 1 && distribution_.input_correlation > 0;

    BatchRouting routing;
    routing.samples = batch_samples_;
    routing.masks.assign(switches_.size(), std::vector<std::uint64_t>(batch_samples_, 0));
    const bool alike = distribution_.batch_correlation > 0;
    const double batch_difficulty = alike ? random.normal() : 0;
    double input_difficulty = 0;
    std::uint64_t task = 0;  // as a mask
    std::vector<BranchLoads> loads;
    for (std::size_t id = 0; id < switches_.size(); ++id)
        loads.emplace_back(distribution_.switches[id], switches_[id].branches);
    std::vector<unsigned> agreed(switches_.size());  // labels in a row that are the same, up to each switch
    for (std::uint32_t sample = 0; sample < batch_samples_; ++sample) {
        if (folded && sample % distribution_.input_samples == 0) input_difficulty = random.normal();
        if (!distribution_.tasks.empty() && sample % distribution_.input_samples == 0)
            task = choose_one(random.uniform(), distribution_.tasks, 0);
        std::uint64_t number = index * batch_samples_ + sample;
        if (draws_numbers_)
            number = static_cast<std::uint64_t>(
                std::upper_bound(cumulative_numbers_.begin(), cumulative_numbers_.end() - 1, random.uniform()) -
                cumulative_numbers_.begin());
        const double own = random.normal();
        const double single = folded ? within_input(input_difficulty, own) : own;
        const double difficulty = alike ? within_batch(batch_difficulty, single) : single;
        const auto quantile = [&] { return quantile_of(within_sample(difficulty, random.normal())); };
        for (std::size_t id = 0; id < switches_.size(); ++id) {
            const SwitchSignature& item = switches_[id];
            const SwitchRoutes& routes = distribution_.switches[id];
            const auto parent = static_cast<std::size_t>(item.parent);
            if (item.parent >= 0 && (routing.masks[parent][sample] >> item.parent_branch & 1) == 0) continue;
            std::uint64_t& mask = routing.masks[id][sample];
            if (routes.by == RoutedBy::hash) {
                mask = std::uint64_t{1} << hashed_branch(number, routes.hash_seed, item.branches);
            } else if (routes.by == RoutedBy::task) {
                mask = task;
            } else if (routes.patience > 0) {
                const bool follows = item.parent >= 0 && distribution_.switches[parent].patience > 0;
                const bool agrees = follows && quantile() < drifted(routes.agreement, shift);
                agreed[id] = agrees ? agreed[parent] + 1 : 0;
                mask = agreed[id] >= routes.patience ? 2 : 1;
            } else if (item.exclusive) {
                mask = choose_one(quantile(), routes.probability, shift);
            } else if (routes.fixed_count) {
                const double tilt = tilt_of(quantile(), shift);
                mask = fixed_size_sample(tilted(routes.probability, tilt), [&] { return random.uniform(); });
            } else {
                mask = choose_any(quantile, routes.probability, shift);
            }
            mask = loads[id].admit(mask, random);
        }
    }
    return routing;
}

}  // namespace switchyard::sched
