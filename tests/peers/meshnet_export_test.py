"""A MeshNet that PyTorch made goes through our formats and comes back as PyTorch's and ONNX
Runtime's users would load it; and an ONNX file that PyTorch exported is read by us."""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import onnxruntime
import torch
from safetensors.torch import load_file

UBIQUE = os.environ["UBIQUE"]
DILATIONS = [1, 2, 4, 8, 16, 16, 8, 4, 2]


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.conv = torch.nn.Conv3d(inputs, outputs, 3, padding=dilation, dilation=dilation)
        self.bn = torch.nn.BatchNorm3d(outputs)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))


class MeshNet(torch.nn.Module):
    """Module names are upstream's: network.0.conv.weight, network.9.bias."""

    def __init__(self, channels=5, classes=3):
        super().__init__()
        widths = [1] + [channels] * len(DILATIONS)
        blocks = [Block(i, o, d) for i, o, d in zip(widths, widths[1:], DILATIONS)]
        self.network = torch.nn.Sequential(*blocks, torch.nn.Conv3d(channels, classes, 1))

    def forward(self, x):
        return self.network(x)


def lively():
    torch.manual_seed(7)
    net = MeshNet()
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm3d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
    return net.eval()


def run(model, image):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(["output"], {"input": image})[0]


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.net = folder.name, lively()
        torch.save({"model_state_dict": cls.net.state_dict()}, cls.path("net.pt"))
        cls.image = torch.rand(1, 1, 20, 33, 18)
        with torch.no_grad():
            cls.logits = cls.net(cls.image).numpy()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def ubique(self, *words):
        done = subprocess.run([UBIQUE, *words, "-q"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_same_weights(self, got, names=None):
        expected = self.net.state_dict()
        for name in names or expected:
            self.assertTrue(torch.equal(got[name], expected[name]), name)

    def test_safetensors_load_under_upstreams_names(self):
        self.ubique("convert", "meshnet", self.path("net.pt"), "-o", self.path("net.safetensors"))
        state = load_file(self.path("net.safetensors"))
        self.assert_same_weights(state)
        MeshNet().load_state_dict(state, strict=True)

    def test_pt_loads_with_weights_only(self):
        self.ubique("export", "meshnet", "--model", self.path("net.pt"), "-o", self.path("new.pt"))
        state = torch.load(self.path("new.pt"), weights_only=True)["model_state_dict"]
        self.assert_same_weights(state)
        MeshNet().load_state_dict(state, strict=True)

    def test_onnx_runtime_agrees_with_pytorch(self):
        for weights, limit in [("f32", 1e-5), ("f16", 5e-3)]:
            with self.subTest(weights):
                name = self.path(weights + ".onnx")
                text = self.ubique("export", "meshnet", "--model", self.path("net.pt"), "--weights",
                                   weights, "--verify", "--python", sys.executable, "-o", name)
                self.assertIn("by ONNX Runtime", text)
                got = run(name, self.image.numpy())
                off = np.abs(got - self.logits).max() / np.abs(self.logits).max()
                self.assertLess(off, limit)

    def test_onnx_with_resizing_inside_takes_any_size(self):
        name = self.path("resized.onnx")
        self.ubique("export", "meshnet", "--model", self.path("net.pt"), "--resize", "20,33,18",
                    "--min-max", "--head", "labels", "-o", name)
        image = torch.nn.functional.interpolate(
            self.image, (11, 14, 29), mode="trilinear", align_corners=True)
        back = torch.nn.functional.interpolate(
            image, (20, 33, 18), mode="trilinear", align_corners=True)
        with torch.no_grad():
            scaled = (back - back.min()) / (back.max() - back.min())
            expected = self.net(scaled).argmax(1).numpy()
        got = run(name, image.numpy())
        self.assertEqual(got.shape, (1, 20, 33, 18))
        self.assertGreater((got == expected).mean(), 0.9999)

    def test_an_onnx_file_of_pytorchs_own_exporter_is_read(self):
        # One way keeps the batch norms, the other folds them.
        for training in (torch.onnx.TrainingMode.PRESERVE, torch.onnx.TrainingMode.EVAL):
            name = self.path(f"torch{int(training)}.onnx")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                torch.onnx.export(self.net, (self.image,), name, input_names=["input"],
                                  output_names=["output"], opset_version=17, training=training,
                                  do_constant_folding=False, dynamo=False)
            copy = name + ".safetensors"
            self.ubique("convert", "meshnet", name, "-o", copy)
            state = load_file(copy)
            again = name + ".again.onnx"
            self.ubique("export", "meshnet", "--model", copy, "-o", again)
            got = run(again, self.image.numpy())
            self.assertLess(np.abs(got - self.logits).max() / np.abs(self.logits).max(), 1e-5)
            self.assert_same_weights(state, ["network.9.weight", "network.9.bias"])


if __name__ == "__main__":
    unittest.main()
