# SPDX-License-Identifier: Apache-2.0
"""Reports, experiments and sweeps as pandas frames. pandas is loaded when a frame is asked for."""
import json
import os
import sqlite3


def _flat(value, prefix=""):
    """Numbers and texts of nested objects by their keys, joined by dots."""
    if not isinstance(value, dict):
        return {prefix: value}
    pairs = {}
    for key, one in value.items():
        pairs.update(_flat(one, f"{prefix}.{key}" if prefix else key))
    return pairs


class Report:
    """report.json of a run, or results.json of an experiment (docs/report_format.md, docs/experiments.md)."""

    def __init__(self, path, document):
        self.path, self.document = path, document

    def __getitem__(self, key):
        """The value at "summary.latency_us.mean"."""
        value = self.document
        for part in key.split("."):
            value = value[part]
        return value

    def tables(self):
        """Names of the lists of objects, which frame() takes."""
        return [key for key, value in _flat(self.document).items()
                if isinstance(value, list) and value and all(isinstance(one, dict) for one in value)]

    def frame(self, table):
        """A list of objects as a DataFrame; keys of nested objects are joined by dots."""
        import pandas
        return pandas.DataFrame([_flat(one) for one in self[table]])

    def series(self):
        """All single numbers and texts as a Series."""
        import pandas
        return pandas.Series({key: value for key, value in _flat(self.document).items() if not isinstance(value, list)})


def _read(path, name):
    if os.path.isdir(path):
        path = os.path.join(path, name)
    with open(path, encoding="utf-8") as file:
        return Report(path, json.load(file))


def read_report(path):
    """The report of `sy-sim run --report`: a folder, or its report.json."""
    return _read(path, "report.json")


def read_experiment(path):
    """The report of `sy-sim experiment`: a folder, or its JSON file."""
    return _read(path, "results.json")


def read_sweep(store, name):
    """The rows of a sweep in the store of `sy-sweep` as a DataFrame: a column a key and an objective (docs/sweeps.md)."""
    import pandas
    quoted = '"' + name.replace('"', '""') + '"'
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return pandas.read_sql_query(f"SELECT * FROM {quoted}", connection)
    finally:
        connection.close()
