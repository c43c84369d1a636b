// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/brainstorm/exact_placement.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <glpk.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched::brainstorm {

namespace {

/// Rows of an integer programme, written one after another.
class Programme {
public:
    Programme() : problem_(glp_create_prob()) { glp_set_obj_dir(problem_.get(), GLP_MIN); }

    int add_column(int kind, double cost) {
        const int column = glp_add_cols(problem_.get(), 1);
        glp_set_col_kind(problem_.get(), column, kind);
        if (kind == GLP_CV) glp_set_col_bnds(problem_.get(), column, GLP_DB, 0, 1);
        glp_set_obj_coef(problem_.get(), column, cost);
        return column;
    }
    void fix(int column, double value) { glp_set_col_bnds(problem_.get(), column, GLP_FX, value, value); }
    /// The sum of coefficient x column against `bound`; `kind`: GLP_UP, GLP_LO or GLP_FX.
    void add_row(const std::vector<int>& columns, const std::vector<double>& coefficients, int kind, double bound) {
        const int row = glp_add_rows(problem_.get(), 1);
        glp_set_row_bnds(problem_.get(), row, kind, bound, bound);
        // GLPK counts from 1.
        std::vector<int> indices{0};
        std::vector<double> values{0};
        indices.insert(indices.end(), columns.begin(), columns.end());
        values.insert(values.end(), coefficients.begin(), coefficients.end());
        glp_set_mat_row(problem_.get(), row, static_cast<int>(columns.size()), indices.data(), values.data());
    }
    void solve(int limit_ms) {
        glp_iocp options;
        glp_init_iocp(&options);
        options.msg_lev = GLP_MSG_OFF;
        options.presolve = GLP_ON;
        options.gmi_cuts = GLP_ON;
        options.tm_lim = limit_ms;
        const int status = glp_intopt(problem_.get(), &options);
        if (status == GLP_ENOPFS || status == GLP_ENODFS || glp_mip_status(problem_.get()) == GLP_NOFEAS)
            throw InputError("no placement keeps the constraints");
        if (status != 0 || glp_mip_status(problem_.get()) != GLP_OPT)
            throw std::runtime_error(fmt::format("GLPK found no optimum in {} ms (status {})", limit_ms, status));
    }
    double value(int column) const { return glp_mip_col_val(problem_.get(), column); }

private:
    struct Delete {
        void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
    };
    std::unique_ptr<glp_prob, Delete> problem_;
};

}  // namespace

Placement exact_placement(const PlacementProblem& problem, int limit_ms) {
    if (const std::string message = validation_error(problem); !message.empty()) throw InputError(message);
    const std::size_t branches = problem.layer.size(), devices = problem.devices;
    Programme programme;
    std::vector<std::vector<int>> x(branches);
    for (std::size_t b = 0; b < branches; ++b) {
        for (std::size_t d = 0; d < devices; ++d) x[b].push_back(programme.add_column(GLP_BV, 0));
        programme.add_row(x[b], std::vector<double>(devices, 1), GLP_FX, 1);
    }
    for (std::size_t l = 0; l < problem.per_device.size(); ++l)
        for (std::size_t d = 0; d < devices; ++d) {
            std::vector<int> columns;
            for (std::size_t b = 0; b < branches; ++b)
                if (problem.layer[b] == l) columns.push_back(x[b][d]);
            if (columns.empty()) continue;
            programme.add_row(columns, std::vector<double>(columns.size(), 1), GLP_UP,
                              static_cast<double>(problem.per_device[l]));
        }
    for (const std::vector<std::size_t>& group : problem.together)
        for (std::size_t i = 1; i < group.size(); ++i)
            if (group[i] != group[0])
                for (std::size_t d = 0; d < devices; ++d)
                    programme.add_row({x[group[0]][d], x[group[i]][d]}, {1, -1}, GLP_FX, 0);
    for (const Flow& flow : problem.flows) {
        if (flow.cells == 0) continue;
        const int z = programme.add_column(GLP_CV, flow.cells);
        for (std::size_t d = 0; d < devices; ++d)
            programme.add_row({z, x[flow.from][d], x[flow.to][d]}, {1, -1, 1}, GLP_LO, 0);
    }
    // Devices are alike: the first branch may be anywhere.
    programme.fix(x[0][0], 1);
    programme.solve(limit_ms);
    Placement placement(branches);
    for (std::size_t b = 0; b < branches; ++b)
        for (std::size_t d = 0; d < devices; ++d)
            if (programme.value(x[b][d]) > 0.5) placement[b] = d;
    return placement;
}

}  // namespace switchyard::sched::brainstorm
