"""tools/check_layers.py finds each kind of wrong dependency, and nothing in a house in order."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"


def check(files: dict[str, str]) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / "ubique" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
        return done.returncode, done.stderr


class Layers(unittest.TestCase):
    def refused(self, files, word):
        status, text = check(files)
        self.assertEqual(status, 1, text)
        self.assertIn(word, text)

    def test_downward_includes_are_fine(self):
        status, text = check({"plan/a.cpp": '#include "ubique/base/error.h"\n#include "ubique/device/facts.h"\n',
                              "backend/sham/b.cpp": '#include "ubique/device/backend.h"\n#include <ATen/ATen.h>\n'})
        self.assertEqual(status, 0, text)

    def test_an_upward_include_is_refused(self):
        self.refused({"base/a.h": '#include "ubique/plan/plan.h"\n'}, "rank 0")

    def test_neighbours_of_one_rank_stay_apart(self):
        self.refused({"io/a.cpp": '#include "ubique/device/facts.h"\n'}, "may not include")

    def test_one_family_never_includes_another(self):
        self.refused({"models/trm/a.cpp": '#include "ubique/models/codelm/b.h"\n'}, "another family")

    def test_nobody_includes_a_backend(self):
        self.refused({"cli/a.cpp": '#include "ubique/backend/cuda/runtime/driver.h"\n'}, "nobody includes backend")

    def test_torch_free_rooms_stay_torch_free(self):
        self.refused({"io/a.cpp": "#include <ATen/ATen.h>\n"}, "torch-free")

    def test_accelerator_tests_belong_in_device_and_backend(self):
        self.refused({"engine/a.cpp": "if (x.is_cuda()) {}\n"}, "accelerator-specific")


if __name__ == "__main__":
    unittest.main()
