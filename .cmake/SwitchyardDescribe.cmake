# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=<tree> -DVERSION=<x.y.z> -DOUTPUT=<file> -P: a source with git_description(), written only if it changes.
set(description "${VERSION}")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --tags
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    string(APPEND description " (git ${commit})")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// Made by SwitchyardDescribe.cmake.
#include "switchyard/platform/apps/git_description.h"

namespace switchyard::platform {

const char* git_description() {
    return "@description@";
}

}  // namespace switchyard::platform
]] @ONLY)
