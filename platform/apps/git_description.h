// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::platform {

/// "0.2.0 (git 1a2b3c4)": version and commit of the tree that was built, "-dirty" with changes. Without git the version
/// alone. Linked to programs only, so that a commit compiles one small source.
const char* git_description();

}  // namespace switchyard::platform
