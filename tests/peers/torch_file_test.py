"""Files that PyTorch and NumPy write are read, and files that are written here open in them: the
same values bit by bit, dtype by dtype. The built io_driver turns each into safetensors and back."""

import collections
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
import torch
from safetensors.torch import load_file, save_file

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "io_driver")
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32,
          torch.int16, torch.int8, torch.uint8, torch.bool, torch.uint16, torch.uint32,
          torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64]
NUMPY_TYPES = ["f4", "f2", "f8", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "?"]


def key(dtype):
    return str(dtype).removeprefix("torch.")


def samples():
    generator = torch.Generator().manual_seed(7)
    base = torch.rand(3, 4, generator=generator) * 100
    tensors = {key(dtype): base.to(dtype) for dtype in DTYPES}
    tensors["scalar"] = torch.tensor(3)
    tensors["empty"] = torch.zeros(0, 2)
    return tensors


def raw(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).tolist()


@unittest.skipUnless(os.path.exists(DRIVER), f"no {DRIVER}: build the tests first")
class Exchange(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def drive(self, *arguments):
        done = subprocess.run([DRIVER, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refusal(self, *arguments):
        done = subprocess.run([DRIVER, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        return done.stderr

    def from_torch(self, value, **options):
        torch.save(value, self.path("in.pt"), **options)
        tree = self.drive("from-torch", self.path("in.pt"), self.path("out.safetensors"))
        return load_file(self.path("out.safetensors")), json.loads(tree)

    def to_torch(self, tensors, under="", extra="{}"):
        save_file(tensors, self.path("in.safetensors"))
        self.drive("to-torch", self.path("in.safetensors"), self.path("out.pt"), under, extra)
        return self.path("out.pt")

    def assert_same(self, got, expected):
        self.assertEqual(got.dtype, expected.dtype)
        self.assertEqual(got.shape, expected.shape)
        self.assertEqual(raw(got), raw(expected))


class TorchFilesAreRead(Exchange):
    def test_every_dtype(self):
        for protocol in (2, 4, 5):
            found, _ = self.from_torch(samples(), pickle_protocol=protocol)
            self.assertEqual(set(found), set(samples()))
            for name, tensor in samples().items():
                self.assert_same(found[name], tensor)

    def test_the_form_of_before_1_6(self):
        tensors = samples() | {"parameter": torch.nn.Parameter(torch.ones(2, 3))}
        tensors["turned"] = tensors["float32"].t()
        found, _ = self.from_torch(tensors, _use_new_zipfile_serialization=False)
        self.assertEqual(set(found), set(tensors))
        for name, tensor in tensors.items():
            self.assert_same(found[name], tensor.detach())

    def test_views_and_shared_storages(self):
        base = torch.arange(24.0).reshape(2, 3, 4)
        views = {"turned": base.permute(2, 0, 1), "part": base[1, :, ::2], "row": base[0, 1],
                 "repeated": base[0, 0, :1].expand(5), "whole": base,
                 "last": base.to(memory_format=torch.contiguous_format)[..., -1:]}
        found, _ = self.from_torch(views)
        for name, tensor in views.items():
            self.assert_same(found[name], tensor)

    def test_a_trainers_checkpoint(self):
        model = torch.nn.Sequential(torch.nn.Conv3d(1, 3, 3), torch.nn.BatchNorm3d(3))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        model(torch.rand(2, 1, 4, 4, 4)).sum().backward()
        optimizer.step()
        found, tree = self.from_torch({
            "model_state_dict": model.state_dict(), "optimizer_state_dict": optimizer.state_dict(),
            "parameter": model[0].weight, "best": np.float64(0.25), "loss": float("inf"),
            "device": torch.device("cuda", 1), "dtype": torch.bfloat16, "size": torch.Size([1, 2]),
            "names": ("a", {"b"}), "seed": 2**64 - 1, "huge": 2**100, "blob": b"\x00\xff"})
        for name, tensor in model.state_dict().items():
            self.assert_same(found["model_state_dict/" + name], tensor)
        state = optimizer.state_dict()["state"]
        self.assert_same(found["optimizer_state_dict/state/1/exp_avg"], state[1]["exp_avg"])
        self.assert_same(found["parameter"], model[0].weight.detach())
        self.assertEqual(tree["optimizer_state_dict"]["param_groups"][0]["betas"], [0.9, 0.999])
        self.assertEqual([tree[k] for k in ("best", "device", "dtype", "size", "seed")],
                         [0.25, "cuda:1", "torch.bfloat16", [1, 2], 2**64 - 1])
        self.assertEqual(tree["names"], ["a", ["b"]])
        self.assertEqual(int(tree["huge"], 16), 2**100)
        self.assertEqual(tree["blob"], {"$bytes": "00ff"})

    def test_code_and_other_forms_are_refused(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("true",)

        def refused(value, **options):
            torch.save(value, self.path("bad.pt"), **options)
            return self.refusal("from-torch", self.path("bad.pt"), self.path("x"))

        self.assertIn("asks to import posix.system", refused({"a": Evil()}))
        self.assertIn("asks to import", refused(torch.nn.Linear(1, 1)))
        self.assertIn("_rebuild_sparse_tensor", refused(torch.ones(2).to_sparse()))
        self.assertIn("lazy conjugate", refused(torch.ones(2, dtype=torch.complex64).conj()))
        legacy = {"_use_new_zipfile_serialization": False}
        self.assertIn("asks to import posix.system", refused({"a": Evil()}, **legacy))
        torch.jit.script(torch.nn.Linear(1, 1)).save(self.path("script.pt"))
        self.assertIn("TorchScript", self.refusal("from-torch", self.path("script.pt"), "x"))
        save_file({"a": torch.ones(1)}, self.path("named.pth"))
        self.assertIn("is a safetensors file",
                      self.refusal("from-torch", self.path("named.pth"), "x"))


class TorchOpensOurFiles(Exchange):
    def test_every_dtype_at_the_top(self):
        path = self.to_torch(samples())
        for options in ({"weights_only": True}, {"weights_only": True, "mmap": True},
                        {"weights_only": False}):
            found = torch.load(path, **options)
            self.assertIsInstance(found, collections.OrderedDict)
            self.assertEqual(set(found), set(samples()))
            for name, tensor in samples().items():
                self.assert_same(found[name], tensor)
                self.assertTrue(found[name].is_contiguous())

    def test_nested_checkpoint(self):
        model = torch.nn.Sequential(torch.nn.Conv3d(1, 3, 3), torch.nn.BatchNorm3d(3))
        extra = {"training_state": {"epoch": 3, "best_dice": 0.5, "note": None, "done": [True]},
                 "config": {"lr": 1e-3, "seed": 2**63 + 1, "step": -(2**40), "name": "häh"}}
        path = self.to_torch(model.state_dict(), "model_state_dict", json.dumps(extra))
        found = torch.load(path, weights_only=True)
        self.assertIsInstance(found["model_state_dict"], collections.OrderedDict)
        self.assertEqual({k: found[k] for k in extra}, extra)
        twin = torch.nn.Sequential(torch.nn.Conv3d(1, 3, 3), torch.nn.BatchNorm3d(3))
        twin.load_state_dict(found["model_state_dict"])
        for name, tensor in model.state_dict().items():
            self.assert_same(twin.state_dict()[name], tensor)

    def test_tensors_are_not_tied_together(self):
        found = torch.load(self.to_torch({"a": torch.zeros(2), "b": torch.zeros(2)}))
        found["a"] += 1
        self.assertEqual(found["b"].tolist(), [0, 0])


class NumpyFiles(Exchange):
    def arrays(self):
        values = np.arange(12).reshape(3, 4) % 7 * 3
        arrays = {"a_" + name.replace("?", "b1"): values.astype(name) for name in NUMPY_TYPES}
        arrays["scalar"] = np.float32(1.5)
        arrays["empty"] = np.zeros((0, 3), np.int64)
        return arrays

    def test_archives_and_arrays_are_read(self):
        arrays = self.arrays()
        arrays["fortran"] = np.asfortranarray(np.random.default_rng(1).random((3, 4, 5), np.float32))
        arrays["big"] = arrays["fortran"].astype(">f4")
        for save in (np.savez, np.savez_compressed):
            save(self.path("in.npz"), **arrays)
            self.drive("from-npz", self.path("in.npz"), self.path("out.safetensors"))
            found = load_file(self.path("out.safetensors"))
            self.assertEqual(set(found), set(arrays))
            for name, array in arrays.items():
                np.testing.assert_array_equal(found[name].numpy(), array)
        np.save(self.path("one.npy"), arrays["fortran"])
        self.drive("from-npy", self.path("one.npy"), self.path("out.safetensors"))
        found = load_file(self.path("out.safetensors"))
        np.testing.assert_array_equal(found["one"].numpy(), arrays["fortran"])

    def test_archives_and_arrays_are_written(self):
        tensors = {name: torch.from_numpy(np.asarray(array)) for name, array in self.arrays().items()}
        save_file(tensors, self.path("in.safetensors"))
        for how in ("deflate", "store"):
            self.drive("to-npz", self.path("in.safetensors"), self.path("out.npz"), how)
            with np.load(self.path("out.npz"), allow_pickle=False) as found:
                self.assertEqual(set(found.files), set(tensors))
                for name, tensor in tensors.items():
                    self.assertEqual(found[name].dtype, tensor.numpy().dtype)
                    np.testing.assert_array_equal(found[name], tensor.numpy())

    def test_an_array_is_written_as_numpy_writes_it(self):
        for shape in ((), (1,), (3, 4), (0, 3), (2, 3, 4, 5)):
            array = np.ones(shape, np.float32)
            save_file({"x": torch.from_numpy(array)}, self.path("in.safetensors"))
            self.drive("to-npy", self.path("in.safetensors"), self.path("ours.npy"))
            np.save(self.path("theirs.npy"), array)
            with open(self.path("ours.npy"), "rb") as ours, open(self.path("theirs.npy"), "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read())

    def test_objects_and_texts_are_refused(self):
        for value, message in ((np.array([{}]), "Python objects"), (np.array(["a"]), "texts"),
                               (np.array([b"a"]), "byte strings"),
                               (np.zeros(2, [("a", "f4"), ("b", "i4")]), "records")):
            np.savez(self.path("bad.npz"), x=value)
            self.assertIn(message, self.refusal("from-npz", self.path("bad.npz"), "x"))


if __name__ == "__main__":
    unittest.main()
