"""Files that the safetensors package writes are read by `ubique inspect`, dtype by dtype, and the
statistics agree with NumPy's."""

import json
import os
import subprocess
import tempfile
import unittest

import torch
from safetensors.torch import save_file

UBIQUE = os.environ["UBIQUE"]
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
          "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool}


class InspectReadsPythonFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "python.safetensors")
        generator = torch.Generator().manual_seed(7)
        self.tensors = {name: (torch.rand(3, 5, generator=generator) * 100).to(dtype)
                        for name, dtype in DTYPES.items()}
        save_file(self.tensors, self.path, metadata={"format": "pt"})

    def tearDown(self):
        self.folder.cleanup()

    def inspect(self, *options):
        out = subprocess.run([UBIQUE, "inspect", self.path, "--json", *options],
                             capture_output=True, check=True, text=True).stdout
        return json.loads(out)

    def test_every_dtype_and_shape_is_named_as_written(self):
        found = {t["name"]: t for t in self.inspect()["tensors"]}
        self.assertEqual(set(found), set(DTYPES))
        for name in DTYPES:
            self.assertEqual(found[name]["dtype"], name)
            self.assertEqual(found[name]["shape"], [3, 5])

    def test_statistics_agree_with_torch(self):
        found = {t["name"]: t for t in self.inspect("--stats")["tensors"]}
        for name in ("f32", "f16", "bf16", "f64"):
            expected = self.tensors[name].double()
            stats = found[name]["stats"]
            self.assertAlmostEqual(stats["mean"], expected.mean().item(), places=9)
            self.assertEqual(stats["min"], expected.min().item())
            self.assertEqual(stats["max"], expected.max().item())


if __name__ == "__main__":
    unittest.main()
