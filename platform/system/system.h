// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::platform {

class BatchGate;
class ElaboratedRun;

/// The most batches of a run.
inline constexpr std::uint64_t kMaxBatches = 1000000;

/// From batch `from_batch` on, routes come from the distribution in `routing`, a section `routing` of a model file.
struct RoutePhase {
    std::size_t from_batch = 0;
    sched::MappingReader routing;
};

/// What arrives at run time: batches of a network, with their routes.
struct Work {
    std::size_t batches = 0;            ///< 0: all of the trace, or sched::kGeneratedBatches
    std::size_t first_batch = 0;        ///< number of the first batch, of a trace or a generator
    std::uint32_t batch_inputs = 0;     ///< model inputs a batch; 0: the model's own number
    std::optional<std::uint64_t> seed;  ///< of all generators during the run; without effect on a trace
    std::string trace;                  ///< recorded routes in place of what the model declares; empty: the model's own
    /// In place of what the model declares, by increasing `from_batch`; what comes before the first is the model's own.
    std::vector<RoutePhase> phases;
};

/// What a Work may say of its batches, in the order of Work. A design takes some of these keys.
enum class WorkKey { batches, first_batch, batch_size, seed, trace, phases };
/// "batch_size", as files have it; the options of `sy-sim run` are called alike.
const char* name_of(WorkKey key);
/// The keys that the work sets, in the order of the enumeration.
std::vector<WorkKey> keys_of(const Work& work);
/// All of them: designs on networks whose samples take routes.
const std::vector<WorkKey>& all_work_keys();

/// One design with its work: everything that a result depends on.
struct Point {
    std::string design;                             ///< a name in the registry
    std::string workload;                           ///< file of the network; empty if the system makes its own load
    std::string platform;                           ///< platform file; empty: the design's defaults, if it has such
    std::map<std::string, std::string> overrides;   ///< of the platform's keys, as `--set` has them
    std::map<std::string, std::string> parameters;  ///< of the design
    Work work;
};

/// A design of a system, as the registry lists it.
struct SystemDesign {
    std::string name;
    std::vector<std::string> parameters;  ///< keys without a dot
    /// Keys of this section of `--set` are parameters, "gpu.launch_us" is `launch_us`; empty: all are of the platform.
    std::string section{};
    /// False: the platform is the file of the parameter `file`, with that section only, and may be left out.
    bool reads_platform = true;
    /// What it takes of a Work. The rest would be without effect, and is refused (SystemRegistry::refusal()).
    std::vector<WorkKey> work{};
};

/// A parameter that a point sets and that has no effect on it.
struct UnusedParameter {
    std::string name;
    std::string why;  ///< "goes with pattern strided"
};

/// A point made ready: compiled, placed or scheduled, whatever the system does before anything runs.
class Plan {
public:
    Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    virtual ~Plan() = default;

    /// What the plan costs, with units in the names: {"image_bytes": 40960}. An empty object if nothing is prepared.
    virtual nlohmann::ordered_json cost() const;

    /// Another seed of the work may have another result. False if nothing is drawn: a recorded trace, a static network.
    virtual bool depends_on_seed() const { return true; }

    /// Elaborates the model, runs the point's work and returns the report of docs/report_format.md, or of it what the
    /// model can say; counters and checks are in it. The experiment runner reads `ok` (true if it is missing),
    /// `conservation`, `validation` and what an experiment's figures name.
    ///
    /// At most once a process, because SystemC elaborates once. Throws InputError, ModelError, sc_core::sc_report, and
    /// std::runtime_error that lists what waits for what if the simulation makes no progress.
    virtual nlohmann::ordered_json run() = 0;

    /// Elaborates the model among others, in place of run(): the caller starts the simulation, and `gate` lets each
    /// batch begin. `prefix` begins the names of its modules. Null: the system's models are simulated by themselves
    /// only. `gate` and the plan must outlive what is returned. Throws InputError.
    virtual std::unique_ptr<ElaboratedRun> elaborate(const std::string& prefix, BatchGate& gate);
};

/// One of the systems of this library: a policy and a composition of components. Nothing else of it is known outside
/// its folder. docs/adding_a_system.md shows a small one.
class System {
public:
    System() = default;
    System(const System&) = delete;
    System& operator=(const System&) = delete;
    virtual ~System() = default;

    virtual std::string name() const = 0;
    /// The value of the key `system` in platform files of its designs.
    virtual std::string platform_system() const { return name(); }
    /// One line for people.
    virtual std::string summary() const = 0;
    virtual std::vector<SystemDesign> designs() const = 0;
    /// The system makes its load itself: its points have neither workload nor platform file.
    virtual bool makes_its_load() const { return false; }

    /// "" or what is wrong with one parameter of one of its designs by itself.
    virtual std::string parameter_error(const std::string& design, const std::string& key,
                                        const std::string& value) const;
    /// Throws InputError for parameters that are wrong or do not go together. Reads no workload.
    virtual void check_parameters(const Point& point) const;
    /// Parameters that have no effect beside the others. The parameters are right by themselves.
    virtual std::vector<UnusedParameter> unused_parameters(const Point& point) const;
    /// Throw InputError for whatever is wrong with the file. Unless the system makes its load.
    virtual void check_workload(const Point& point) const;
    virtual void check_platform(const Point& point) const;

    /// Throws InputError for whatever is wrong with the files, Infeasible if the work does not fit the platform. The
    /// point and the system must outlive the plan.
    virtual std::unique_ptr<Plan> prepare(const Point& point) const = 0;

    /// A report of Plan::run() for people.
    virtual std::string table(const nlohmann::ordered_json& report) const = 0;
    /// Keys of the designs' own parameters, as a Markdown section; empty if there are none.
    virtual std::string parameters_markdown() const { return ""; }

protected:
    /// The design's entry in designs(), which must be there.
    SystemDesign design(const std::string& design_name) const;
};

}  // namespace switchyard::platform
