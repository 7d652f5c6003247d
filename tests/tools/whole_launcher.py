# SPDX-License-Identifier: Apache-2.0
"""`./studio` in this very tree, nothing replaced: it ends in a browser with the application's page, and stops when it is told to.
`make test-web` runs it, when everything is built. Usage: whole_launcher.py"""

import os
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class WholeLauncher(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        browser = self.folder / "browser"
        browser.write_text(f"#!/bin/sh\necho \"$1\" >> '{self.folder}/opened'\n")
        browser.chmod(0o755)
        environment = dict(os.environ, BROWSER=str(browser), UBIQUE_CACHE_DIR=str(self.folder / "cache"))
        self.words = open(self.folder / "words", "w")
        self.launcher = subprocess.Popen(["./studio", "--port", "0", "--data", self.folder / "data"], cwd=ROOT, env=environment,
                                         stdout=subprocess.PIPE, stderr=self.words, text=True)

    def tearDown(self):
        self.launcher.kill()
        self.launcher.communicate()
        self.words.close()
        self.temporary.cleanup()

    def test_it_ends_in_a_browser_with_the_page_and_stops_when_it_is_told_to(self):
        said = next((line for line in self.launcher.stdout if "Ubique studio: " in line), "")
        self.assertTrue(said, (self.folder / "words").read_text())
        address = re.search(r"http://\S+", said)[0]
        page = urllib.request.urlopen(address, timeout=60).read().decode()
        self.assertIn("<title>Ubique studio</title>", page)
        script = re.search(r'src="([^"]+\.js)"', page)[1]
        self.assertGreater(len(urllib.request.urlopen(f"{address}/{script.lstrip('./')}", timeout=60).read()), 10_000)
        self.launcher.send_signal(signal.SIGTERM)
        self.launcher.communicate(timeout=60)
        self.assertEqual(self.launcher.returncode, 0, (self.folder / "words").read_text())
        self.assertEqual((self.folder / "opened").read_text().rstrip().rstrip("/"), address)


if __name__ == "__main__":
    unittest.main()
