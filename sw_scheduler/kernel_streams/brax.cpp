// SPDX-License-Identifier: Apache-2.0
// A step of Brax v0.0.10 (github.com/google/brax, brax/physics/system.py): per substep a kinetic integration, the
// impulses of all joints and actuators, their sum, a potential integration, the impulses of all colliders, their sum, a
// velocity update, and the sums that the environment reads. Read there: the order and the operations of each function,
// and that joints are batched by degrees of freedom, actuators by kind of joint, colliders by the kinds of their
// shapes.
//
// Each array operation is a kernel: take (gather of the state of some bodies), a function mapped over all items
// (jp.vmap), segment_sum (scatter-add to bodies), addition of impulses. Which of them XLA fuses depends on its version;
// nothing is fused here. FLOPs are counted from the formulas of brax/math.py and the functions named below.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"

namespace switchyard::sched {

namespace {

constexpr std::uint64_t kFloat = 4;
constexpr std::uint64_t kPosition = 3, kRotation = 4, kVector = 3;  ///< floats
constexpr std::uint64_t kBodyFloats = kPosition + kRotation + 2 * kVector, kImpulseFloats = 2 * kVector;

// Operations of brax/math.py and brax/physics/{base,bodies}.py.
constexpr std::uint64_t kDot = 5, kCross = 9, kNorm = 6, kMatrixVector = 15, kQuaternionProduct = 28, kArcTangent = 20;
constexpr std::uint64_t kRotate = 40;                         ///< 2 (u.v) u + (s s - u.u) v + 2 s (u x v)
constexpr std::uint64_t kToWorld = kRotate + 3 + kCross + 6;  ///< position and velocity of a point of a body
constexpr std::uint64_t kImpulse = 3 + 3 + kCross + kMatrixVector;
constexpr std::uint64_t kSignedAngle = kCross + 2 * kDot + kArcTangent;
constexpr std::uint64_t kKinetic = 9 + 3 + 8 + kQuaternionProduct + 4 + kNorm + 6;
constexpr std::uint64_t kPotential = 24, kVelocityUpdate = 12;

constexpr std::uint64_t kAxisAngle[] = {
    0, 3 * kRotate + kSignedAngle, 6 * kRotate + kCross + 3 * kNorm + 4 * kDot + 18 + kSignedAngle + kArcTangent,
    6 * kRotate + kCross + 3 * kNorm + 4 * kDot + 18 + 2 * kSignedAngle + kArcTangent};
/// Of joints.py apply_reduced(), by degrees of freedom: offsets, spring, limits, damping.
std::uint64_t joint_flops(unsigned dof) {
    return 2 * kToWorld + 15 + 2 * kImpulse + kAxisAngle[dof] + kRotate + kCross + 3 + dof * 10 + 9 +
           2 * kMatrixVector + 6;
}
std::uint64_t actuator_flops(unsigned dof) {
    return kAxisAngle[dof] + dof * 12 + 2 * kMatrixVector;
}

struct JointKind {
    const char* key;
    unsigned dof;
};
constexpr JointKind kJointKinds[] = {{"revolute", 1}, {"universal", 2}, {"spherical", 3}};

/// colliders.py: the contact function, and _contact() of OneWayCollider or TwoWayCollider.
struct ColliderKind {
    const char* key;
    std::uint64_t contact_flops, impulse_flops;
    bool two_way;
};
constexpr ColliderKind kColliderKinds[] = {
    {"capsule_plane", 2 * kRotate + 3 + 6 + kCross + 3 + 3 + kDot,
     2 * kDot + 2 * kCross + kMatrixVector + 2 * kImpulse + 40, false},
    {"capsule_capsule", 4 * (kRotate + 6) + 4 * (3 + kDot) + 2 * (9 + 2 * kDot) + kNorm + 12 + 2 * (kCross + 6),
     2 * kDot + 4 * kCross + 2 * kMatrixVector + 4 * kImpulse + 50, true}};

struct Batch {
    std::string name;
    std::uint64_t items;  ///< joints, actuators or contacts
    unsigned kind;        ///< degrees of freedom, or index of kColliderKinds
};

struct Robot {
    std::uint64_t environments = 2048, bodies = 1, substeps = 1, steps = 1;
    bool kernel_an_item = false;
    std::vector<Batch> joints, actuators, colliders;
};

/// The state of all bodies in all environments.
struct State {
    MemorySegment position, rotation, velocity, angular;
    std::vector<MemorySegment> all() const { return {position, rotation, velocity, angular}; }
};

class BraxStep {
public:
    explicit BraxStep(const Robot& robot) : robot_(robot) {}

    std::vector<GpuKernel> generate() {
        const std::uint64_t bodies = robot_.bodies;
        State state{array(bodies * kPosition), array(bodies * kRotation), array(bodies * kVector),
                    array(bodies * kVector)};
        action_ = array(8);
        masks_ = stream_.allocate(bodies * 6 * kFloat);
        for (const auto* batches : {&robot_.joints, &robot_.actuators, &robot_.colliders})
            for (const Batch& batch : *batches) constants_.push_back(stream_.allocate(batch.items * 64 * kFloat));
        for (std::uint64_t step = 0; step < robot_.steps; ++step) {
            for (MemorySegment& sum : info_) sum = impulses();
            for (std::uint64_t i = 0; i < robot_.substeps; ++i) substep(state);
        }
        return stream_.take();
    }

private:
    MemorySegment array(std::uint64_t floats_an_environment) {
        return stream_.allocate(robot_.environments * floats_an_environment * kFloat);
    }
    MemorySegment impulses() { return array(robot_.bodies * kImpulseFloats); }

    /// A kernel with a thread an item and environment.
    void map(const std::string& name, std::uint64_t items, std::uint64_t flops_an_item,
             const std::vector<MemorySegment>& reads, const std::vector<MemorySegment>& writes) {
        const std::uint64_t threads = items * robot_.environments;
        stream_.launch(name, loop_fusion_shape(threads), flops_an_item * threads, reads, writes);
    }

    void substep(State& state) {
        const std::uint64_t bodies = robot_.bodies;
        const State moved{array(bodies * kPosition), array(bodies * kRotation), state.velocity, state.angular};
        std::vector<MemorySegment> reads = state.all();
        reads.push_back(masks_);
        map("kinetic", bodies, kKinetic, reads, {moved.position, moved.rotation});

        std::size_t constants = 0;
        const MemorySegment joints = total("joints", apply_joints(moved, constants));
        const MemorySegment actuators = total("actuators", apply_actuators(moved, constants));
        const MemorySegment both = add("impulses", joints, actuators);
        const State pushed = integrate("potential", moved, both, kPotential);

        const MemorySegment contacts = total("contacts", apply_colliders(pushed, constants));
        state = integrate("potential_collision", pushed, contacts, kVelocityUpdate);
        info_[0] = add("info_contact", info_[0], contacts);
        info_[1] = add("info_joint", info_[1], joints);
        info_[2] = add("info_actuator", info_[2], actuators);
    }

    State integrate(const char* name, const State& state, const MemorySegment& impulses, std::uint64_t flops) {
        const State next{state.position, state.rotation, array(robot_.bodies * kVector),
                         array(robot_.bodies * kVector)};
        map(name, robot_.bodies, flops, {state.velocity, state.angular, impulses, masks_},
            {next.velocity, next.angular});
        return next;
    }

    MemorySegment add(const char* name, const MemorySegment& a, const MemorySegment& b) {
        const MemorySegment sum = impulses();
        map(name, robot_.bodies, kImpulseFloats, {a, b}, {sum});
        return sum;
    }

    /// sum([...], zero): an addition for each term behind the first.
    MemorySegment total(const char* name, const std::vector<MemorySegment>& terms) {
        if (terms.empty()) return impulses();  // zero
        MemorySegment sum = terms.front();
        for (std::size_t i = 1; i < terms.size(); ++i) sum = add(name, sum, terms[i]);
        return sum;
    }

    /// The kernels of a batch: one for all its items, or one an item.
    std::vector<std::uint64_t> groups(const Batch& batch) const {
        return robot_.kernel_an_item ? std::vector<std::uint64_t>(batch.items, 1)
                                     : std::vector<std::uint64_t>{batch.items};
    }

    MemorySegment take(const std::string& name, const State& state, std::uint64_t items) {
        const MemorySegment taken = array(items * kBodyFloats);
        map(name, items, 0, state.all(), {taken});
        return taken;
    }

    MemorySegment segment_sum(const std::string& name, std::uint64_t items, std::uint64_t floats,
                              const std::vector<MemorySegment>& terms, const MemorySegment& sums) {
        map(name, items, floats, terms, {sums});
        return sums;
    }

    std::vector<MemorySegment> apply_joints(const State& state, std::size_t& constants) {
        std::vector<MemorySegment> result;
        for (const Batch& batch : robot_.joints) {
            const MemorySegment parameters = constants_.at(constants++);
            std::vector<MemorySegment> velocities, angulars;
            for (const std::uint64_t items : groups(batch)) {
                const MemorySegment parents = take(batch.name + "_take_parent", state, items);
                const MemorySegment children = take(batch.name + "_take_child", state, items);
                velocities.push_back(array(2 * items * kVector));
                angulars.push_back(array(2 * items * kVector));
                map(batch.name + "_apply", items, joint_flops(batch.kind), {parents, children, parameters},
                    {velocities.back(), angulars.back()});
            }
            result.push_back(summed(batch, 2, velocities, angulars));
        }
        return result;
    }

    std::vector<MemorySegment> apply_actuators(const State& state, std::size_t& constants) {
        std::vector<MemorySegment> result;
        for (const Batch& batch : robot_.actuators) {
            const MemorySegment parameters = constants_.at(constants++);
            std::vector<MemorySegment> angulars;
            for (const std::uint64_t items : groups(batch)) {
                const MemorySegment parents = take(batch.name + "_take_parent", state, items);
                const MemorySegment children = take(batch.name + "_take_child", state, items);
                const MemorySegment actions = array(items * batch.kind);
                map(batch.name + "_take_action", items, 0, {action_}, {actions});
                angulars.push_back(array(2 * items * kVector));
                map(batch.name + "_apply", items, actuator_flops(batch.kind), {parents, children, actions, parameters},
                    {angulars.back()});
            }
            // Actuators change no velocity: that half of the impulses stays zero.
            const MemorySegment sums = impulses();
            segment_sum(batch.name + "_sum_angular", 2 * batch.items, kVector, angulars, second_half(sums));
            result.push_back(sums);
        }
        return result;
    }

    std::vector<MemorySegment> apply_colliders(const State& state, std::size_t& constants) {
        std::vector<MemorySegment> result;
        for (const Batch& batch : robot_.colliders) {
            const ColliderKind& kind = kColliderKinds[batch.kind];
            const MemorySegment parameters = constants_.at(constants++);
            const std::uint64_t sides = kind.two_way ? 2 : 1;
            std::vector<MemorySegment> velocities, angulars;
            for (const std::uint64_t items : groups(batch)) {
                const MemorySegment first = take(batch.name + "_take_a", state, items);
                const MemorySegment second = take(batch.name + "_take_b", state, items);
                const MemorySegment contacts = array(items * 10);  // position, velocity, normal, penetration
                map(batch.name + "_contact", items, kind.contact_flops, {first, second, parameters}, {contacts});
                velocities.push_back(array(sides * items * kVector));
                angulars.push_back(array(sides * items * kVector));
                map(batch.name + "_impulse", items, kind.impulse_flops, {first, second, contacts, parameters},
                    {velocities.back(), angulars.back()});
            }
            const MemorySegment counts = array(robot_.bodies);
            segment_sum(batch.name + "_sum_contacts", sides * batch.items, 1 + kVector, velocities, counts);
            const MemorySegment sums = summed(batch, sides, velocities, angulars);
            const MemorySegment shared = impulses();
            map(batch.name + "_divide_velocity", robot_.bodies, kVector, {first_half(sums), counts},
                {first_half(shared)});
            map(batch.name + "_divide_angular", robot_.bodies, kVector, {second_half(sums), counts},
                {second_half(shared)});
            result.push_back(shared);
        }
        return result;
    }

    /// Linear and angular impulses, summed by body.
    MemorySegment summed(const Batch& batch, std::uint64_t sides, const std::vector<MemorySegment>& velocities,
                         const std::vector<MemorySegment>& angulars) {
        const MemorySegment sums = impulses();
        segment_sum(batch.name + "_sum_velocity", sides * batch.items, kVector, velocities, first_half(sums));
        segment_sum(batch.name + "_sum_angular", sides * batch.items, kVector, angulars, second_half(sums));
        return sums;
    }
    static MemorySegment first_half(const MemorySegment& s) { return {s.start, s.size / 2}; }
    static MemorySegment second_half(const MemorySegment& s) { return {s.start + s.size / 2, s.size / 2}; }

    const Robot& robot_;
    StreamBuilder stream_;
    MemorySegment action_, masks_;
    std::vector<MemorySegment> constants_;  ///< of each batch: stiffness, offsets, shapes
    MemorySegment info_[3];                 ///< contact, joint, actuator
};

std::vector<Batch> read_by_joint_kind(MappingReader counts, const char* name) {
    std::vector<Batch> batches;
    for (const JointKind& kind : kJointKinds) {
        const std::uint64_t items = counts.integer_or(kind.key, 0, 4096, 0);
        if (items > 0) batches.push_back({fmt::format("{}_{}", kind.key, name), items, kind.dof});
    }
    counts.finish();
    return batches;
}

std::vector<Batch> read_colliders(MappingReader counts) {
    std::vector<Batch> batches;
    for (unsigned i = 0; i < std::size(kColliderKinds); ++i) {
        const std::uint64_t items = counts.integer_or(kColliderKinds[i].key, 0, 4096, 0);
        if (items > 0) batches.push_back({kColliderKinds[i].key, items, i});
    }
    counts.finish();
    return batches;
}

}  // namespace

StreamGenerator read_brax(MappingReader& file) {
    Robot robot;
    robot.environments = file.integer_or("environments", 1, 1 << 20, robot.environments);
    robot.bodies = file.integer("bodies", 1, 4096);
    robot.substeps = file.integer("substeps", 1, 1024);
    robot.steps = file.integer_or("steps", 1, 1024, 1);
    robot.kernel_an_item = file.choice_or("kernels", {"batched", "item"}) == "item";
    robot.joints = read_by_joint_kind(file.mapping("joints"), "joints");
    robot.actuators = read_by_joint_kind(file.mapping("actuators"), "actuators");
    robot.colliders = read_colliders(file.mapping("contacts"));
    const auto too_many = [&](const Batch& batch) { return robot.kernel_an_item && batch.items > kMaxSegments; };
    for (const auto* batches : {&robot.joints, &robot.actuators, &robot.colliders})
        for (const Batch& batch : *batches)
            if (too_many(batch))
                file.fail("kernels", fmt::format("{}: expected at most {} items that a kernel sums, found {}",
                                                 batch.name, kMaxSegments, batch.items));
    return [robot](const StreamRequest&) { return GeneratedStream{BraxStep(robot).generate(), 0, 0}; };
}

}  // namespace switchyard::sched
