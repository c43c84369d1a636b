// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/cell_router.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::sched {

std::uint64_t CellAnnotation::extent(const std::vector<std::uint64_t>& tensor, std::size_t dim) const {
    if (shape.size() == tensor.size()) return shape[dim];
    const auto found = std::find(dims.begin(), dims.end(), dim);
    return found == dims.end() ? tensor[dim] : shape.at(static_cast<std::size_t>(found - dims.begin()));
}

std::uint64_t CellAnnotation::cells_of(const std::vector<std::uint64_t>& tensor) const {
    if (shape.size() != tensor.size() && shape.size() != dims.size())
        throw InputError(
            fmt::format("cell: expected a shape of {} sizes, one for each dimension of the tensor, or of {}, one for "
                        "each in dims, found {}",
                        tensor.size(), dims.size(), shape.size()));
    std::uint64_t cells = 1;
    for (const std::size_t dim : dims)
        if (dim >= tensor.size())
            throw InputError(fmt::format("cell: expected one of the {} dimensions of the tensor, from 0 on, found {}",
                                         tensor.size(), dim));
    for (std::size_t dim = 0; dim < tensor.size(); ++dim) {
        const std::uint64_t size = extent(tensor, dim);
        const bool counts = std::find(dims.begin(), dims.end(), dim) != dims.end();
        if (!counts && size != tensor[dim])
            throw InputError(fmt::format("cell: expected {}, all of dimension {}, which dims does not name, found {}",
                                         tensor[dim], dim, size));
        if (size == 0 || tensor[dim] % size != 0)
            throw InputError(fmt::format("cell: expected a divisor of {}, the size of dimension {}, found {}",
                                         tensor[dim], dim, size));
        cells *= tensor[dim] / size;
    }
    return cells;
}

std::uint64_t CellAnnotation::cell_of(const std::vector<std::uint64_t>& tensor,
                                      const std::vector<std::uint64_t>& element) const {
    std::uint64_t cell = 0;
    for (const std::size_t dim : dims)
        cell = cell * (tensor[dim] / extent(tensor, dim)) + element[dim] / extent(tensor, dim);
    return cell;
}

CellAnnotation read_cell(MappingReader cell) {
    CellAnnotation annotation;
    const auto whole = [&](const char* key, double low) {
        std::vector<std::uint64_t> values;
        for (const double value : cell.numbers(key, low, 1e9)) {
            if (value != std::floor(value)) cell.fail(key, fmt::format("expected integers, found {}", value));
            values.push_back(static_cast<std::uint64_t>(value));
        }
        if (values.empty()) cell.fail(key, "expected one number or more, found none");
        return values;
    };
    for (const std::uint64_t dim : whole("dims", 0)) {
        if (std::count(annotation.dims.begin(), annotation.dims.end(), dim) > 0)
            cell.fail("dims", fmt::format("expected each dimension once, found {} twice", dim));
        annotation.dims.push_back(dim);
    }
    annotation.shape = whole("shape", 1);
    if (annotation.shape.size() < annotation.dims.size())
        cell.fail("shape", fmt::format("expected {} sizes or more, one for each dimension in dims, found {}",
                                       annotation.dims.size(), annotation.shape.size()));
    cell.finish();
    return annotation;
}

namespace {

/// By CellRouter::Kind.
constexpr const char* kKinds[] = {"top_k", "threshold", "switch", "hash", "task"};

}  // namespace

const char* to_string(CellRouter::Kind kind) {
    return kKinds[static_cast<unsigned>(kind)];
}

CellRouter read_cell_router(MappingReader router) {
    CellRouter r;
    const std::vector<std::string> names(std::begin(kKinds), std::end(kKinds));
    const std::string kind = router.choice_or("kind", names);
    r.kind = static_cast<CellRouter::Kind>(std::find(names.begin(), names.end(), kind) - names.begin());
    r.branches = router.integer("branches", 1, 65536);
    if (r.kind == CellRouter::Kind::top_k) r.k = router.integer_or("k", 1, r.branches, 1);
    if (r.kind == CellRouter::Kind::threshold) r.threshold = router.number_or("threshold", -1e9, 1e9, 0.5);
    if (r.kind == CellRouter::Kind::hash)
        r.hash_seed = router.integer_or("seed", 0, std::numeric_limits<std::uint32_t>::max(), 1);
    if (router.has("capacity")) r.capacity = router.integer("capacity", 1, 1ull << 40);
    if (router.choice_or("drop", {"drop", "next_best"}) == "next_best") r.drop = CellRouter::Drop::next_best;
    router.finish();
    return r;
}

namespace {

/// The finaliser of SplitMix64 (Steele et al., OOPSLA 2014).
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace

bool routes_by_number(const CellRouter& router) {
    return router.kind == CellRouter::Kind::hash || router.kind == CellRouter::Kind::task;
}

std::size_t hashed_branch(std::uint64_t number, std::uint64_t seed, std::size_t branches) {
    return static_cast<std::size_t>(mixed(number ^ (seed << 32)) % branches);
}

CellRoutes route_cells(const CellRouter& router, const std::vector<std::vector<double>>& scores,
                       const std::vector<std::uint64_t>& ids) {
    using Kind = CellRouter::Kind;
    if (router.branches == 0) throw InputError("router: expected one branch or more, found none");
    const bool by_id = routes_by_number(router);
    const std::size_t cells = by_id ? ids.size() : scores.size();
    std::vector<std::uint64_t> loads(router.branches);
    CellRoutes routes(cells);
    std::vector<std::size_t> order(router.branches);
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::iota(order.begin(), order.end(), 0);
        std::size_t wanted = 1;
        if (by_id) {
            const std::uint64_t first =
                router.kind == Kind::task ? ids[cell] : hashed_branch(ids[cell], router.hash_seed, router.branches);
            if (first >= router.branches)
                throw InputError(fmt::format("cell {}: expected a task of 0 to {}, one a branch, found {}", cell,
                                             router.branches - 1, first));
            std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
        } else {
            const std::vector<double>& score = scores[cell];
            if (score.size() != router.branches)
                throw InputError(fmt::format("cell {}: expected {} scores, one a branch, found {}", cell,
                                             router.branches, score.size()));
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
            if (router.kind == Kind::top_k) wanted = router.k;
            if (router.kind == Kind::threshold)
                wanted = static_cast<std::size_t>(
                    std::count_if(score.begin(), score.end(), [&](double s) { return s >= router.threshold; }));
        }
        for (std::size_t i = 0; i < order.size() && routes[cell].size() < wanted; ++i) {
            if (router.drop == CellRouter::Drop::drop && i >= wanted) break;
            if (router.capacity != 0 && loads[order[i]] >= router.capacity) continue;
            ++loads[order[i]];
            routes[cell].push_back(order[i]);
        }
    }
    return routes;
}

std::vector<std::uint64_t> loads_of(const CellRoutes& routes, std::size_t branches) {
    std::vector<std::uint64_t> loads(branches);
    for (const std::vector<std::size_t>& taken : routes)
        for (const std::size_t branch : taken) ++loads.at(branch);
    return loads;
}

CellProfile::CellProfile(Level level, std::vector<std::size_t> branches)
    : level_(level), branches_(std::move(branches)) {
    if (branches_.empty() || std::count(branches_.begin(), branches_.end(), 0u) > 0)
        throw InputError(fmt::format("profile: expected one router or more, each with one branch or more, found {}",
                                     branches_.empty() ? "no router" : "one without a branch"));
    for (std::size_t r = 0; r < branches_.size(); ++r) {
        loads_.emplace_back(branches_[r]);
        if (r + 1 < branches_.size() && level_ != Level::loads) moved_.emplace_back(branches_[r] * branches_[r + 1]);
    }
}

void CellProfile::add(const std::vector<CellRoutes>& batch) {
    if (batch.size() != routers())
        throw InputError(
            fmt::format("profile: expected decisions of {} routers, found those of {}", routers(), batch.size()));
    for (std::size_t r = 0; r < routers(); ++r) {
        if (batch[r].size() != batch[0].size())
            throw InputError(fmt::format("profile: router {}: expected {} cells, as at the first router, found {}", r,
                                         batch[0].size(), batch[r].size()));
        const std::vector<std::uint64_t> loads = loads_of(batch[r], branches_[r]);
        for (std::size_t b = 0; b < branches_[r]; ++b) {
            loads_[r][b].push_back(loads[b]);
            updates_ += loads[b];
            recorded_ += loads[b];
        }
        if (r == 0 || level_ == Level::loads) continue;
        for (std::size_t cell = 0; cell < batch[r].size(); ++cell)
            for (const std::size_t from : batch[r - 1][cell])
                for (const std::size_t to : batch[r][cell]) {
                    ++moved_[r - 1][from * branches_[r] + to];
                    ++updates_;
                }
    }
    if (level_ == Level::decisions) decisions_.push_back(batch);
    ++batches_;
}

std::uint64_t CellProfile::load_percentile(std::size_t router, double percentile) const {
    std::vector<std::uint64_t> loads;
    for (const std::vector<std::uint64_t>& branch : loads_.at(router))
        for (const std::uint64_t load : branch)
            if (load > 0) loads.push_back(load);
    if (loads.empty()) return 0;
    std::sort(loads.begin(), loads.end());
    const double rank = std::ceil(percentile * static_cast<double>(loads.size()));
    return loads[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(loads.size()))) - 1];
}

std::uint64_t CellProfile::moved(std::size_t router, std::size_t from, std::size_t to) const {
    if (level_ == Level::loads)
        throw InputError("profile: expected level correlation or decisions for cells between branches, found loads");
    return moved_.at(router).at(from * branches_.at(router + 1) + to);
}

std::uint64_t CellProfile::bytes() const {
    std::uint64_t words = 0;
    for (std::size_t r = 0; r < routers(); ++r) words += branches_[r] * batches_;
    if (level_ != Level::loads)
        for (const std::vector<std::uint64_t>& counts : moved_) words += counts.size();
    if (level_ == Level::decisions) words += recorded_;
    return 4 * words;
}

}  // namespace switchyard::sched
