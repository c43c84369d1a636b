# SPDX-License-Identifier: Apache-2.0
# cmake -DDOCUMENT=... -DSCRATCH=... "-DCOMPILE=compiler;flag;..." -P: compiles each block of C in a Markdown document.
file(READ ${DOCUMENT} text)
string(REPLACE ";" "@SEMICOLON@" text "${text}")
string(REGEX MATCHALL "```c\n[^`]*```" snippets "${text}")
if(NOT snippets)
  message(FATAL_ERROR "${DOCUMENT} has no C")
endif()
foreach(snippet IN LISTS snippets)
  string(REGEX REPLACE "```(c\n)?" "" snippet "${snippet}")
  string(REPLACE "@SEMICOLON@" ";" snippet "${snippet}")
  file(WRITE ${SCRATCH}/snippet.c "${snippet}")
  execute_process(COMMAND ${COMPILE} -c ${SCRATCH}/snippet.c -o ${SCRATCH}/snippet.o COMMAND_ERROR_IS_FATAL ANY)
endforeach()
