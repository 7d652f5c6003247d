"""Networks that are written as ONNX pass ONNX's own checker, and ONNX Runtime computes with them
what we compute. The built export_driver writes the files, an input and our output for each."""

import os
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "export_driver")
# Largest difference to our f32 output, as a share of its largest value.
TOLERANCES = {"f16": 5e-3, "f16_io": 5e-3, "i8": 5e-2}


def run(path, image):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = np.float16 if session.get_inputs()[0].type == "tensor(float16)" else np.float32
    return session.run(["output"], {"input": image.astype(wanted)})[0]


@unittest.skipUnless(os.path.exists(DRIVER), f"no {DRIVER}: build the tests first")
class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = subprocess.run([DRIVER, cls.folder.name], capture_output=True, text=True, check=True)
        cls.names = done.stdout.split()

    def load(self, name):
        return np.load(os.path.join(self.folder.name, name + ".npy"))

    def test_every_file_passes_the_checker(self):
        self.assertGreater(len(self.names), 9)
        for name in self.names:
            with self.subTest(name):
                onnx.checker.check_model(os.path.join(self.folder.name, name + ".onnx"),
                                         full_check=True)

    def test_onnx_runtime_computes_the_same(self):
        for name in self.names:
            with self.subTest(name):
                image, expected = self.load(name + "_input"), self.load(name + "_output")
                got = run(os.path.join(self.folder.name, name + ".onnx"), image)
                self.assertEqual(got.shape, expected.shape)
                if expected.dtype == np.int64:
                    self.assertGreaterEqual((got == expected).mean(), 0.9999)
                    continue
                off = np.abs(got.astype(np.float64) - expected).max() / np.abs(expected).max()
                self.assertLess(off, TOLERANCES.get(name, 1e-5))

    def test_batch_and_extents_are_open(self):
        image = np.random.default_rng(1).random((1, 1, 9, 17, 8), dtype=np.float32)
        got = run(os.path.join(self.folder.name, "folded.onnx"), image)
        self.assertEqual(got.shape, (1, 3, 9, 17, 8))


if __name__ == "__main__":
    unittest.main()
