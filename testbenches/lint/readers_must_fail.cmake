# SPDX-License-Identifier: Apache-2.0
# One reader of its own of each kind in a scratch tree: readers.sh has to find each, and nothing in a good tree.
include(${CMAKE_CURRENT_LIST_DIR}/planted_faults.cmake)

set(violations
  "platform/a.cpp=if (std::sscanf(line.c_str(), \"%lf\", &x) != 1) fail()"
  "platform/system/a.cpp=const double value = std::strtod(part.c_str(), &end)"
  "platform/system/b.cpp=shape.push_back(std::stoul(word))"
  "hw/memory/a.cpp=const auto [stop, error] = std::from_chars(begin, end, bits)"
  "sw_scheduler/workload/a.cpp=while (std::getline(input, line)) read(line)"
  "sw_scheduler/workload/b.cpp=for (int n = 1$<SEMICOLON> read_line(file, line, path, n)$<SEMICOLON> ++n) read(line)"
  "platform/chip/a.cpp=std::istringstream words(text)"
  "platform/chip/b.cpp=std::ifstream file(path)"
  "platform/systems/ace/a.cpp=const YAML::Node root = YAML::LoadFile(path)"
  "platform/systems/ace/b.cpp=const auto name = node.as<std::string>()"
  "sw_scheduler/sushi/a.cpp=const json document = json::parse(text)"
  "sw_scheduler/sushi/b.cpp=} catch (const json::exception& error) {"
  "platform/apps/a.cpp=if (std::filesystem::exists(path)) return"
  "platform/apps/b.cpp=const auto target = fs::canonical(fs::absolute(path))"
  "tlm/a.h=const std::regex kShape(\"[0-9]+\")")
list(TRANSFORM violations REPLACE "\\$<SEMICOLON>" ",")

file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/good/sw_scheduler/base/a.cpp "const auto [stop, error] = std::from_chars(begin, end, value)\n")
file(WRITE ${SCRATCH}/good/platform/a.cpp "if (fs::exists(path, error)) return\nfs::remove(fs::path(path), ignored)\n")
check_planted_faults(${READERS} ${SCRATCH} "first" ${violations})
