// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/dynn_offload/partition.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::dynn_offload {

namespace {

using sched::TensorId;
using sched::TrainingStream;
constexpr std::uint32_t kNever = sched::kNoOperator;

/// The storages of each operator, one list behind the other, so that they are looked up once.
class Operands {
public:
    explicit Operands(const TrainingStream& stream) : stream_(stream), seen_(stream.tensors.size(), kNever) {
        for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
            first_.push_back(ids_.size());
            const std::vector<TensorId> storages = stream.storages(i);
            ids_.insert(ids_.end(), storages.begin(), storages.end());
        }
        first_.push_back(ids_.size());
        written_.assign(stream.tensors.size(), {});
        released_.resize(stream.operators.size());
        for (TensorId id = 0; id < stream.tensors.size(); ++id)
            if (!stream.tensors[id].is_view() && stream.tensors[id].released_after != kNever)
                released_[stream.tensors[id].released_after].push_back(id);
        for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
            for (const TensorId id : stream.operators[i].writes) written_[stream.storage_of(id)].push_back(i);
            for (const TensorId id : stream.operators[i].in_place) written_[stream.storage_of(id)].push_back(i);
        }
    }

    ExecutionBlock block(std::uint32_t first, std::uint32_t end) {
        ExecutionBlock made;
        made.first = first;
        made.operators = end - first;
        begin(first);
        for (std::uint32_t i = first; i < end; ++i) {
            made.ns += stream_.operators[i].ns;
            run(i, [&](TensorId id) { made.needed.push_back(id); });
        }
        made.needed_bytes = peak();
        std::sort(made.needed.begin(), made.needed.end());
        for (const TensorId id : made.needed) {
            const std::uint32_t producer = stream_.tensors[id].producer;
            if (producer != kNever && producer >= first) continue;
            made.fetched.push_back(id);
            made.fetched_bytes += stream_.tensors[id].bytes;
        }
        return made;
    }

    /// End of the longest block from `first` on whose storages have at most `bytes`; at least one operator.
    std::uint32_t fill(std::uint32_t first, std::uint64_t bytes) {
        begin(first);
        const auto operators = static_cast<std::uint32_t>(stream_.operators.size());
        for (std::uint32_t i = first; i < operators; ++i) {
            run(i, [](TensorId) {});
            if (peak() > bytes && i > first) return i;
        }
        return operators;
    }

    bool written_in(TensorId id, const ExecutionBlock& block) const {
        const std::vector<std::uint32_t>& list = written_[id];
        const auto found = std::lower_bound(list.begin(), list.end(), block.first);
        return found != list.end() && *found < block.first + block.operators;
    }

private:
    void begin(std::uint32_t first) {
        ++round_;
        begin_ = first;
        fetched_ = 0;
        made_ = max_made_ = 0;
    }
    /// Operator i joins the block; `visit(id)` for each storage that is new to it.
    template <class F>
    void run(std::uint32_t i, const F& visit) {
        for (std::size_t k = first_[i]; k < first_[i + 1]; ++k) {
            const TensorId id = ids_[k];
            if (seen_[id] == round_) continue;
            seen_[id] = round_;
            visit(id);
            const std::uint32_t producer = stream_.tensors[id].producer;
            if (producer != kNever && producer >= begin_)
                made_ += static_cast<std::int64_t>(stream_.tensors[id].bytes);
            else
                fetched_ += stream_.tensors[id].bytes;
        }
        max_made_ = std::max(max_made_, made_ + static_cast<std::int64_t>(stream_.operators[i].workspace_bytes));
        for (const TensorId id : released_[i])
            if (seen_[id] == round_) made_ -= static_cast<std::int64_t>(stream_.tensors[id].bytes);
    }
    /// Most bytes at once: what is fetched is there from the block's begin, what it makes from its producer on, and all
    /// until it is released.
    std::uint64_t peak() const { return fetched_ + static_cast<std::uint64_t>(max_made_); }

    const TrainingStream& stream_;
    std::vector<std::size_t> first_;
    std::vector<TensorId> ids_;
    std::vector<std::uint32_t> seen_;
    std::vector<std::vector<std::uint32_t>> written_;
    std::vector<std::vector<TensorId>> released_;  ///< behind each operator
    std::uint32_t round_ = 0, begin_ = 0;
    std::uint64_t fetched_ = 0;
    std::int64_t made_ = 0, max_made_ = 0;  ///< made and alive, less what was fetched and has been released
};

class Partitioner {
public:
    Partitioner(const TrainingStream& stream, const PartitionConfig& config)
        : stream_(stream), config_(config), operands_(stream) {
        for (std::uint32_t i = 0; i < stream.operators.size(); ++i) {
            const std::uint64_t bytes = operands_.block(i, i + 1).needed_bytes;
            if (bytes > config.buffer_bytes)
                throw Infeasible(
                    stream.file, 0, "",
                    fmt::format(
                        "operator {0} ({1}): expected at most the {3:.1f} MB of a buffer, found {2:.1f} MB at once", i,
                        stream.operators[i].name, static_cast<double>(bytes) * 1e-6,
                        static_cast<double>(config.buffer_bytes) * 1e-6));
        }
    }

    std::vector<ExecutionBlock> cut(const std::vector<std::uint32_t>& begins) {
        std::vector<ExecutionBlock> blocks;
        for (std::size_t i = 0; i < begins.size(); ++i)
            blocks.push_back(operands_.block(begins[i], i + 1 < begins.size() ? begins[i + 1] : size()));
        return blocks;
    }

    /// ns between the beginnings of blocks i and i + 1.
    double slot(const std::vector<ExecutionBlock>& blocks, std::size_t i) const {
        if (config_.repeated) return repeated_slot(blocks, i);
        double moved = 0;
        if (i + 1 < blocks.size()) {
            moved += static_cast<double>(missing(blocks[i + 1].fetched, blocks[i].needed));
            if (i > 0) moved += static_cast<double>(returned(blocks, i - 1, i, i + 1));
        }
        return std::max(blocks[i].ns, moved / config_.host_gb_per_s);
    }
    double repeated_slot(const std::vector<ExecutionBlock>& blocks, std::size_t i) const {
        if (blocks.size() == 1) return blocks[0].ns;
        const std::size_t next = (i + 1) % blocks.size(), before = (i + blocks.size() - 1) % blocks.size();
        // What the block before has and the next one needs stays in its half.
        const auto moved = static_cast<double>(missing(blocks[next].fetched, blocks[i].needed, blocks[before].needed) +
                                               returned(blocks, before, i, next));
        return std::max(blocks[i].ns, moved / config_.host_gb_per_s);
    }
    double first_fetch(const std::vector<ExecutionBlock>& blocks) const {
        if (blocks.empty() || config_.repeated) return 0;
        return static_cast<double>(blocks.front().fetched_bytes) / config_.host_gb_per_s;
    }
    double estimate(const std::vector<ExecutionBlock>& blocks) const {
        double ns = first_fetch(blocks);
        for (std::size_t i = 0; i < blocks.size(); ++i) ns += slot(blocks, i);
        return ns;
    }

    std::vector<std::uint32_t> filled(std::uint64_t bytes) {
        std::vector<std::uint32_t> begins;
        for (std::uint32_t first = 0; first < size(); first = operands_.fill(first, bytes)) begins.push_back(first);
        return begins;
    }

    std::vector<std::uint32_t> sentinel() {
        std::vector<std::uint32_t> best;
        double best_ns = std::numeric_limits<double>::infinity();
        std::vector<double> shares{1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.32, 0.25, 0.18, 0.125, 0.09, 0.0625};
        if (config_.share > 0) shares.assign(1, config_.share);
        for (const double share : shares) {
            const auto bytes = static_cast<std::uint64_t>(static_cast<double>(config_.buffer_bytes) * share);
            const std::vector<std::uint32_t> begins = filled(bytes);
            if (begins.size() < config_.blocks && share > 0.07 && config_.share == 0) continue;
            if (begins.size() > config_.max_blocks && !best.empty()) break;
            const double ns = estimate(cut(begins));
            if (ns >= best_ns) continue;
            best_ns = ns;
            best = begins;
        }
        return improved(best);
    }

    /// Moves each boundary by halves, quarters, ... of its blocks as long as the estimate falls.
    std::vector<std::uint32_t> improved(std::vector<std::uint32_t> begins) {
        std::vector<ExecutionBlock> blocks = cut(begins);
        const auto around = [&](std::size_t i) {
            if (config_.repeated && (i < 2 || i + 2 > blocks.size() || blocks.size() < 5)) return estimate(blocks);
            double ns = i == 1 ? first_fetch(blocks) : 0;
            for (std::size_t k = i >= 2 ? i - 2 : 0; k < std::min(i + 2, blocks.size()); ++k) ns += slot(blocks, k);
            return ns;
        };
        for (unsigned part = 2; part <= 16; part *= 2) {
            for (std::size_t i = 1; i < begins.size(); ++i) {
                for (const int direction : {-1, 1}) {
                    const ExecutionBlock before = blocks[i - 1], after = blocks[i];
                    const std::uint32_t step = (direction < 0 ? before : after).operators / part;
                    if (step == 0) continue;
                    const double old_ns = around(i);
                    const std::uint32_t begin = direction < 0 ? after.first - step : after.first + step;
                    blocks[i - 1] = operands_.block(before.first, begin);
                    blocks[i] = operands_.block(begin, after.first + after.operators);
                    const bool fits = blocks[i - 1].needed_bytes <= config_.buffer_bytes &&
                                      blocks[i].needed_bytes <= config_.buffer_bytes;
                    if (fits && around(i) < old_ns) {
                        begins[i] = begin;
                        continue;
                    }
                    blocks[i - 1] = before;
                    blocks[i] = after;
                }
            }
        }
        return begins;
    }

    /// `count` blocks of the same sum of `weight` each; what does not fit is cut in halves.
    template <class F>
    std::vector<std::uint32_t> even(unsigned count, const F& weight) {
        double total = 0, sum = 0;
        for (std::uint32_t i = 0; i < size(); ++i) total += weight(i);
        std::vector<std::uint32_t> begins{0};
        for (std::uint32_t i = 0; i + 1 < size(); ++i) {
            sum += weight(i);
            if (begins.size() < count && sum >= total * static_cast<double>(begins.size()) / count)
                begins.push_back(i + 1);
        }
        std::vector<std::uint32_t> fitting;
        for (std::size_t i = 0; i < begins.size(); ++i)
            halve(begins[i], i + 1 < begins.size() ? begins[i + 1] : size(), fitting);
        return fitting;
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(stream_.operators.size()); }

private:
    void halve(std::uint32_t first, std::uint32_t end, std::vector<std::uint32_t>& begins) {
        if (end - first > 1 && operands_.block(first, end).needed_bytes > config_.buffer_bytes) {
            const std::uint32_t middle = first + (end - first) / 2;
            halve(first, middle, begins);
            halve(middle, end, begins);
            return;
        }
        begins.push_back(first);
    }

    /// Bytes of the tensors of `wanted` that `there` and `kept` lack; all ascending.
    std::uint64_t missing(const std::vector<TensorId>& wanted, const std::vector<TensorId>& there,
                          const std::vector<TensorId>& kept = {}) const {
        std::uint64_t bytes = 0;
        auto at = there.begin(), also = kept.begin();
        for (const TensorId id : wanted) {
            while (at != there.end() && *at < id) ++at;
            while (also != kept.end() && *also < id) ++also;
            if ((at == there.end() || *at != id) && (also == kept.end() || *also != id))
                bytes += stream_.tensors[id].bytes;
        }
        return bytes;
    }
    /// Bytes of block `before` that go back to the host during the next block i: written there, alive behind it, in
    /// neither block i nor the one that follows it.
    std::uint64_t returned(const std::vector<ExecutionBlock>& blocks, std::size_t before, std::size_t i,
                           std::size_t next) const {
        std::uint64_t bytes = 0;
        const ExecutionBlock& left = blocks[before];
        const auto has = [](const ExecutionBlock& block, TensorId id) {
            return std::binary_search(block.needed.begin(), block.needed.end(), id);
        };
        for (const TensorId id : left.needed) {
            const sched::TrainingTensor& tensor = stream_.tensors[id];
            const bool alive = before > i ? tensor.producer == kNever
                                          : tensor.released_after == kNever || tensor.released_after >= blocks[i].first;
            if (alive && operands_.written_in(id, left) && !has(blocks[i], id) && !has(blocks[next], id))
                bytes += tensor.bytes;
        }
        return bytes;
    }

    const TrainingStream& stream_;
    PartitionConfig config_;
    Operands operands_;
};

ExecutionBlocks finished(Partitioner& partitioner, const std::vector<std::uint32_t>& begins) {
    ExecutionBlocks made;
    made.blocks = partitioner.cut(begins);
    for (const ExecutionBlock& block : made.blocks) made.peak_bytes = std::max(made.peak_bytes, block.needed_bytes);
    made.ns = partitioner.estimate(made.blocks);
    return made;
}

}  // namespace

const std::vector<std::string>& partition_rules() {
    static const std::vector<std::string> kNames{"sentinel", "operators", "time", "bytes"};
    return kNames;
}

PartitionRule parse_partition_rule(const std::string& name, const std::string& file, const std::string& key) {
    const std::vector<std::string>& names = partition_rules();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw InputError(file, 0, key, fmt::format("expected one of {}, found {}", fmt::join(names, ", "), name));
    return static_cast<PartitionRule>(found - names.begin());
}

ExecutionBlocks make_blocks(const sched::TrainingStream& stream, const std::vector<std::uint32_t>& begins,
                            const PartitionConfig& config) {
    Partitioner partitioner(stream, config);
    return finished(partitioner, begins);
}

ExecutionBlocks partition(const sched::TrainingStream& stream, const PartitionConfig& config) {
    Partitioner partitioner(stream, config);
    std::vector<std::uint32_t> begins;
    if (config.rule == PartitionRule::sentinel) {
        begins = partitioner.sentinel();
    } else {
        unsigned count = config.blocks;
        if (count == 0) count = static_cast<unsigned>(partitioner.sentinel().size());
        const std::vector<sched::TrainingOperator>& operators = stream.operators;
        if (config.rule == PartitionRule::operators) {
            begins = partitioner.even(count, [](std::uint32_t) { return 1.0; });
        } else if (config.rule == PartitionRule::time) {
            begins = partitioner.even(count, [&](std::uint32_t i) { return operators[i].ns; });
        } else {
            begins = partitioner.even(count, [&](std::uint32_t i) {
                double bytes = 0;
                for (const sched::TensorId id : stream.storages(i))
                    bytes += static_cast<double>(stream.tensors[id].bytes);
                return bytes;
            });
        }
    }
    return finished(partitioner, begins);
}

const ExecutionBlocks& BlockPlanner::blocks(std::uint32_t path) {
    const auto found = known_.find(path);
    if (found != known_.end()) return found->second;
    return known_.emplace(path, partition(*network_.stream(path), config_)).first->second;
}

}  // namespace switchyard::dynn_offload
