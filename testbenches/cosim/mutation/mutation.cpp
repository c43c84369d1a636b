// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/mutation/mutation.h"

#include <verilated.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "switchyard/testbenches/cosim/mutation/mutant_processes.h"

namespace {
unsigned selected_mutant = 0;
}

/// What mutation_pkg.sv imports.
extern "C" unsigned switchyard_mutant() {
    return selected_mutant;
}

namespace switchyard::testing {
namespace {

using Key = std::tuple<std::string, std::string, std::string, unsigned>;
Key key_of(const Mutant& mutant) {
    return {mutant.file, mutant.original, mutant.mutated, mutant.occurrence};
}

std::vector<std::vector<std::string>> read_table(const std::string& path, std::size_t columns) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::vector<std::string> row(1);
        for (const char c : line) {
            if (c == '\t')
                row.emplace_back();
            else
                row.back().push_back(c);
        }
        if (row.size() != columns) throw std::runtime_error(path + ": not " + std::to_string(columns) + ": " + line);
        rows.push_back(row);
    }
    return rows;
}

/// A mutant that is known to survive: `equivalent` ones cannot be told from the original.
struct Survivor {
    bool equivalent;
    bool met = false;
};

std::map<Key, Survivor> read_survivors() {
    std::map<Key, Survivor> survivors;
    for (const auto& row : read_table(SURVIVORS, 6)) {
        const std::string& verdict = row[4];
        if (verdict != "equivalent" && verdict != "open") throw std::runtime_error("survivors.tsv: " + verdict + "?");
        if (row[5].empty()) throw std::runtime_error("survivors.tsv: no reason: " + row[0] + " " + row[1]);
        survivors[{row[0], row[1], row[2], static_cast<unsigned>(std::stoul(row[3]))}] = {verdict == "equivalent"};
    }
    return survivors;
}

/// The scores as rows of a table, and the survivors as survivors.tsv would list them, less the reason.
void write_report(const std::string& block, const std::vector<MutantScore>& scores,
                  const std::vector<Mutant>& survivors) {
    std::filesystem::create_directories(MUTATION_REPORTS);
    std::ofstream list(std::string(MUTATION_REPORTS) + "/" + block + ".survivors.tsv");
    for (const Mutant& mutant : survivors)
        list << mutant.file << '\t' << mutant.original << '\t' << mutant.mutated << '\t' << mutant.occurrence << '\n';
    std::ofstream file(std::string(MUTATION_REPORTS) + "/" + block + ".md");
    for (const MutantScore& score : scores) {
        std::array<char, 32> percent{};
        std::snprintf(percent.data(), percent.size(), "%.1f", score.percent());
        file << "| " << block << " | " << score.file << " | " << score.mutants << " | " << score.killed << " | "
             << score.equivalent << " | " << score.mutants - score.killed - score.equivalent << " | " << percent.data()
             << " |\n";
    }
    if (!list.flush() || !file.flush()) throw std::runtime_error("cannot write the scores of " + block);
}

/// Numbers of mutants, both included.
struct Range {
    unsigned first, last;
};
/// Environment SWITCHYARD_MUTANTS=FIRST-LAST.
std::optional<Range> chosen_range() {
    const char* text = std::getenv("SWITCHYARD_MUTANTS");
    if (text == nullptr) return std::nullopt;
    Range range{};
    if (std::sscanf(text, "%u-%u", &range.first, &range.last) != 2)
        throw std::runtime_error(std::string("SWITCHYARD_MUTANTS is no FIRST-LAST: ") + text);
    return range;
}

}  // namespace

std::string Mutant::text() const {
    return file + ":" + std::to_string(line) + " (" + kind + " " + std::to_string(number) + ", occurrence " +
           std::to_string(occurrence) + "): " + original + "  ->  " + (mutated.empty() ? "left out" : mutated);
}

std::vector<Mutant> read_mutants(const std::string& path) {
    std::vector<Mutant> mutants;
    std::map<std::tuple<std::string, std::string, std::string>, unsigned> seen;
    for (const auto& row : read_table(path, 6)) {
        mutants.push_back({static_cast<unsigned>(std::stoul(row[0])), row[1], static_cast<unsigned>(std::stoul(row[2])),
                           row[3], row[4], row[5], ++seen[{row[1], row[4], row[5]}]});
    }
    return mutants;
}

void select_mutant(unsigned number, int registers, int seed) {
    selected_mutant = number;
    Verilated::defaultContextp()->randReset(registers);
    Verilated::defaultContextp()->randSeed(seed);
}

MutationReport run_mutants(const std::string& block, const std::vector<Mutant>& mutants, unsigned stride,
                           const MutantRegression& regression, unsigned cpu_seconds) {
    const std::optional<Range> chosen = chosen_range();
    const bool all = stride == 1 && !chosen;
    std::map<std::string, MutantScore> scores;
    std::vector<MutantRun> runs;
    for (const Mutant& mutant : mutants) {
        scores.emplace(mutant.file, MutantScore{mutant.file});
        if (chosen && (mutant.number < chosen->first || mutant.number > chosen->last)) continue;
        if ((mutant.number - 1) % stride == 0 || mutant.kind == "selected") runs.push_back({mutant, cpu_seconds});
    }
    const std::size_t count = runs.size();
    // The original passes whatever part of the regression a file's mutants are given to.
    for (const auto& [file, score] : scores)
        if (all) runs.push_back({{0, file, 0, "", "", "", 0}, 10 * cpu_seconds});

    std::ofstream log;
    if (stride == 1) {
        std::filesystem::create_directories(MUTATION_REPORTS);
        log.open(std::string(MUTATION_REPORTS) + "/" + block + (chosen ? "." + std::to_string(chosen->first) : "") +
                 ".log");
    }
    const auto write_log = [&](std::size_t run, const MutantOutcome& outcome) {
        log << runs[run].mutant.text() << '\t' << outcome.cpu_seconds << " s\t"
            << (outcome.found.empty() ? "SURVIVES" : outcome.found.substr(0, outcome.found.find('\n'))) << std::endl;
    };
    const std::vector<MutantOutcome> outcomes = run_in_processes(runs, regression, write_log);

    MutationReport report;
    std::map<Key, Survivor> survivors = read_survivors();
    std::vector<Mutant> left;
    for (std::size_t run = 0; run < count; ++run) {
        const Mutant& mutant = runs[run].mutant;
        const bool found = !outcomes[run].found.empty();
        MutantScore& score = scores.at(mutant.file);
        const auto listed = survivors.find(key_of(mutant));
        if (listed != survivors.end()) listed->second.met = true;
        ++score.mutants;
        if (found) {
            ++score.killed;
            if (listed != survivors.end()) report.errors.push_back("listed, but found: " + mutant.text());
            continue;
        }
        left.push_back(mutant);
        if (listed == survivors.end()) {
            report.errors.push_back("survives: " + mutant.text());
        } else {
            score.equivalent += listed->second.equivalent;
        }
    }
    for (std::size_t run = count; run < runs.size(); ++run) report.original += outcomes[run].found;
    for (const auto& [file, score] : scores) {
        report.scores.push_back(score);
        if (!all) continue;
        for (const auto& [key, survivor] : survivors)
            if (std::get<0>(key) == file && !survivor.met)
                report.errors.push_back("listed, but no such mutant: " + file + ": " + std::get<1>(key) + "  ->  " +
                                        std::get<2>(key));
    }
    if (all) write_report(block, report.scores, left);
    return report;
}

}  // namespace switchyard::testing
