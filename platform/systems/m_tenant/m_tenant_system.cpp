// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/batch_report.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/network_work.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/m_tenant/m_tenant.h"

namespace switchyard::platform {

namespace {

/// Throws InputError: an unknown key among those of the tenants, or a value out of range.
TenantConfig tenants_of(const Point& point) {
    std::map<std::string, std::string> overrides = section_overrides(point.parameters, kTenantSection);
    return read_tenant_config(section_file(point.parameters), overrides);
}

/// The tenants' schedule depends on the routes of each batch, so that nothing is prepared.
class TenantPlan : public Plan {
public:
    explicit TenantPlan(const Point& point)
        : platform_(read_platform(point.platform, point.overrides)),
          tenants_(tenants_of(point)),
          work_(read_network_work(point)) {}

    bool depends_on_seed() const override { return work_.routes.source.kind == sched::kGenerator; }
    nlohmann::ordered_json run() override {
        return run_m_tenant(work_.model.graph, work_.routes.batches, work_.routes.source, platform_, tenants_);
    }

private:
    PlatformConfig platform_;
    TenantConfig tenants_;
    NetworkWork work_;
};

class TenantSystem : public System {
public:
    std::string name() const override { return "m_tenant"; }
    std::string platform_system() const override { return "adyna"; }
    std::string summary() const override {
        return "the chip of tiles run like Planaria: operators are tenants, all tensors travel through HBM";
    }
    std::vector<SystemDesign> designs() const override {
        std::vector<std::string> keys = names_in_section(tenant_keys());
        keys.insert(keys.begin(), kFileParameter);
        return {{"m-tenant", keys, kTenantSection, true, all_work_keys()}};
    }
    void check_parameters(const Point& point) const override {
        System::check_parameters(point);
        tenants_of(point);
    }
    void check_workload(const Point& point) const override { sched::read_model(point.workload); }
    void check_platform(const Point& point) const override { read_platform(point.platform, point.overrides); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<TenantPlan>(point);
    }
    std::string table(const nlohmann::ordered_json& report) const override { return batch_table(report); }
    std::string parameters_markdown() const override {
        return section_markdown(kTenantSection, "the multi-tenant chip beside its platform file", tenant_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_m_tenant_system() {
    return std::make_unique<TenantSystem>();
}

}  // namespace switchyard::platform
