"""Set-up and configure fail with helpful messages: TORCH_DIR without torch, unknown options."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class SetUp(unittest.TestCase):
    def test_torch_dir_without_torch_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["cmake", "-S", ROOT, "-B", f"{folder}/build", "-G", "Ninja", f"-DTORCH_DIR={folder}"],
                                  capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        text = " ".join(done.stderr.split())
        self.assertIn("TORCH_DIR holds no LibTorch", text)
        self.assertIn("run tools/setup", text)

    def test_an_unknown_option_is_a_usage_error(self):
        done = subprocess.run([ROOT / "tools" / "setup", "--gup"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown option '--gup'", done.stderr)


if __name__ == "__main__":
    unittest.main()
