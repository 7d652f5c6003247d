"""tools/check_layers.py finds each kind of forbidden dependency, and accepts the allowed ones."""

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


class LayerTest(unittest.TestCase):
    def accepted(self, files):
        status, text = check(files)
        self.assertEqual(status, 0, text)

    def refused(self, files, *words):
        status, text = check(files)
        self.assertEqual(status, 1, text)
        for word in words:
            self.assertIn(word, text)


class Layers(LayerTest):
    def test_downward_includes_are_fine(self):
        self.accepted({"plan/a.cpp": '#include "ubique/base/error.h"\n#include "ubique/device/facts.h"\n',
                       "backend/sham/b.cpp": '#include "ubique/device/backend.h"\n#include <ATen/ATen.h>\n'})

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


class SubRooms(LayerTest):
    def test_one_way_includes_are_fine(self):
        self.accepted({"io/text/a.h": "",
                       "io/tensors/b.h": '#include "ubique/io/text/a.h"\n',
                       "io/torch/c.cpp": '#include "ubique/io/text/a.h"\n#include "ubique/io/tensors/b.h"\n'})

    def test_a_cycle_is_refused_and_named(self):
        self.refused({"io/text/a.h": '#include "ubique/io/tensors/b.h"\n',
                      "io/tensors/b.h": "",
                      "io/tensors/c.cpp": '#include "ubique/io/text/a.h"\n'},
                     "io: sub-rooms include each other: tensors -> text -> tensors",
                     "io/tensors/c.cpp includes io/text/a.h", "io/text/a.h includes io/tensors/b.h")

    def test_a_cycle_over_three_sub_rooms_is_refused(self):
        self.refused({"engine/a/a.h": '#include "ubique/engine/b/b.h"\n',
                      "engine/b/b.h": '#include "ubique/engine/c/c.h"\n',
                      "engine/c/c.h": '#include "ubique/engine/a/a.h"\n'}, "a -> b -> c -> a")

    def test_files_beside_sub_rooms_count_as_one_more(self):
        self.accepted({"plan/plan.h": "", "plan/rules/rule.cpp": '#include "ubique/plan/plan.h"\n'})
        self.refused({"plan/plan.cpp": '#include "ubique/plan/rules/rule.h"\n',
                      "plan/plan.h": "",
                      "plan/rules/rule.h": '#include "ubique/plan/plan.h"\n'},
                     "plan: sub-rooms include each other: . -> rules -> .")

    def test_sub_rooms_of_a_family_are_checked(self):
        self.refused({"models/trm/net/a.h": '#include "ubique/models/trm/use/b.h"\n',
                      "models/trm/use/b.h": '#include "ubique/models/trm/net/a.h"\n'},
                     "models/trm: sub-rooms include each other: net -> use -> net")

    def test_relative_includes_inside_a_backend_count(self):
        self.accepted({"backend/cuda/runtime/driver.h": "",
                       "backend/cuda/ops/a.cpp": '#include "../runtime/driver.h"\n'})
        self.refused({"backend/cuda/runtime/driver.h": '#include "../ops/a.h"\n',
                      "backend/cuda/ops/a.h": '#include "../runtime/driver.h"\n'},
                     "backend/cuda: sub-rooms include each other: ops -> runtime -> ops")


if __name__ == "__main__":
    unittest.main()
