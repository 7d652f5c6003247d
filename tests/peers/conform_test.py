"""Scans at random slants and spacings, conformed here and by nibabel and SciPy: axes, values, masks
and affines agree, and masks find their way back."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

DRIVER = os.path.join(os.path.dirname(os.environ["UBIQUE"]), "conform_driver")
try:
    import nibabel
    import nibabel.processing
    from scipy import ndimage
    MISSING = "" if os.path.exists(DRIVER) else f"no {DRIVER}"
except ImportError as error:
    MISSING = str(error)

TARGET = (40, 36, 44)
SPACINGS = ((1, 1, 1), (0.9, 1.1, 1.0))  # mm, taken in turn


def random_affine(random, spacing, slant):
    """A rotation of at most `slant` radians after a random exchange and flip of axes."""
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)) * slant + np.eye(3) * 3)
    exchange = np.eye(3)[random.permutation(3)] * random.choice([-1, 1], size=3)
    affine = np.eye(4)
    affine[:3, :3] = turn @ exchange * spacing
    affine[:3, 3] = random.uniform(-60, 60, size=3)
    return affine


def smooth_noise(random, shape):
    return ndimage.gaussian_filter(random.normal(size=shape), 1.5) * 3000 + 400


@unittest.skipIf(MISSING, MISSING)
class ConformAgreesWithNibabelAndScipy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.random = np.random.default_rng(20)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def drive(self, *words, **options):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, check=True,
                              text=True, **options).stdout

    def write(self, name, values, affine, slope=None):
        image = nibabel.Nifti1Image(values, affine)
        if slope is not None:
            image.header.set_slope_inter(slope, -3)
        nibabel.save(image, self.path(name))
        return nibabel.as_closest_canonical(nibabel.load(self.path(name)))

    def scans(self, slopes):
        """Image and mask in canonical axes, as nibabel reads them back."""
        for case, slope in enumerate(slopes):
            shape = tuple(self.random.integers(9, 48, size=3))
            spacing = self.random.uniform(0.6, 2.4, size=3)
            affine = random_affine(self.random, spacing, 0.0 if case % 3 == 0 else 0.5)
            values = smooth_noise(self.random, shape).astype(np.int16)
            mask = (ndimage.gaussian_filter(self.random.normal(size=shape), 2) > 0.03)
            image = self.write("image.nii.gz", values, affine, slope)
            yield image, self.write("mask.nii", mask.astype(np.uint8), affine)

    def conform(self, method, spacing):
        out = self.drive("conform", method, *TARGET, ",".join(map(str, spacing)),
                         self.path("image.nii.gz"), self.path("image.raw"), self.path("mask.nii"),
                         self.path("mask.raw"))
        found = json.loads(out)
        self.assertEqual(tuple(found["shape"]), TARGET)
        values = np.fromfile(self.path("image.raw"), np.float32).reshape(TARGET)
        mask = np.fromfile(self.path("mask.raw"), np.uint8).reshape(TARGET)
        return values, mask, np.array(found["affine"])

    def test_axes_of_random_affines(self):
        affines = [random_affine(self.random, self.random.uniform(0.3, 4, size=3), 3.0)
                   for _ in range(3000)]
        for affine in affines[::2]:  # and sheared ones
            affine[:3, :3] += self.random.normal(size=(3, 3)) * 0.4
        text = "\n".join(" ".join(repr(float(x)) for x in a[:3].ravel()) for a in affines)
        expected = ["".join(nibabel.aff2axcodes(a)) for a in affines]
        self.assertEqual(self.drive("axes", input=text).split(), expected)

    def test_scipy_zoom(self):
        for case, (image, mask) in enumerate(self.scans([None, 0.25, 0.0123] * 6)):
            target = SPACINGS[case % 2]
            zoom = np.sqrt((image.affine[:3, :3] ** 2).sum(axis=0)) / target
            expected = self.crop_or_pad(ndimage.zoom(image.get_fdata(dtype=np.float32), zoom,
                                                     order=1))
            expected_mask = self.crop_or_pad(ndimage.zoom(mask.get_fdata(dtype=np.float32), zoom,
                                                          order=0)) > 0
            values, labels, affine = self.conform("scipy_zoom", target)
            np.testing.assert_allclose(values, expected, rtol=1.5e-7, atol=1e-5)
            np.testing.assert_array_equal(labels, expected_mask)
            self.check_zoom_affine(image, affine, zoom)

    def check_zoom_affine(self, image, affine, zoom):
        """Where a voxel of the result says it lies, the source has what was interpolated."""
        to_source = np.linalg.inv(image.affine) @ affine
        for axis in range(3):
            n = image.shape[axis]
            m = int(round(n * zoom[axis]))
            start = (m - TARGET[axis]) // 2 if m > TARGET[axis] else -((TARGET[axis] - m) // 2)
            step = (n - 1) / (m - 1)
            self.assertAlmostEqual(to_source[axis, axis], step, places=9)
            self.assertAlmostEqual(to_source[axis, 3], start * step, places=9)

    @staticmethod
    def crop_or_pad(values):
        for axis, length in enumerate(TARGET):
            start = max(0, (values.shape[axis] - length) // 2)
            values = values.take(range(start, min(values.shape[axis], start + length)), axis=axis)
        before = [(t - n) // 2 for t, n in zip(TARGET, values.shape)]
        after = [t - n - b for t, n, b in zip(TARGET, values.shape, before)]
        return np.pad(values, list(zip(before, after)))

    def test_nibabel_conform(self):
        for case, (image, mask) in enumerate(self.scans([None, 0.25, 0.0123] * 6)):
            target = SPACINGS[case % 2]
            expected = nibabel.processing.conform(image, TARGET, target, order=1)
            expected_mask = nibabel.processing.resample_from_to(mask, expected, order=0)
            values, labels, affine = self.conform("nibabel_conform", target)
            np.testing.assert_allclose(affine, expected.affine, atol=1e-10)
            difference = np.abs(values - expected.get_fdata())
            # Whole numbers in the file stay whole: halves may be rounded either way.
            self.assertLess((difference > 1e-3).mean(), 1e-4)
            self.assertLess(difference.max(), 1.001)
            np.testing.assert_array_equal(labels, expected_mask.get_fdata() > 0)

    def test_masks_come_back(self):
        for _ in self.scans([None] * 6):
            for method in ("scipy_zoom", "nibabel_conform", "brainchop"):
                found = json.loads(self.drive("native", method, 128, 128, 128, 0.8,
                                              self.path("mask.nii"), self.path("back.raw")))
                original = nibabel.load(self.path("mask.nii"))
                expected = np.asarray(original.dataobj) > 0
                self.assertEqual(tuple(found["shape"]), expected.shape)
                np.testing.assert_allclose(found["affine"], original.affine, atol=1e-9)
                back = np.fromfile(self.path("back.raw"), np.uint8).reshape(expected.shape)
                inner = (slice(1, -1),) * 3
                self.assertGreater((back == expected)[inner].mean(), 0.95)


if __name__ == "__main__":
    unittest.main()
