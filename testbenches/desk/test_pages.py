# SPDX-License-Identifier: Apache-2.0
"""Pages in a browser: they open without an error, show the JSON's numbers, fit 1280 and 390 pixels, and need no mouse.

With SY_SCREENSHOT=FILE the page of a run is photographed as well.
"""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

WIDTHS = (1280, 390)
EXPERIMENT = """
name: pages
title: Two designs of digits networks
platform: {root}/configs/platforms/mini.yaml
batches: 2
set: {{chip.impl: stages}}
networks: [{root}/configs/workloads/digits_skipnet.yaml, {root}/configs/workloads/digits_early_exit.yaml]
designs: [m-tile, adyna]
figures:
  - {{name: speedup, measure: summary.latency_us.mean, over: m-tile, inverse: yes, label: speedup,
     published: [{{design: adyna, mean: 1.7, source: a test}}]}}
  - {{name: energy, kind: stacks, measure: energy.parts_mj, label: mJ}}
  - {{name: batches, kind: lines, measure: batches.latency_us, across: batch, networks: [digits_skipnet], label: us}}
"""
SWEEP = """
name: pages
platform: {root}/configs/platforms/mini.yaml
set: {{chip.impl: stages}}
batches: 2
networks: [{root}/configs/workloads/digits_skipnet.yaml]
designs: [m-tile, adyna]
axes: [{{key: noc.link_bytes_per_cycle, values: [48, 96, 192]}}]
objectives:
  - {{name: latency_us, measure: summary.latency_us.mean, goal: min}}
  - {{name: energy_mj, measure: energy.total_mj, goal: min}}
"""


def program(name, *arguments):
    path = os.environ[name]
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{path} {' '.join(map(str, arguments))}: {done.returncode}: {done.stderr}")
    return done.stdout


def lookup(document, key):
    """Keys of counters have dots themselves: the longest name that is there is taken."""
    if key == "":
        return document
    parts = re.split(r"[./]", key)
    for count in range(len(parts), 0, -1):
        for name in {".".join(parts[:count]), "/".join(parts[:count])}:
            if isinstance(document, dict) and name in document:
                return lookup(document[name], ".".join(parts[count:]))
    if isinstance(document, list):
        return lookup(document[int(parts[0])], ".".join(parts[1:]))
    raise KeyError(key)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path.cwd()
        out = Path(cls.folder.name)
        cls.pages = {}
        mini = cls.root / "configs/platforms/mini.yaml"
        adyna = cls.root / "configs/platforms/adyna.yaml"
        trace = cls.root / "configs/workloads/digits/skipnet/routing.jsonl"
        # The workloads of ./run demo, with fewer batches.
        for workload, platform, more in (("digits_skipnet", adyna, ["--trace", trace]), ("skipnet_resnet34", adyna, []),
                                         ("skipnet_resnet101", adyna, [])):
            image = out / f"{workload}.syk"
            program("SY_SCHED", "compile", cls.root / f"configs/workloads/{workload}.yaml", "--platform", platform,
                    "--design", "adyna", "-o", image)
            program("SY_SIM", "run", "--platform", platform, "--image", image, "--set", "chip.impl=stages", "--batches",
                    3, "--report", out / workload, *more)
            cls.pages[workload] = out / workload / "index.html"
        image = out / "mini.syk"
        for name, settings in (("on_tiles", []), ("narrow", ["--set", "noc.link_bytes_per_cycle=16"])):
            program("SY_SCHED", "compile", cls.root / "configs/workloads/digits_skipnet.yaml", "--platform", mini,
                    *settings, "--design", "adyna", "-o", image)
            program("SY_SIM", "run", "--platform", mini, *settings, "--set", "chip.impl=tiles", "--image", image,
                    "--trace", trace, "--batches", 2, "--report", out / name)
        cls.pages["on_tiles"] = out / "on_tiles/index.html"
        cls.pages["compare"] = out / "compare.html"
        program("SY_SIM", "compare", out / "on_tiles", out / "narrow", "-o", cls.pages["compare"])
        (out / "experiment.yaml").write_text(EXPERIMENT.format(root=cls.root))
        program("SY_SIM", "experiment", out / "experiment.yaml", "--report", out / "experiment")
        cls.pages["experiment"] = out / "experiment/index.html"
        (out / "sweep.yaml").write_text(SWEEP.format(root=cls.root))
        program("SY_SWEEP", "run", out / "sweep.yaml", "--store", out / "store.sqlite", "--quiet", "--report",
                out / "sweep")
        cls.pages["sweep"] = out / "sweep/index.html"

        options = webdriver.ChromeOptions()
        cls.profile = tempfile.TemporaryDirectory()
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     f"--user-data-dir={cls.profile.name}"):
            options.add_argument(flag)
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.profile.cleanup()
        cls.folder.cleanup()

    def open(self, page, width=1280, fragment=""):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get("about:blank")
        self.browser.get(self.pages[page].as_uri() + fragment)
        WebDriverWait(self.browser, 60).until(
            lambda browser: browser.execute_script("return document.body.dataset.ready") == "yes")

    def check_console(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def documents(self, page):
        """What the page's keys are looked up in: the files that the command wrote."""
        folder = self.pages[page].parent
        if page == "experiment":
            return {"results": json.loads((folder / "results.json").read_text())}
        if page == "sweep":
            rows = json.loads(program("SY_SWEEP", "query", "--store", folder.parent / "store.sqlite", "--sweep", "pages",
                                      "--json"))
            return {"sweep": {"rows": rows, "states": {"done": sum(row["state"] == "done" for row in rows)}}}
        if page == "compare":
            return {"reports": [json.loads((folder / name / "report.json").read_text())
                                for name in ("on_tiles", "narrow")]}
        return {"report": json.loads((folder / "report.json").read_text())}

    def check_numbers(self, page):
        shown = self.browser.execute_script(
            "return [...document.querySelectorAll('[data-key]')].map(e => [e.dataset.key, e.dataset.value,"
            " Number(e.dataset.scale), e.textContent])")
        self.assertGreater(len(shown), 10)
        documents = self.documents(page)
        for key, value, scale, text in shown:
            with self.subTest(page=page, key=key):
                try:
                    wanted = lookup(documents, key)
                except KeyError:
                    wanted = None  # a comparison has keys that not all reports have
                    self.assertEqual(page, "compare")
                self.assertEqual(json.loads(value), wanted)
                if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
                    number = float(text.replace(",", "").split(" ")[0])
                    self.assertAlmostEqual(number, wanted * scale, delta=abs(wanted * scale) * 6e-4)
        return len(shown)

    def test_every_page_opens_at_both_widths_without_an_error(self):
        for page in self.pages:
            for width in WIDTHS:
                with self.subTest(page=page, width=width):
                    self.open(page, width)
                    self.check_console()
                    wide = self.browser.execute_script("return document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width)
                    charts = self.browser.execute_script("return document.querySelectorAll('.chart svg.marks').length")
                    figures = self.browser.execute_script("return document.querySelectorAll('figure').length")
                    self.assertGreater(figures, 0)
                    if os.environ.get("SY_PAGE_TABLES") is None:
                        self.assertEqual(charts, figures)

    def test_numbers_are_those_of_the_json(self):
        for page in self.pages:
            self.open(page)
            self.check_numbers(page)

    def test_a_run_has_all_sections_and_its_shares_add_up(self):
        self.open("skipnet_resnet34")
        titles = [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, "main h2")]
        self.assertEqual(titles, ["Summary", "What bounds it", "Pipeline of each segment", "Tiles and links",
                                  "Kernels selected against dyn_dim", "Routes", "Energy", "Batches",
                                  "What the figures are worth", "All figures"])
        self.assertEqual(self.browser.find_element(By.ID, "bounds-sum").text, "100 %")
        if os.environ.get("SY_SCREENSHOT"):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                         {"width": 1280, "height": 1500, "deviceScaleFactor": 0.7, "mobile": False})
            self.browser.save_screenshot(os.environ["SY_SCREENSHOT"])

    def test_a_point_of_an_experiment_opens_as_a_run(self):
        self.open("experiment")
        self.browser.find_element(By.LINK_TEXT, "open").send_keys(Keys.ENTER)
        WebDriverWait(self.browser, 30).until(
            lambda browser: "Pipeline of each segment" in browser.find_element(By.TAG_NAME, "main").text)
        self.check_numbers("experiment")
        self.check_console()
        self.browser.find_element(By.PARTIAL_LINK_TEXT, "back to").send_keys(Keys.ENTER)
        WebDriverWait(self.browser, 30).until(
            lambda browser: "Points" in browser.find_element(By.TAG_NAME, "nav").text)

    def test_the_keyboard_is_enough(self):
        self.open("on_tiles")
        body = self.browser.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.TAB)
        active = self.browser.switch_to.active_element
        self.assertEqual(active.get_attribute("class"), "skip")
        reached = set()
        for _ in range(150):
            self.browser.switch_to.active_element.send_keys(Keys.TAB)
            reached.add(self.browser.execute_script(
                "const e = document.activeElement; return e.tagName + ' ' + (e.textContent || '').slice(0, 30)"))
        kinds = {name.split(" ")[0] for name in reached}
        self.assertTrue({"A", "SUMMARY", "SELECT", "BUTTON"} <= kinds, kinds)

        head = self.browser.find_element(By.XPATH, "//section[@data-title='What the figures are worth']//th/button")
        head.send_keys(Keys.ENTER)
        cells = lambda: [e.text for e in self.browser.find_elements(
            By.XPATH, "(//section[@data-title='What the figures are worth']//tbody)[1]/tr/th")]
        self.assertEqual(cells(), sorted(cells()))
        head.send_keys(Keys.ENTER)
        self.assertEqual(cells(), sorted(cells(), reverse=True))

        picker = self.browser.find_element(By.XPATH, "//section[@data-title='Tiles and links']//select")
        picker.send_keys(Keys.ARROW_DOWN)
        caption = self.browser.find_element(By.XPATH, "//section[@data-title='Tiles and links']//figcaption").text
        self.assertIn("pe array", caption)
        self.check_console()

    def test_differences_are_marked(self):
        self.open("compare")
        rows = self.browser.find_elements(By.XPATH, "//tr[@class='differs']/th")
        keys = {row.text for row in rows}
        self.assertIn("platform.link_bytes_per_cycle", keys)
        self.assertIn("summary.latency_us.mean", keys)
        self.assertNotIn("platform.columns", keys)

    def test_colours_are_told_apart_by_people_who_see_them_differently(self):
        """Machado, Oliveira and Fernandes (2009), severity 1; CIE 1976 colour difference of neighbours in a stack."""
        self.open("on_tiles")
        palettes = self.browser.execute_script("return [kPalette.slice(0, 6), Object.values(kUses)]")
        matrices = {
            "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
            "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                           (-0.003882, -0.048116, 1.051998)),
            "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                             (-0.011820, 0.042940, 0.968881)),
            "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                           (0.004733, 0.691367, 0.303900))}
        for palette in palettes:
            for name, matrix in matrices.items():
                seen = [lab(colour, matrix) for colour in palette]
                for first, second in zip(palette, palette[1:]):
                    a, b = seen[palette.index(first)], seen[palette.index(second)]
                    with self.subTest(kind=name, colours=(first, second)):
                        self.assertGreater(sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5, 12)


def lab(colour, matrix):
    rgb = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    r, g, b = [min(1, max(0, sum(m * c for m, c in zip(row, linear)))) for row in matrix]
    xyz = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b, 0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
           0.0193339 * r + 0.1191920 * g + 0.9503041 * b)
    x, y, z = [t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
               for t in (xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883)]
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


if __name__ == "__main__":
    unittest.main()
