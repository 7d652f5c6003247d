"""Scans that nibabel writes, in every type, byte order and form of header, are read here with the
values and affines that nibabel itself reads; and nibabel reads the copies written here."""

import gzip
import json
import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

try:
    import nibabel as nib
    from nibabel.quaternions import mat2quat
except ImportError:
    nib = None

# The program that reads and copies is a test of its own: tests/io/scans/nifti_exchange_test.cpp.
READER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "test_io")
TYPES = {"u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8",
         "i64": "i8", "f32": "f4", "f64": "f8"}


def values_of(kind, shape, generator):
    if kind[0] == "f":
        return generator.normal(0, 1000, shape).astype(TYPES[kind])
    limits = np.iinfo(TYPES[kind])
    return generator.integers(limits.min, limits.max, shape, dtype=TYPES[kind], endpoint=True)


def rotation(generator):
    matrix, _ = np.linalg.qr(generator.normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def raw_file(values, header):
    """Bytes with exactly this header: nibabel's own writer would correct it."""
    values = values.astype(values.dtype.newbyteorder(header.endianness))
    return header.binaryblock + bytes(4) + values.tobytes(order="F")


def header_for(kind, shape, version=1, order="<"):
    header = (nib.Nifti1Header if version == 1 else nib.Nifti2Header)(endianness=order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header.set_data_dtype(np.dtype(TYPES[kind]))
    header.set_data_shape(shape)
    header.set_zooms([1.1, 0.9, 2.3, 1, 1, 1, 1][:len(shape)])
    header["vox_offset"] = header.single_vox_offset
    return header


@unittest.skipIf(nib is None, "nibabel is not installed")
class NiftiAgreesWithNibabel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name in ("in", "out"):
            os.mkdir(os.path.join(self.folder.name, name))
        self.generator = np.random.default_rng(5)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, values, header):
        content = raw_file(values, header)
        opener = gzip.open if name.endswith(".gz") else open
        with opener(os.path.join(self.folder.name, "in", name), "wb") as file:
            file.write(content)

    def exchange(self):
        environment = dict(os.environ, UBIQUE_NIFTI_EXCHANGE=self.folder.name)
        done = subprocess.run([READER, "--test-case=nifti exchange*"], env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = {}
        for name in os.listdir(os.path.join(self.folder.name, "in")):
            if ".img" in name:
                continue
            with open(os.path.join(self.folder.name, "out", name + ".json")) as file:
                found[name] = json.load(file)
        return found

    def compare(self, name, facts):
        """Values, affine, spacing and copy of one scan against nibabel's reading of it."""
        out = os.path.join(self.folder.name, "out", name)
        expected = nib.load(os.path.join(self.folder.name, "in", name))
        shape = (tuple(expected.shape) + (1, 1, 1))[:max(3, expected.ndim)]
        self.assertEqual(tuple(facts["shape"]), shape[:3])
        self.assertEqual(facts["volumes"], int(np.prod(shape[3:])))
        np.testing.assert_allclose(facts["affine"], expected.affine, rtol=0, atol=1e-15)
        zooms = (tuple(expected.header.get_zooms()) + (1, 1, 1))[:3]
        if expected.ndim >= 3:
            np.testing.assert_array_equal(facts["spacing"], np.array(zooms, float))
        values = np.fromfile(out + ".f32", "f4").reshape(shape, order="F")
        array = np.asanyarray(expected.dataobj)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(values, array.reshape(shape).astype("f4"))
        copy = nib.load(out + ".copy.nii.gz")
        np.testing.assert_allclose(copy.affine, expected.affine, rtol=1e-6, atol=1e-5)
        stored = expected.dataobj.get_unscaled().reshape(copy.shape, order="F")
        np.testing.assert_array_equal(copy.dataobj.get_unscaled(), stored)
        self.assertEqual((copy.dataobj.slope, copy.dataobj.inter), (1, 0))
        self.assertEqual(copy.header.get_xyzt_units()[0], "mm")

    def compare_all(self):
        found = self.exchange()
        for name, facts in found.items():
            with self.subTest(name):
                self.assertNotIn("error", facts)
                self.compare(name, facts)
        return found

    def test_every_type_version_and_byte_order(self):
        for kind in TYPES:
            for version in (1, 2):
                for order, word in (("<", "little"), (">", "big")):
                    ending = ".nii.gz" if version == 1 else ".nii"
                    self.write(f"{kind}_{version}_{word}{ending}",
                               values_of(kind, (3, 4, 5), self.generator),
                               header_for(kind, (3, 4, 5), version, order))
        found = self.compare_all()
        for name, facts in found.items():
            self.assertEqual(facts["dtype"], name.split("_")[0])

    def test_scaling(self):
        cases = {"plain": (1, 0), "slope": (0.25, 0), "both": (0.0123, -12.5), "inter": (1, 7),
                 "zero": (0, 5), "nan": (np.nan, np.nan), "inf": (np.inf, 3), "negative": (-2, 1)}
        for kind in ("u8", "i16", "i32", "i64", "f32", "f64"):
            for name, (slope, inter) in cases.items():
                header = header_for(kind, (4, 3, 2))
                header["scl_slope"], header["scl_inter"] = slope, inter
                self.write(f"{name}_{kind}.nii", values_of(kind, (4, 3, 2), self.generator), header)
        found = self.compare_all()
        for name, facts in found.items():
            self.assertEqual(facts["scaled"], name.split("_")[0] in
                             ("slope", "both", "inter", "negative"))

    def test_forms(self):
        values = values_of("i16", (4, 5, 6), self.generator)
        for i in range(60):
            header = header_for("i16", (4, 5, 6), 1 + i % 2)
            affine = np.eye(4)
            zooms = self.generator.uniform(0.3, 4, 3) * [self.generator.choice((-1, 1)), 1, 1]
            turn = rotation(self.generator) if i % 3 else \
                np.diag(self.generator.choice((-1.0, 1.0), 3))  # half turns: a of the quaternion is 0
            affine[:3, :3] = turn * zooms
            affine[:3, 3] = self.generator.normal(0, 90, 3)
            header.set_qform(affine, i % 5)
            if i % 4 == 0:
                affine[:3, :3] = affine[:3, :3] @ [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]
            if i % 2:
                header.set_sform(affine, 1 + i % 5)
            if i % 7 == 0:
                header["pixdim"][0] = 0
            self.write(f"form_{i}.nii", values, header)
        found = self.compare_all()
        self.assertEqual({facts["source"] for facts in found.values()},
                         {"sform", "qform", "spacing"})

    def test_codes_beyond_the_known_count_as_none(self):
        for i, codes in enumerate(((6, 0), (0, 6), (-1, 1), (5, 5), (0, 0))):
            header = header_for("u8", (2, 2, 2))
            header.set_qform(np.diag([2, 3, 4, 1]), 1)
            header.set_sform(np.diag([-2, 3, 4, 1]), 1)
            header["sform_code"], header["qform_code"] = codes
            self.write(f"codes_{i}.nii", values_of("u8", (2, 2, 2), self.generator), header)
        self.compare_all()

    def test_number_of_dimensions(self):
        for shape in ((5,), (5, 4), (5, 4, 3), (5, 4, 3, 1), (5, 4, 3, 2), (2, 3, 1, 2, 3),
                      (2, 1, 1, 1, 1, 1, 2), (1, 1, 1)):
            name = "x".join(map(str, shape)) + ".nii"
            self.write(name, values_of("f32", shape, self.generator), header_for("f32", shape))
        self.compare_all()

    def test_pairs_and_extensions(self):
        values = values_of("i16", (4, 5, 6), self.generator)
        image = nib.Nifti1Image(values, np.diag([2, 3, 4, 1]))
        image.header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"x" * 1000))
        folder = os.path.join(self.folder.name, "in")
        nib.save(image, os.path.join(folder, "extended.nii.gz"))
        nib.save(nib.Nifti1Pair(values, np.diag([2, 3, 4, 1])), os.path.join(folder, "pair.hdr"))
        nib.save(nib.Nifti2Pair(values, np.diag([2, 3, 4, 1])), os.path.join(folder, "packed.hdr.gz"))
        self.assertEqual(len(self.compare_all()), 3)

    def test_what_nibabel_also_refuses(self):
        values = values_of("u8", (2, 2, 2), self.generator)
        header = header_for("u8", (2, 2, 2))
        header["qform_code"] = 1
        header["quatern_b"] = 1.001
        self.write("quaternion.nii", values, header)
        header = header_for("u8", (2, 2, 2))
        header["scl_slope"], header["scl_inter"] = 2, np.inf
        self.write("inter.nii", values, header)
        for name, facts in self.exchange().items():
            self.assertIn("error", facts, name)
            with self.assertRaises(Exception):
                nib.load(os.path.join(self.folder.name, "in", name))

    def test_the_written_qform_is_the_one_nibabel_would_write(self):
        for i in range(20):
            header = header_for("u8", (2, 2, 2))
            affine = np.eye(4)
            affine[:3, :3] = rotation(self.generator) * [1, 2, -3 if i % 2 else 3]
            header.set_sform(affine, 2)
            header["qform_code"] = 1
            self.write(f"{i}.nii", values_of("u8", (2, 2, 2), self.generator), header)
        for name in self.exchange():
            copy = nib.load(os.path.join(self.folder.name, "out", name + ".copy.nii.gz"))
            np.testing.assert_allclose(copy.get_qform(), copy.get_sform(), atol=1e-5)
            turn = copy.affine[:3, :3] / copy.header.get_zooms()
            turn[:, 2] *= copy.header["pixdim"][0]
            written = [copy.header["quatern_" + letter] for letter in "bcd"]
            np.testing.assert_allclose(written, mat2quat(turn)[1:], atol=1e-5)


if __name__ == "__main__":
    unittest.main()
