# SPDX-License-Identifier: Apache-2.0
"""usage: experiment_files.py EXPERIMENT.yaml: prints the platform and networks that it names, one a line."""
import pathlib
import re
import sys

experiment = pathlib.Path(sys.argv[1])
text = re.sub(r"#.*", "", experiment.read_text())
found = []
for name in re.findall(r"\.\./[\w./]+\.yaml", text):
    path = pathlib.Path(*(experiment.parent / name).parts)
    found.append(str(path.resolve().relative_to(pathlib.Path.cwd())))
for name in dict.fromkeys(found):
    print(name)
