// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/serving.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace switchyard::sched::sushi {

Choice choose_subnet(const LatencyTable& table, const std::vector<double>& us, const Query& query,
                     Constraint constraint) {
    // The closest to the constraint, if none meets it.
    Choice choice{0, false};
    for (std::size_t s = 0; s < us.size(); ++s) {
        const bool meets =
            constraint == Constraint::latency ? us[s] <= query.latency_us : table.accuracy[s] >= query.accuracy;
        const double accuracy = table.accuracy[s], present = table.accuracy[choice.subnet];
        bool better = false;
        if (meets != choice.met)
            better = meets;
        else if (constraint == Constraint::accuracy)
            better = meets ? us[s] < us[choice.subnet] : accuracy > present;
        else if (constraint == Constraint::accuracy_alone)
            better = meets == (accuracy < present) && accuracy != present;
        else
            better = meets ? accuracy > present || (accuracy == present && us[s] < us[choice.subnet])
                           : us[s] < us[choice.subnet];
        if (better) choice = {s, meets};
    }
    return choice;
}

std::vector<double> column(const LatencyTable& table, std::size_t subgraph) {
    std::vector<double> us;
    us.reserve(table.subnets.size());
    for (const std::vector<double>& row : table.latency_us) us.push_back(row[subgraph]);
    return us;
}

std::size_t first_subgraph(const LatencyTable& table, std::size_t only) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < table.subgraphs.size(); ++g) {
        double sum = 0;
        for (std::size_t s = 0; s < table.latency_us.size(); ++s)
            if (only == 0 || only == s + 1) sum += table.latency_us[s][g];
        if (sum < least) {
            least = sum;
            best = g;
        }
    }
    return best;
}

namespace {

class FixedPolicy : public CachePolicy {
public:
    std::size_t after(std::size_t, std::size_t, std::size_t present) override { return present; }
};

/// Chooses every Q queries, with the last Q SubNets in hand.
class PeriodicPolicy : public CachePolicy {
public:
    explicit PeriodicPolicy(const CachePolicySetup& setup) : setup_(setup) {}

    std::size_t after(std::size_t query, std::size_t subnet, std::size_t present) override {
        served_.push_back(subnet);
        if (served_.size() > setup_.period) served_.pop_front();
        return (query + 1) % setup_.period == 0 ? choose(query, present) : present;
    }

protected:
    virtual std::size_t choose(std::size_t query, std::size_t present) = 0;
    /// The first SubGraph with the highest value; the present one if none is higher.
    template <class Value>
    std::size_t highest(std::size_t present, Value value) const {
        std::size_t best = present;
        double most = value(present);
        for (std::size_t g = 0; g < setup_.table->subgraphs.size(); ++g) {
            const double of_this = value(g);
            if (of_this > most) {
                most = of_this;
                best = g;
            }
        }
        return best;
    }

    CachePolicySetup setup_;
    std::deque<std::size_t> served_;
};

class NearestPolicy : public PeriodicPolicy {
public:
    explicit NearestPolicy(const CachePolicySetup& setup) : PeriodicPolicy(setup) {
        for (const SubNet& subnet : setup.supernet->subnets)
            subnets_.push_back(encode(slices_of(*setup.supernet, subnet)));
        for (const SubGraph& subgraph : setup.table->subgraphs) subgraphs_.push_back(encode(subgraph.slices));
    }

protected:
    std::size_t choose(std::size_t, std::size_t present) override {
        Encoding average(subnets_.front().size());
        for (const std::size_t subnet : served_)
            for (std::size_t i = 0; i < average.size(); ++i)
                average[i] += subnets_[subnet][i] / static_cast<double>(served_.size());
        return highest(present, [&](std::size_t g) { return -distance(average, subgraphs_[g]); });
    }

private:
    std::vector<Encoding> subnets_, subgraphs_;
};

/// Of the bytes that a SubGraph shares with SubNets: of the last one, or of the last Q.
class SharedBytesPolicy : public PeriodicPolicy {
public:
    SharedBytesPolicy(const CachePolicySetup& setup, bool last_alone) : PeriodicPolicy(setup), last_alone_(last_alone) {
        for (const SubNet& subnet : setup.supernet->subnets) {
            const std::vector<WeightSlice> slices = slices_of(*setup.supernet, subnet);
            shared_.emplace_back();
            for (const SubGraph& subgraph : setup.table->subgraphs)
                shared_.back().push_back(static_cast<double>(shared_bytes(*setup.supernet, slices, subgraph.slices)));
        }
    }

protected:
    std::size_t choose(std::size_t, std::size_t present) override {
        return highest(present, [&](std::size_t g) {
            if (last_alone_) return shared_[served_.back()][g];
            double sum = 0;
            for (const std::size_t subnet : served_) sum += shared_[subnet][g];
            return sum;
        });
    }

private:
    bool last_alone_;
    std::vector<std::vector<double>> shared_;  ///< [SubNet][SubGraph]
};

class OraclePolicy : public PeriodicPolicy {
public:
    explicit OraclePolicy(const CachePolicySetup& setup) : PeriodicPolicy(setup) {
        for (std::size_t g = 0; g < setup.table->subgraphs.size(); ++g) columns_.push_back(column(*setup.table, g));
    }

protected:
    std::size_t choose(std::size_t query, std::size_t present) override {
        const LatencyTable& table = *setup_.table;
        const std::size_t end = std::min(setup_.queries->size(), query + 1 + setup_.period);
        // A point of accuracy outweighs any time.
        double scale = 1;
        for (const std::vector<double>& us : columns_)
            for (const double value : us) scale += value;
        return highest(present, [&](std::size_t g) {
            double us = g == present ? 0 : table.fill_us[g], accuracy = 0;
            for (std::size_t q = query + 1; q < end; ++q) {
                const Choice choice = choose_subnet(table, columns_[g], (*setup_.queries)[q], setup_.constraint);
                us += columns_[g][choice.subnet];
                accuracy += table.accuracy[choice.subnet];
            }
            return (setup_.constraint == Constraint::latency ? accuracy * scale * static_cast<double>(setup_.period)
                                                             : 0) -
                   us;
        });
    }

private:
    std::vector<std::vector<double>> columns_;
};

}  // namespace

std::unique_ptr<CachePolicy> make_cache_policy(const std::string& name, const CachePolicySetup& setup) {
    if (name == "fixed") return std::make_unique<FixedPolicy>();
    if (name == "nearest") return std::make_unique<NearestPolicy>(setup);
    if (name == "lru") return std::make_unique<SharedBytesPolicy>(setup, true);
    if (name == "saved_bytes") return std::make_unique<SharedBytesPolicy>(setup, false);
    if (name == "oracle") return std::make_unique<OraclePolicy>(setup);
    throw std::invalid_argument("expected a known cache policy, found \"" + name + "\"");
}

}  // namespace switchyard::sched::sushi
