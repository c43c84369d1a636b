// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace switchyard::platform {

/// "sy-sim 0.2.0 (git 1a2b3c4), SystemC 2.3.4, Verilator 5.006". `description`: git_description().
std::string version_text(const std::string& program, const std::string& description);

/// What a program's commands and options are, as its command line has them: completion for bash and zsh, and a manual
/// page (man(7)).
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string manual_page(const CLI::App& app);

}  // namespace switchyard::platform
