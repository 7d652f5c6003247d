"""One anisotropic scan from file to a 256 x 256 x 256 network input (canonical axes, zoom to 1 mm,
crop and pad, min-max): nibabel and SciPy here, Ubique's program in turns with it, on the same two
cores. preprocess.py BENCH_PROGRAM [REPEATS]"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import nibabel
import numpy as np
from scipy import ndimage

SHAPE, SPACING, TARGET = (192, 256, 160), (1.2, 0.9, 1.1), (256, 256, 256)
THREADS = 2


def write_scans(folder):
    """A head of noise around a bright ellipsoid, in axes that must be flipped and exchanged."""
    random = np.random.default_rng(3)
    axes = np.meshgrid(*(np.linspace(-1.2, 1.2, n) for n in SHAPE), indexing="ij", sparse=True)
    head = 800 * np.exp(-4 * sum(a * a for a in axes) ** 2)
    values = (head + random.normal(scale=25, size=SHAPE)).clip(0).astype(np.int16)
    straight = np.diag((*SPACING, 1.0))
    exchanged = np.zeros((4, 4))
    exchanged[2, 0], exchanged[0, 1], exchanged[1, 2], exchanged[3, 3] = *SPACING, 1.0
    exchanged[0, 1] *= -1
    for name, affine in (("RAS", straight), ("SLA", exchanged)):
        for ending in (".nii", ".nii.gz"):
            path = os.path.join(folder, name + ending)
            nibabel.save(nibabel.Nifti1Image(values, affine), path)
            yield f"{name}, int16 {ending}", path


def crop_or_pad(values):
    result = np.zeros(TARGET, np.float32)
    cut = [max(0, (n - t) // 2) for n, t in zip(values.shape, TARGET)]
    put = [max(0, (t - n) // 2) for n, t in zip(values.shape, TARGET)]
    size = [min(n, t) for n, t in zip(values.shape, TARGET)]
    result[tuple(slice(p, p + s) for p, s in zip(put, size))] = \
        values[tuple(slice(c, c + s) for c, s in zip(cut, size))]
    return result


def peer(path):
    start, processor = time.perf_counter(), time.process_time()
    image = nibabel.as_closest_canonical(nibabel.load(path))
    values = image.get_fdata(dtype=np.float32)
    spacing = np.sqrt((image.affine[:3, :3] ** 2).sum(axis=0))
    volume = crop_or_pad(ndimage.zoom(values, spacing, order=1))
    low, high = volume.min(), volume.max()
    volume = (volume - low) / (high - low)
    return {"total": time.perf_counter() - start, "cpu": time.process_time() - processor}, volume


def ubique(program, path, out=""):
    words = [program, path, str(THREADS)] + ([out] if out else [])
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)


def main():
    program, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_scans(folder):
            out = os.path.join(folder, "out.raw")
            ubique(program, path, out)
            _, expected = peer(path)  # both once, untimed: files are in the page cache
            difference = np.abs(np.fromfile(out, np.float32).reshape(TARGET) - expected).max()
            here, there = [], []
            for _ in range(repeats):
                here.append(ubique(program, path))
                there.append(peer(path)[0])
            report(name, here, there, difference)


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def report(name, here, there, difference):
    """Waiting for a busy core counts in seconds, not in CPU seconds; those count both threads."""
    print(f"{name}: largest difference {difference:.1e}")
    for key, unit in (("total", "s"), ("cpu", "CPU s")):
        mine, theirs = median(here, key), median(there, key)
        print(f"  Ubique {mine:.3f} {unit}, nibabel + SciPy {theirs:.3f} {unit}: "
              f"{theirs / mine:.1f}x")
    steps = ("read", "conform", "normalize", "to_native", "components")
    print("  steps: " + ", ".join(f"{step} {median(here, step):.3f}" for step in steps))


if __name__ == "__main__":
    main()
