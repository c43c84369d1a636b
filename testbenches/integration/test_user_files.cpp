// SPDX-License-Identifier: Apache-2.0
// Files that users hand to the programs and keep next to what the programs write.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/experiment/database.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

constexpr const char* kMoe = "testbenches/data/moe.yaml";

enum class Program { sched, sim, sweep };

Outcome run(Program program, const std::string& arguments) {
    return program == Program::sched ? sy_sched(arguments)
           : program == Program::sim ? sy_sim(arguments)
                                     : sy_sweep(arguments);
}

const std::string& moe_image() {
    static const std::string kPath =
        compiled(std::string(kMoe) + " --platform " + kMini + " --design adyna", "moe_of_files.syk");
    return kPath;
}

std::string moe_profile() {
    const std::string path = scratch("moe_profile.json");
    if (!fs::exists(path)) {
        const Outcome outcome = sy_sim(std::string("run --platform ") + kMini + " --image " + moe_image() +
                                       " --batches 1 --write-profile " + path);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
    }
    return path;
}

std::string moe_trace() {
    const std::string path = scratch("moe_trace.jsonl");
    if (!fs::exists(path)) REQUIRE(sy_sched(std::string("routes ") + kMoe + " --batches 2 -o " + path).status == 0);
    return path;
}

std::string file_with(const std::string& name, const std::string& text) {
    write_text(scratch(name), text);
    return scratch(name);
}

std::string gpu_report() {
    const std::string folder = scratch("gpu_report");
    if (!fs::exists(folder))
        REQUIRE(sy_sim(std::string("run --design gpu --workload ") + kMoe +
                       " --platform configs/platforms/a100.yaml --batches 1 --report " + folder)
                    .status == 0);
    return folder + "/report.json";
}

/// A command with one of its files as "{}".
struct FileOption {
    Program program;
    std::string command, file;
};

/// Every option of the programs that names a file to read.
std::vector<FileOption> file_options() {
    const std::string platform = std::string(" --platform ") + kMini, out = " -o " + scratch("out"),
                      digits = "configs/workloads/digits/skipnet/",
                      pack = "pack " + digits_image() + " --address 0x80100000 --weights " + digits + "weights" + out;
    const std::string inputs = " --inputs " + digits + "input_batch0.npy";
    const std::string sweep = file_with(
        "points.yaml",
        fmt::format("name: points\ntitle: a < b </script>\nplatform: {0}/{1}\nset: {{chip.impl: stages}}\nbatches: 1\n"
                    "networks: [{0}/{2}]\ndesigns: [adyna]\n"
                    "axes:\n  - {{key: noc.link_bytes_per_cycle, values: [96]}}\nobjectives:\n  - "
                    "{{name: latency_us, measure: summary.latency_us.mean, goal: min}}\n",
                    fs::current_path().string(), kMini, kMoe));
    return {
        {Program::sched, "compile {} --design adyna" + platform + out, kMoe},
        {Program::sched, std::string("compile ") + kMoe + " --design adyna --platform {}" + out, kMini},
        {Program::sched, std::string("compile ") + kMoe + " --design adyna --profile {}" + platform + out,
         moe_profile()},
        {Program::sched, std::string("compile ") + kMoe + " --design adyna --routing {}" + platform + out,
         file_with("routing.yaml", "seed: 4\nprobability: [0.4, 0.4, 0.4, 0.4]\n")},
        {Program::sched, "sample --profile {} --operator b1 --kernels 3", "testbenches/data/fig6_profile.json"},
        {Program::sched, "routes {}" + out, kMoe},
        {Program::sched, std::string("routes ") + kMoe + " --routing {}" + out, scratch("routing.yaml")},
        {Program::sched, "kernels {}" + out, "configs/workloads/ace/instanas.yaml"},
        {Program::sched, "inspect {}", moe_image()},
        {Program::sched, pack + " --inputs {}", digits + "input_batch0.npy"},
        {Program::sched, pack + inputs + " --expect {}", digits + "logits_batch0.npy"},
        {Program::sched, pack + inputs + " --trace {}", kDigitsTrace},
        {Program::sim, "run --batches 1 --image " + moe_image() + " --platform {}", kMini},
        {Program::sim, "run --batches 1 --image {}" + platform, moe_image()},
        {Program::sim, "run --batches 1 --image " + moe_image() + " --trace {}" + platform, moe_trace()},
        {Program::sim, std::string("run --design gpu --workload {} --batches 1 --platform configs/platforms/a100.yaml"),
         kMoe},
        {Program::sim, std::string("run --design gpu --workload ") + kMoe + " --batches 1 --platform {}",
         "configs/platforms/a100.yaml"},
        {Program::sim,
         std::string("run --design gpu --workload ") + kMoe + " --trace {} --platform configs/platforms/a100.yaml",
         moe_trace()},
        {Program::sim, "compare {} " + gpu_report() + out + ".html", gpu_report()},
        {Program::sim, "mem --pattern trace --trace {}",
         file_with("requests.csv", "time_ns,operation,address,bytes\n0,R,0,64\n10,W,64,64\n")},
        {Program::sim, "mem --requests 100 --device {}", "configs/devices/ddr4_2400.yaml"},
        {Program::sim, "link {} --bytes 65536 --collective point_to_point", "configs/topologies/dgx1v.yaml"},
        {Program::sweep, "run {} --quiet --jobs 1 --store " + scratch("points.sqlite"), sweep},
    };
}

std::string with_file(std::string command, const std::string& file) {
    return command.replace(command.find("{}"), 2, file);
}

/// The first line, without the name of the file.
std::string beginning(std::string text, const std::string& file) {
    text = text.substr(0, text.find('\n'));
    for (std::size_t at = text.find(file); at != std::string::npos; at = text.find(file))
        text.replace(at, file.size(), "FILE");
    return text;
}

void check_one_line(const Outcome& outcome, const std::string& part) {
    INFO("standard error: " << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, ContainsSubstring(part));
    for (const char* const foreign : {"filesystem error", "json.exception", "std::", "bad conversion", "basic_string"})
        CHECK_THAT(outcome.err, !ContainsSubstring(foreign));
}

}  // namespace

TEST_CASE("every file may be a pipe, which is read once", "[cli][files]") {
    for (const FileOption& option : file_options()) {
        CAPTURE(option.command);
        const Outcome plain = run(option.program, with_file(option.command, option.file));
        INFO(plain.err);
        REQUIRE(plain.status == 0);
        const std::string pipe = scratch("pipe" + fs::path(option.file).extension().string());
        REQUIRE(std::system(fmt::format("rm -f {0}; mkfifo {0}; timeout 60 sh -c 'cat {1} >{0}' &", pipe, option.file)
                                .c_str()) == 0);
        const std::string command = with_file(option.command, pipe);
        // The store has the points of the first run.
        const Outcome piped = run(option.program, command);
        INFO(piped.err);
        CHECK(piped.status == 0);
        CHECK(beginning(piped.out, pipe) == beginning(plain.out, option.file));
    }
}

TEST_CASE("a missing file, a folder and a loop of links are one line", "[cli][files]") {
    const std::string loop = scratch("loop");
    if (!fs::is_symlink(loop)) fs::create_symlink("loop", loop);
    fs::create_directories(scratch("folder"));
    for (const FileOption& option : file_options()) {
        CAPTURE(option.command);
        check_one_line(run(option.program, with_file(option.command, scratch("nowhere.yaml"))),
                       "cannot be read: No such file or directory");
        const bool takes_folders = option.command.rfind("compare", 0) == 0;
        check_one_line(run(option.program, with_file(option.command, scratch("folder"))),
                       takes_folders ? "folder/report.json: cannot be read" : "expected a file, found a directory");
        check_one_line(run(option.program, with_file(option.command, loop)), "loop");
    }
}

TEST_CASE("files of the user stay what they are", "[cli][files]") {
    const std::string platform = std::string(" --platform ") + kMini, notes = "notes of the user\n";
    const std::string run_moe = "run --batches 1 --image " + moe_image() + platform;
    struct Output {
        Program program;
        std::string command, file;
    };
    const std::string points = file_options().back().file;
    const std::vector<Output> outputs{
        {Program::sched, std::string("compile ") + kMoe + " --design adyna" + platform + " -o {}", ""},
        {Program::sched,
         std::string("compile ") + kMoe + " --design adyna" + platform + " -o " + scratch("o.syk") + " --json {}", ""},
        {Program::sched, std::string("routes ") + kMoe + " -o {}", ""},
        {Program::sched, "kernels configs/workloads/ace/instanas.yaml -o {}", ""},
        {Program::sched, "kernels configs/workloads/ace/instanas.yaml --binary -o {}", ""},
        {Program::sched, "inspect " + moe_image() + " --json {}", ""},
        {Program::sim, run_moe + " --report {}", "/report.json"},
        {Program::sim, run_moe + " --report {}", "/index.html"},
        {Program::sim, run_moe + " --report {}", "/speed.json"},
        {Program::sim, run_moe + " --timeline {}", ""},
        {Program::sim, run_moe + " --write-profile {}", ""},
        {Program::sim, run_moe + " --set hbm.request_log={}", ".0.csv"},
        {Program::sim,
         std::string("run --design gpu --workload ") + kMoe +
             " --batches 1 --platform configs/platforms/a100.yaml --report {}",
         "/report.json"},
        {Program::sim, "mem --requests 100 --commands {}", ""},
        {Program::sim, "mem --requests 100 --json {}", ""},
        {Program::sim, "noc --cycles 100 --json {}", ""},
        {Program::sim, "link --family ring --bytes 65536 --collective point_to_point --json {}", ""},
        {Program::sim, "systems --json {}", ""},
        {Program::sim, "compare " + gpu_report() + " " + gpu_report() + " -o {}", ""},
        {Program::sweep, "run " + points + " --quiet --jobs 1 --store {}", ""},
        {Program::sweep, "run " + points + " --quiet --jobs 1 --store " + scratch("points2.sqlite") + " --json {}", ""},
        {Program::sweep, "run " + points + " --quiet --jobs 1 --store " + scratch("points2.sqlite") + " --report {}",
         "/index.html"},
    };
    for (const Output& output : outputs) {
        CAPTURE(output.command, output.file);
        const std::string target = scratch("user/target"), file = target + output.file;
        fs::remove_all(scratch("user"));
        fs::create_directories(fs::path(file).parent_path());
        write_text(file, notes);
        const std::string command = with_file(output.command, target);
        const Outcome refused = run(output.program, command);
        check_one_line(refused, file + ": expected ");
        CHECK_THAT(refused.err, ContainsSubstring(", found another file; choose another name, or "));
        CHECK_THAT(refused.err, ContainsSubstring("--force"));
        CHECK(read_text(file) == notes);
        fs::remove(file);
        // What it writes itself is written again.
        for (int time = 0; time < 2; ++time) {
            const Outcome written = run(output.program, command);
            INFO(written.err);
            CHECK(written.status == 0);
            CHECK(fs::file_size(file) > 0);
        }
        if (output.command.find("--store {}") != std::string::npos) continue;
        write_text(file, notes);
        const Outcome forced = run(output.program, command + " --force");
        INFO(forced.err);
        CHECK(forced.status == 0);
        CHECK(read_text(file) != notes);
    }
}

TEST_CASE("a routing trace ends at its end and not at a NUL byte", "[cli][files]") {
    const std::string trace = read_text(moe_trace());
    const std::string command = "run --image " + moe_image() + " --platform " + kMini + " --trace ";
    std::string damaged = trace;
    for (char& c : damaged)
        if (c == '\n') c = '\0';
    check_refused(sy_sim(command + file_with("damaged.jsonl", damaged)),
                  {"damaged.jsonl:1: expected JSON, found a NUL byte at byte "});
    std::string carriage = "\xEF\xBB\xBF";
    for (const char c : trace) carriage += c == '\n' ? "\r\n\r\n" : std::string(1, c);
    const Outcome same = sy_sim(command + file_with("carriage.jsonl", carriage));
    INFO(same.err);
    CHECK(same.status == 0);
    const std::string stream = scratch("stream.jsonl");
    REQUIRE(sy_sched("kernels configs/workloads/ace/instanas.yaml --force -o " + stream).status == 0);
}

TEST_CASE("a request log is checked field by field", "[cli][files]") {
    const std::string header = "time_ns,operation,address,bytes\n";
    const auto replay = [](const std::string& text, const std::string& more = "") {
        return sy_sim("mem --device ddr4 --pattern trace --trace " + file_with("log.csv", text) + " --json " +
                      scratch("log.json") + more);
    };
    struct Wrong {
        const char* row;
        const char* message;
    };
    for (const Wrong& wrong : {Wrong{"nan,R,0,64", "log.csv:2: time_ns: expected a number of 0 to"},
                               {"inf,R,0,64", "log.csv:2: time_ns: expected"},
                               {"-1,R,0,64", "log.csv:2: time_ns: expected"},
                               {"1e300,R,0,64", "log.csv:2: time_ns: expected"},
                               {"0,X,0,64", "log.csv:2: operation: expected R or W, found \"X\""},
                               {"0,R,-64,64", "log.csv:2: address: expected"},
                               {"0,R,010,64", "log.csv:2: address: expected"},
                               {"0,R,1099511627776,64", "log.csv:2: address: expected an integer of 0 to"},
                               {"0,R,18446744073709551615,64", "log.csv:2: address: expected"},
                               {"0,R,0,-64", "log.csv:2: bytes: expected"},
                               {"0,R,0,0", "log.csv:2: bytes: expected"},
                               {"0,R,64,18446744073709551615", "log.csv:2: bytes: expected"},
                               {"0,R,0,64,1", "log.csv:2: expected 4 fields"}}) {
        CAPTURE(wrong.row);
        for (const char* const timed : {"", " --timed"})
            check_refused(replay(header + wrong.row + "\n", timed), {wrong.message});
    }
    check_refused(replay("0,R,0,64\n10,W,64,64\n"), {"log.csv:1: header: expected time_ns,operation,address,bytes"});
    check_refused(replay(""), {"log.csv: expected the header"});
    check_refused(replay(header), {"log.csv: expected requests"});
    const Outcome carriage = replay("\xEF\xBB\xBFtime_ns,operation,address,bytes\r\n0,R,0,64\r\n10,W,64,64\r\n\r\n");
    INFO(carriage.err);
    CHECK(carriage.status == 0);
    CHECK(read_json(scratch("log.json")).at("requests") == 2);
}

TEST_CASE("a query reads, and writes no file", "[cli][files][sweep]") {
    const std::string store = scratch("queried.sqlite"), written = scratch("written.sqlite");
    REQUIRE(sy_sweep("run " + file_options().back().file + " --quiet --jobs 1 --store " + store).status == 0);
    for (const std::string& sql :
         {fmt::format("VACUUM INTO '{}'", written), fmt::format("ATTACH '{}' AS other", written),
          std::string("DELETE FROM point"), std::string("CREATE TABLE x (a)"),
          std::string("PRAGMA journal_mode = DELETE"), std::string("UPDATE point SET state = 'x'"),
          std::string("CREATE TEMP TABLE x (a)"), std::string("DROP VIEW points"), std::string("REINDEX"),
          std::string("PRAGMA user_version = 3")}) {
        CAPTURE(sql);
        check_refused(sy_sweep("query --store " + store + " \"" + sql + "\""),
                      {"queried.sqlite: expected a statement that reads"});
        CHECK_FALSE(fs::exists(written));
    }
    CHECK(sy_sweep("query --store " + store + " \"SELECT count(*), max(json_extract(report, '\\$.ok')) FROM point\"")
              .status == 0);
    CHECK(sy_sweep("query --store " + store + " --sweep points --json").status == 0);
    check_refused(
        sy_sweep("query --store " + file_with("notes.sqlite", "notes, which are no database") + " \"SELECT 1\""),
        {"notes.sqlite: is no SQLite database"});
}

TEST_CASE("one SIGINT ends a constraint without an end", "[cli][files][sweep]") {
    const std::string sweep = file_with(
        "endless.yaml",
        fmt::format(
            "name: endless\nplatform: {0}/{1}\nset: {{chip.impl: stages}}\nbatches: 1\n"
            "networks: [{0}/{2}]\ndesigns: [adyna]\n"
            "axes:\n  - {{key: noc.link_bytes_per_cycle, values: [96]}}\nobjectives:\n  - {{name: latency_us, measure: "
            "summary.latency_us.mean, goal: min}}\nconstraints:\n"
            "  - (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0\n",
            fs::current_path().string(), kMini, kMoe));
    // Without --foreground, timeout sends the signal to its whole group as well: a second one, which kills the program.
    const std::string command =
        fmt::format("timeout --foreground --preserve-status -s INT -k 20 2 {} run {} --quiet --store {} 2>{}", SY_SWEEP,
                    sweep, scratch("endless.sqlite"), scratch("endless.err"));
    const int status = std::system(command.c_str());
    INFO(read_text(scratch("endless.err")));
    CHECK(WEXITSTATUS(status) == 130);
    CHECK_THAT(read_text(scratch("endless.err")), ContainsSubstring("interrupted"));
}

TEST_CASE("a store with a damaged report names the point", "[cli][files][sweep]") {
    const std::string store = scratch("damaged.sqlite"), sweep = file_options().back().file;
    REQUIRE(sy_sweep("run " + sweep + " --quiet --jobs 1 --store " + store).status == 0);
    for (const char* const report : {"replace(hex(zeroblob(50000)), '0', '[')", "'[1]'", "'{'", "NULL"}) {
        CAPTURE(report);
        {
            switchyard::platform::Database database(store, switchyard::platform::Database::Access::write);
            database.run(fmt::format("UPDATE point SET report = {}", report));
        }
        const Outcome outcome = sy_sweep("run " + sweep + " --quiet --jobs 1 --store " + store);
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK_THAT(outcome.err, ContainsSubstring("damaged.sqlite: point "));
    }
}

TEST_CASE("the command of an executor gets a script, whose path is one word for every shell", "[cli][files][sweep]") {
    const std::string folder = scratch("a $(touch PWNED) 'b'");
    fs::create_directories(folder);
    write_text(folder + "/points.yaml", read_text(file_options().back().file));
    // As ssh does: joins its words for another shell.
    const std::string remote = file_with("remote", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
    fs::permissions(remote, fs::perms::owner_all);
    const auto command = [&](const std::string& store, const std::string& more) {
        return "run \"" + scratch("a \\$(touch PWNED) 'b'") +
               "/points.yaml\" --quiet --jobs 1 --executor command --command '" + remote + " node {}' --store " +
               store + more;
    };
    const Outcome ran = sy_sweep(command(scratch("commanded.sqlite"), ""));
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK_THAT(sy_sweep("query --store " + scratch("commanded.sqlite") + " \"SELECT state FROM points\"").out,
               ContainsSubstring("done"));
    CHECK_FALSE(fs::exists("PWNED"));
    check_refused(sy_sweep(command(scratch("commanded2.sqlite"), " --spool '" + scratch("a spool") + "'")),
                  {"--spool: expected a folder whose path has letters"});
}

TEST_CASE("a title may have any letters", "[cli][files][sweep]") {
    const std::string folder = scratch("titled");
    const Outcome ran = sy_sweep("run " + file_options().back().file + " --quiet --jobs 1 --store " +
                                 scratch("titled.sqlite") + " --report " + folder);
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const std::string page = read_text(folder + "/index.html");
    CHECK_THAT(page, ContainsSubstring("<title>a &lt; b &lt;/script&gt;</title>"));
    CHECK_THAT(page, ContainsSubstring("\"title\":\"a \\u003c b \\u003c/script>\""));
    CHECK_THAT(page, !ContainsSubstring("b </script>"));
}
