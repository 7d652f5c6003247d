"""MSI-Net's files beside the programs that they are for: Keras's weights are read here and ours are
read by Keras, torchvision's old .pth is a start, and ONNX Runtime computes Keras's map from what is
exported, at sizes that nobody named before, in 32, 16 and 8 bits. Keras runs on PyTorch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

os.environ["KERAS_BACKEND"] = "torch"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from keras import layers, ops  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

UBIQUE = os.environ["UBIQUE"]
MEANS = [103.939, 116.779, 123.68]
STAGES = [("conv1", 2, 4, 1, 2), ("conv2", 2, 6, 1, 2), ("conv3", 3, 8, 1, 2),
          ("conv4", 3, 10, 1, 1), ("conv5", 3, 10, 2, 1)]  # name, layers, width, dilation, stride
ASPP = 8


class Doubled(layers.Layer):
    """Twice the size, in TensorFlow 1's way or (half_pixel) in TensorFlow 2's."""

    def __init__(self, half_pixel):
        super().__init__()
        self.half_pixel = half_pixel

    def call(self, x):
        if self.half_pixel:
            return layers.UpSampling2D(2, interpolation="bilinear")(x)
        for axis in (1, 2):
            count = x.shape[axis]
            after = ops.concatenate([ops.take(x, range(1, count), axis),
                                     ops.take(x, [count - 1], axis)], axis)
            x = ops.stack([x, (x + after) / 2], axis + 1)
            shape = [s for s in x.shape]
            shape[axis:axis + 2] = [2 * count]
            x = ops.reshape(x, shape)
        return x


class MsiNet(keras.Model):
    """The seed's subclassed model with few channels; layers carry its names."""

    def __init__(self, half_pixel):
        super().__init__()
        self.convs = {}
        for name, count, width, dilation, _ in STAGES:
            for i in range(count):
                self.add(f"{name}_{name}_{i + 1}", width, 3, dilation)
        for i, (size, dilation) in enumerate([(1, 1), (3, 4), (3, 8), (3, 12), (1, 1)]):
            self.add(f"aspp_conv1_{i + 1}", ASPP, size, dilation)
        self.add("aspp_conv2", ASPP, 1)
        for i, width in enumerate([8, 6, 4]):
            self.add(f"decoder_conv{i + 1}", width, 3)
        self.add("decoder_conv4", 1, 3, activation=None)
        self.doubled = Doubled(half_pixel)

    def add(self, name, width, size, dilation=1, activation="relu"):
        layer = layers.Conv2D(width, size, padding="same", dilation_rate=dilation, name=name,
                              activation=activation, bias_initializer="random_normal")
        setattr(self, name, layer)
        self.convs[name] = layer

    def call(self, x):
        x = x - ops.array(MEANS, "float32")
        taps = []
        for index, (name, count, _, _, stride) in enumerate(STAGES):
            for i in range(count):
                x = self.convs[f"{name}_{name}_{i + 1}"](x)
            x = layers.MaxPooling2D(2, stride, padding="same")(x)
            if index >= 2:
                taps.append(x)
        x = ops.concatenate(taps, -1)
        branches = [self.convs[f"aspp_conv1_{i}"](x) for i in (1, 2, 3, 4)]
        mean = self.convs["aspp_conv1_5"](ops.mean(x, (1, 2), keepdims=True))
        branches.append(ops.broadcast_to(mean, branches[0].shape))
        x = self.convs["aspp_conv2"](ops.concatenate(branches, -1))
        for i in (1, 2, 3):
            x = self.convs[f"decoder_conv{i}"](self.doubled(x))
        x = self.convs["decoder_conv4"](x)
        x = x - ops.amin(x, (1, 2, 3), keepdims=True)
        return x / (1e-7 + ops.amax(x, (1, 2, 3), keepdims=True))


def made(half_pixel=True, seed=3):
    keras.utils.set_random_seed(seed)
    net = MsiNet(half_pixel)
    net(np.zeros((1, 32, 40, 3), np.float32))
    return net


def map_of(net, picture):
    with torch.no_grad():
        return net(picture).detach().numpy()[..., 0]


def picture_of(height, width, seed=1):
    small = np.random.default_rng(seed).random((1, height // 8, width // 8, 3), np.float32)
    return np.kron(small, np.ones((1, 8, 8, 1), np.float32)) * 255


def run_onnx(path, picture):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["output"], {"input": picture.transpose(0, 3, 1, 2)})[0][:, 0]


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.net = made()
        cls.net.save_weights(cls.path("model_osie_gpu.weights.h5"))

    def setUp(self):
        warnings.simplefilter("ignore", DeprecationWarning)  # Keras's and NumPy's own affair

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def ubique(self, *words):
        done = subprocess.run([UBIQUE, *words, "-q"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_same_weights(self, other):
        for name, layer in self.net.convs.items():
            for own, copy in zip(layer.get_weights(), other.convs[name].get_weights(), strict=True):
                np.testing.assert_array_equal(own, copy)

    def test_keras_loads_what_we_write(self):
        names = [self.path("model_osie_gpu.weights.h5")]
        for layout in ("channels_first", "channels_last"):
            names.append(self.path(f"{layout}.safetensors"))
            self.ubique("convert", "msinet", names[-2], "-o", names[-1], "--layout", layout)
            names.append(self.path(f"{layout}.weights.h5"))
            self.ubique("convert", "msinet", names[-2], "-o", names[-1], "--layout", layout)
            other = made(seed=9)
            other.load_weights(names[-1])
            self.assert_same_weights(other)
            picture = picture_of(48, 64)
            np.testing.assert_array_equal(map_of(other, picture), map_of(self.net, picture))

    def test_onnx_runtime_computes_keras_map_in_both_ways(self):
        for half_pixel in (True, False):
            net = made(half_pixel)
            weights = self.path(f"w{half_pixel}.weights.h5" if half_pixel else "w.npz")
            if half_pixel:
                net.save_weights(weights)
            else:  # TensorFlow 1's names, and with them its way of upsampling
                np.savez(weights, **{
                    name.replace("_", "/", 1) + field: value for name, layer in net.convs.items()
                    for field, value in zip(("/kernel", "/bias"), layer.get_weights())})
            path = self.path(f"net{half_pixel}.onnx")
            self.ubique("export", "msinet", "--model", weights, "-o", path)
            onnx.checker.check_model(path, full_check=True)
            for size in ((48, 64), (72, 56)):
                picture = picture_of(*size)
                off = np.abs(run_onnx(path, picture) - map_of(net, picture)).max()
                self.assertLess(off, 2e-5)

    def test_fewer_bits_in_onnx_runtime(self):
        picture = picture_of(48, 64)
        expected = map_of(self.net, picture)
        for weights, limit, correlation in (("f16", 0.02, 0.9995), ("int8", 0.5, 0.98)):
            path = self.path(weights + ".onnx")
            text = self.ubique("export", "msinet", "--model",
                               self.path("model_osie_gpu.weights.h5"), "--weights", weights,
                               "--verify", "--python", sys.executable, "-o", path, "--json")
            said = json.loads(text)
            self.assertEqual(said["runtime"], "ONNX Runtime")
            self.assertGreater(said["cc"], correlation)
            got = run_onnx(path, picture)
            off, cc = np.abs(got - expected).max(), np.corrcoef(got.ravel(), expected.ravel())[0, 1]
            print(f"{weights}: off by {off:.2g}, CC {cc:.5f}; said KLD {said['kld']:.2g}")
            self.assertLess(off, limit)
            self.assertGreater(cc, correlation)

    def test_a_vgg16_in_the_form_of_before_1_6_is_a_start(self):
        torch.manual_seed(4)
        places = [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28]
        widths = [3] + [width for _, count, width, _, _ in STAGES for _ in range(count)]
        state = {}
        for place, (inputs, outputs) in zip(places, zip(widths, widths[1:])):
            state[f"features.{place}.weight"] = torch.randn(outputs, inputs, 3, 3)
            state[f"features.{place}.bias"] = torch.nn.Parameter(torch.randn(outputs))
        state["classifier.0.weight"] = torch.ones(5, 5)
        torch.save(state, self.path("vgg16.pth"), _use_new_zipfile_serialization=False)
        self.ubique("convert", "msinet", self.path("vgg16.pth"), "-o", self.path("vgg.safetensors"))
        found = load_file(self.path("vgg.safetensors"))
        self.assertTrue(torch.equal(found["conv5.conv5_3.weight"], state["features.28.weight"]))
        pixels = torch.rand(1, 3, 9, 9, dtype=torch.float64) * 255
        mean, std = (torch.tensor(v, dtype=torch.float64).view(1, 3, 1, 1)
                     for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        theirs = torch.conv2d((pixels / 255 - mean) / std, state["features.0.weight"].double())
        ours = torch.conv2d(pixels - 255 * mean, found["conv1.conv1_1.weight"].double())
        self.assertLess((ours - theirs).abs().max() / theirs.abs().max(), 1e-6)


if __name__ == "__main__":
    unittest.main()
