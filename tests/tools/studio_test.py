"""The launcher: what it needs it names in one sentence, and where it builds a page follows. Commands of the system
are replaced; nothing is built."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHERS = ["studio", "studio.command"]
SERVER = """#!/bin/bash
echo "Ubique studio: http://127.0.0.1:7999"
echo "$@" > served
trap 'echo stopped >> served; exit 0' TERM
while true; do sleep 0.1; done
"""


class Launcher(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name) / "a folder"
        self.folder.mkdir()
        shutil.copy(ROOT / "studio", self.folder)
        self.commands = Path(self.temporary.name) / "commands"
        self.commands.mkdir()
        self.replace("make", f"echo \"make $*\" >> made\n[ \"$2\" != studio ] || {{ mkdir -p build/cpu/bin; "
                             f"cp '{self.folder}/server' build/cpu/bin/ubique; }}")
        self.replace("df", "echo; echo 'disk 100 50 104857600 50% /'")
        self.replace("browser", f"echo \"$1\" >> '{self.folder}/opened'")
        (self.folder / "server").write_text(SERVER)
        (self.folder / "server").chmod(0o755)

    def tearDown(self):
        self.temporary.cleanup()

    def replace(self, name, script):
        path = self.commands / name
        path.write_text("#!/bin/bash\n" + script + "\n")
        path.chmod(0o755)

    def environment(self):
        return dict(os.environ, PATH=f"{self.commands}:{os.environ['PATH']}", BROWSER=str(self.commands / "browser"))

    def start(self, *arguments):
        return subprocess.Popen(["bash", "studio", *arguments], cwd=self.folder, env=self.environment(), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def refusal(self):
        done = subprocess.run(["bash", "studio"], cwd=self.folder, env=self.environment(), text=True, capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.splitlines()[-1]

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not (found := condition()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        return found

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def test_the_files_can_be_started_and_are_bash(self):
        for name in LAUNCHERS:
            self.assertTrue(os.access(ROOT / name, os.X_OK), name)
            subprocess.run(["bash", "-n", ROOT / name], check=True)
        if shutil.which("shellcheck"):
            subprocess.run(["shellcheck", *(ROOT / name for name in LAUNCHERS)], check=True)

    def test_a_system_that_will_not_do_is_named_in_one_sentence(self):
        self.replace("uname", "[ \"$1\" = -s ] && echo Darwin || echo x86_64")
        self.assertRegex(self.refusal(), r"^studio: this Mac has an Intel processor; .* needs Apple silicon, or Linux\.$")
        self.replace("uname", "echo CYGWIN_NT")
        self.assertRegex(self.refusal(), r"^studio: this system is CYGWIN_NT; .* WSL 2\.$")
        self.replace("uname", "[ \"$1\" = -s ] && echo Linux || echo x86_64")
        self.replace("df", "echo; echo 'disk 100 50 1048576 50% /'")
        self.assertRegex(self.refusal(), r"^studio: the disk has 1 GB free; the studio needs 8 GB to be built\.$")
        self.assertEqual(self.read("made"), "")

    def test_a_failed_set_up_says_why_on_the_terminal_and_on_the_page(self):
        self.replace("make", "echo '[1/2] all well'; echo 'setup: error: <no> line to the server'; exit 1")
        said = self.refusal()
        self.assertRegex(said, r"^studio: the set-up failed; .*: setup: error: <no> line to the server$")
        page = self.read("build/studio/page/index.html")
        self.assertIn("could not be started", page)
        self.assertIn("&lt;no&gt; line to the server", page)
        self.assertNotIn("<no>", page)

    def test_while_it_builds_a_page_follows_and_goes_on_to_the_studio(self):
        self.replace("make", "echo '[7/140] Building'\nif [ \"$2\" = studio ]; then while [ ! -e go ]; do sleep 0.1; done\n"
                             "mkdir -p build/cpu/bin; cp server build/cpu/bin/ubique; fi")
        launcher = self.start("--port", "8000")
        try:
            address = self.wait_for(lambda: self.read("opened")).split()[0]
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/$")
            fetch = lambda: urllib.request.urlopen(address, timeout=20).read().decode()  # noqa: E731
            page = self.wait_for(lambda: "step 7 of 140" in (text := fetch()) and text)
            self.assertIn('http-equiv="refresh" content="2"', page)
            (self.folder / "go").touch()
            self.wait_for(lambda: "0; url=http://127.0.0.1:7999" in fetch())
            self.assertEqual(self.read("served").split(), ["serve", "--port", "8000"])
        finally:
            launcher.send_signal(signal.SIGTERM)
            out, _ = launcher.communicate(timeout=60)
        self.assertIn("Ubique studio: http://127.0.0.1:7999", out)
        self.assertEqual(launcher.returncode, 0)
        self.assertIn("stopped", self.read("served"))
        with self.assertRaises(OSError):
            urllib.request.urlopen(address, timeout=20)

    def test_where_nothing_is_to_be_built_the_studio_opens_itself(self):
        program = self.folder / "build/cpu/bin/ubique"
        program.parent.mkdir(parents=True)
        shutil.copy(self.folder / "server", program)
        launcher = self.start()
        self.wait_for(lambda: self.read("served"))
        launcher.send_signal(signal.SIGINT)
        launcher.communicate(timeout=60)
        self.assertEqual(self.read("served").split(), ["serve", "--open", "stopped"])
        self.assertEqual(self.read("opened"), "")

    def test_without_pages_the_program_alone_is_built(self):
        self.replace("make", "echo \"$2\" >> made\n[ \"$2\" != studio ] || exit 1\n"
                             "[ \"$2\" != build ] || { mkdir -p build/cpu/bin; cp server build/cpu/bin/ubique; }")
        launcher = self.start()
        self.wait_for(lambda: self.read("served"))
        launcher.send_signal(signal.SIGTERM)
        _, err = launcher.communicate(timeout=60)
        self.assertIn("that failed (build/studio/log.txt says why)", err)
        self.assertEqual(self.read("made").split(), ["setup", "studio", "build"])

    def test_help_is_the_head_of_the_file(self):
        done = subprocess.run(["bash", "studio", "--help"], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(re.search(r"^  \./studio --port 8000 ", done.stdout, re.M), done.stdout)


if __name__ == "__main__":
    unittest.main()
