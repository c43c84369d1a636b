// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/mutation/mutation.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
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

/// "" if the mutant survives. A crash, a simulation that does not settle and a hang are all found.
std::string how_it_is_found(const Mutant& mutant, const MutantRegression& regression, unsigned cpu_seconds) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("pipe() failed");
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork() failed");
    if (child == 0) {
        ::close(pipe[0]);
        // Messages of assertions, by the thousand.
        if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
            ::_exit(3);
        const rlimit limit{cpu_seconds, cpu_seconds + 1};
        ::setrlimit(RLIMIT_CPU, &limit);
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        std::string found;
        try {
            select_mutant(mutant.number);
            found = regression(mutant);
            // A missing reset shows with some values alone.
            for (int seed = 1; mutant.kind == "reset" && seed <= 6 && found.empty(); ++seed) {
                select_mutant(mutant.number, seed == 1 ? 1 : 2, seed);
                found = regression(mutant);
            }
        } catch (const std::exception& error) {
            found = std::string("throws ") + error.what();
        }
        if (found.size() > 300) found.resize(300);
        if (::write(pipe[1], found.data(), found.size()) < 0) ::_exit(3);
        ::_exit(0);
    }
    ::close(pipe[1]);
    std::string found;
    std::array<char, 512> buffer{};
    for (ssize_t count = 0; (count = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
        found.append(buffer.data(), static_cast<std::size_t>(count));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!found.empty()) return found;
    if (WIFSIGNALED(status)) return "ends by signal " + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "ends with status " + std::to_string(WEXITSTATUS(status));
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
    MutationReport report;
    std::map<Key, Survivor> survivors = read_survivors();
    std::map<std::string, MutantScore> scores;
    std::vector<Mutant> left;
    const std::optional<Range> chosen = chosen_range();
    const bool all = stride == 1 && !chosen;
    std::ofstream log;
    if (stride == 1) {
        std::filesystem::create_directories(MUTATION_REPORTS);
        log.open(std::string(MUTATION_REPORTS) + "/" + block + (chosen ? "." + std::to_string(chosen->first) : "") +
                 ".log");
    }
    for (const Mutant& mutant : mutants) {
        auto& score = scores.emplace(mutant.file, MutantScore{mutant.file}).first->second;
        if (chosen && (mutant.number < chosen->first || mutant.number > chosen->last)) continue;
        if ((mutant.number - 1) % stride != 0 && mutant.kind != "selected") continue;
        const std::string found = how_it_is_found(mutant, regression, cpu_seconds);
        log << mutant.text() << "\t" << (found.empty() ? "SURVIVES" : found.substr(0, found.find('\n'))) << std::endl;
        const auto listed = survivors.find(key_of(mutant));
        if (listed != survivors.end()) listed->second.met = true;
        ++score.mutants;
        if (!found.empty()) {
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
    for (const auto& [file, score] : scores) {
        report.scores.push_back(score);
        if (!all) continue;
        // The original passes whatever part of the regression the file's mutants are given to.
        const Mutant original{0, file, 0, "", "", "", 0};
        report.original += how_it_is_found(original, regression, 10 * cpu_seconds);
        for (const auto& [key, survivor] : survivors)
            if (std::get<0>(key) == file && !survivor.met)
                report.errors.push_back("listed, but no such mutant: " + file + ": " + std::get<1>(key) + "  ->  " +
                                        std::get<2>(key));
    }
    if (all) write_report(block, report.scores, left);
    return report;
}

}  // namespace switchyard::testing
