#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: readers.sh ROOT. Numbers, lines, JSON, YAML and files of users are read by sw_scheduler/base/ alone, whose readers
# check them: parse_plain_number(), words_of(), TextLines, CsvReader, parse_json() with JsonReader, load_yaml() with
# MappingReader and ConfigReader, check_sections(), InputFile, exists(). Prints each line of another folder that reads in a
# way of its own, as file:line:text, and fails if there is one.
set -euo pipefail
cd "$1"

numbers='\b(sscanf|fscanf|strto(d|f|ld|l|ll|ul|ull|imax|umax)|ato(i|l|ll|f))\(|\bsto(i|l|ll|ul|ull|f|d|ld)\(|\bfrom_chars\b|\bstd::regex\b'
lines='\bgetline\(|\bread_line\(|\b(istringstream|stringstream)\b'
files='\bifstream\b|\bfopen\('
formats='\bYAML::(Load|LoadAll|LoadFile|LoadAllFromFile)\(|\.as<|\b(json|ordered_json|Json)::(parse|sax_parse)\(|\b(json|ordered_json|Json)::(exception|type_error|out_of_range|parse_error)\b'
paths='\b(fs|filesystem)::(exists|is_directory|is_regular_file|file_size|canonical|weakly_canonical|remove|create_directories)\(([^,()]|\([^()]*\))*\)'

folders=()
for folder in sw_scheduler tlm hw platform; do
    if [[ -d $folder ]]; then folders+=("$folder"); fi
done
found=$(grep -rHnE "$numbers|$lines|$files|$formats|$paths" --include='*.h' --include='*.cpp' "${folders[@]}" |
    grep -vE '^sw_scheduler/base/' || true)
if [[ -n $found ]]; then
    printf '%s\n' "$found"
    exit 1
fi
