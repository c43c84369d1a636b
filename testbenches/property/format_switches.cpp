// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/testbenches/property/format_layers.h"

namespace switchyard::testing {

void FormatSwitches::declare(const std::string& name, const std::string& routes) {
    routes_.push_back(fmt::format("    {}: {}", name, routes));
}

std::string FormatSwitches::exclusive_routes(unsigned branches) {
    if (random_.chance(0.2)) return fmt::format("zipf: {:.3f}", random_.uniform(0, 3));
    return fmt::format("probability: [{}]", fmt::join(random_shares(random_, branches), ", "));
}

std::string FormatSwitches::any_routes(unsigned branches) {
    if (random_.chance(0.4))
        return fmt::format("keep: {}, zipf: {:.3f}", random_.integer(1, branches), random_.uniform(0, 2));
    std::vector<std::string> each;
    for (unsigned i = 0; i < branches; ++i) each.push_back(fmt::format("{:.3f}", random_.uniform(0.002, 0.998)));
    return fmt::format("probability: [{}]", fmt::join(each, ", "));
}

/// Steps at the end of a gate that the decision sees through; `relu_alone`: the threshold must not be negative.
std::string FormatSwitches::gate_steps(bool relu_alone) {
    const std::string steps = relu_alone
                                  ? random_.choose<std::string>({"", "bias", "sigmoid", "bias, sigmoid"})
                                  : random_.choose<std::string>({"", "bias", "softmax", "bias, softmax", "relu"});
    return random_.chance(0.15) ? "norm" + (steps.empty() ? "" : ", " + steps) : steps;
}

std::string FormatSwitches::exclusive_router(const std::string& name, unsigned branches, bool inside, bool& by_number) {
    const double kind = random_.uniform();
    if (!layers_.values() && !inside && kind < 0.25) {
        by_number = true;
        const unsigned wanted = task_branches_ == 0 ? branches : task_branches_;
        if (random_.chance(0.5) && wanted == branches) {
            task_branches_ = branches;
            return fmt::format("router: {{kind: task, branches: {}}}", branches);
        }
        hashes_ = true;
        return fmt::format("router: {{kind: hash, branches: {}, seed: {}}}", branches, random_.integer(0, 1000));
    }
    if (!layers_.values() && kind < 0.45) {
        const unsigned capacity = (batch_samples_ + branches - 1) / branches * random_.integer(1, 2);
        declare(name, fmt::format("{{{}}}", exclusive_routes(branches)));
        return fmt::format("router: {{kind: top_k, branches: {}, capacity: {}, drop: next_best}}", branches, capacity);
    }
    declare(name, fmt::format("{{{}}}", exclusive_routes(branches)));
    return fmt::format("router: {{kind: {}, branches: {}}}", random_.chance(0.5) ? "switch" : "top_k", branches);
}

std::string FormatSwitches::any_router(const std::string& name, unsigned branches) {
    if (!layers_.values() && random_.chance(0.5)) {
        const unsigned k = random_.integer(1, branches);
        const bool drops = k == 1 || random_.chance(0.5);
        const unsigned capacity = random_.integer(1, batch_samples_);
        declare(name, fmt::format("{{keep: {}, zipf: {:.2f}}}", k, random_.uniform(0, 2)));
        return fmt::format("router: {{kind: top_k, branches: {}, k: {}{}}}", branches, k,
                           drops ? fmt::format(", capacity: {}", capacity) : "");
    }
    declare(name, fmt::format("{{{}}}", any_routes(branches)));
    return fmt::format("router: {{kind: threshold, branches: {}, threshold: 0.25}}", branches);
}

std::string FormatSwitches::on(const Tensor& data, unsigned branches, SwitchKind kind, bool inside) {
    const bool exclusive = kind == SwitchKind::exclusive;
    std::string keys, gate;
    gate_.clear();
    bool by_number = false;
    if (random_.chance(0.3)) {
        const std::string name = layers_.fresh("switch");
        keys = exclusive ? exclusive_router(name, branches, inside, by_number) : any_router(name, branches);
        if (!by_number) gate = gate_ = layers_.gate(data, branches, gate_steps(!exclusive), layers_.values());
        const std::string cell = random_.chance(0.5) ? ", cell: {dims: [0, 1], shape: [1, 1]}" : "";
        layers_.add_switch(fmt::format("name: {}, kind: switch, from: {}{}, {}{}", name, data.name,
                                       gate.empty() ? "" : ", gate: " + gate, keys, cell));
        return name;
    }
    const unsigned outputs = exclusive && branches == 2 && random_.chance(0.7) ? 1 : branches;
    const bool compared = outputs == 1 || !exclusive;
    const std::string steps = gate_steps(compared);
    gate = gate_ = layers_.gate(data, outputs, steps, true);
    const std::string name = layers_.fresh("switch");
    const std::string threshold =
        compared && random_.chance(0.3) ? fmt::format(", threshold: {:.3f}", random_.uniform(0.05, 0.95)) : "";
    layers_.add_switch(fmt::format("name: {}, kind: switch, from: {}, gate: {}, branches: {}, choose: {}{}", name,
                                   data.name, gate, branches, exclusive ? "one" : "any", threshold));
    std::string routes = exclusive ? exclusive_routes(branches) : any_routes(branches);
    if (!layers_.values() && exclusive && random_.chance(0.1)) routes = "by: hash, hash_seed: 3", hashes_ = true;
    if (!exclusive && random_.chance(0.1)) routes += fmt::format(", capacity: {}", random_.integer(1, batch_samples_));
    declare(name, fmt::format("{{{}}}", routes));
    return name;
}

std::string FormatSwitches::with_patience(const Tensor& data, unsigned patience, unsigned labels) {
    const std::string gate = layers_.gate(data, labels, random_.chance(0.5) ? "softmax" : "", true);
    const std::string name = layers_.fresh("switch");
    layers_.add_switch(
        fmt::format("name: {}, kind: switch, from: {}, gate: {}, patience: {}", name, data.name, gate, patience));
    declare(name, fmt::format("{{patience: {}, agreement: {:.3f}}}", patience, random_.uniform(0.2, 0.95)));
    return name;
}

std::string FormatSwitches::routing() {
    std::string text = fmt::format("routing:\n  seed: {}\n  correlation: {:.2f}\n", random_.integer(1, 1'000'000),
                                   random_.chance(0.5) ? 0 : random_.uniform());
    if (routes_.empty() && task_branches_ == 0 && !hashes_) return "";
    if (layers_.folded()) text += fmt::format("  input: {{correlation: {:.2f}}}\n", random_.uniform());
    if (random_.chance(0.2)) text += fmt::format("  batch: {{correlation: {:.2f}}}\n", random_.uniform());
    if (random_.chance(0.3))
        text += fmt::format("  drift: {{amplitude: {:.2f}, period_batches: {}}}\n", random_.uniform(0, 0.24),
                            random_.integer(2, 20));
    if (hashes_ && random_.chance(0.5))
        text += fmt::format("  numbers: {{count: {}, zipf: {:.1f}}}\n", random_.log_integer(1, 65536),
                            random_.uniform(0, 2));
    if (task_branches_ > 0 && random_.chance(0.5))
        text += fmt::format("  tasks: {{zipf: {:.1f}}}\n", random_.uniform(0, 2));
    if (!routes_.empty()) text += fmt::format("  switches:\n{}\n", fmt::join(routes_, "\n"));
    return text;
}

}  // namespace switchyard::testing
