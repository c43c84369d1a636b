# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=... -DNAME=V... -P: gathers the C++ files that Verilator wrote, whose names are known only afterwards,
# in two: NAME__fast.cpp is evaluated, NAME__slow.cpp constructs, registers, names and traces. The code that traces is as
# long as what is evaluated, and what it costs is the waveform's file.
file(GLOB fast RELATIVE ${FOLDER} ${FOLDER}/${NAME}*.cpp)
set(slow ${fast})
list(FILTER slow INCLUDE REGEX "(__Slow|__Syms|__Trace__[0-9]+)\\.cpp$")
list(REMOVE_ITEM fast ${slow})
foreach(kind fast slow)
  list(SORT ${kind})
  list(TRANSFORM ${kind} REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN ${kind} "" text)
  file(WRITE ${FOLDER}/${NAME}__${kind}.cpp "${text}")
endforeach()
