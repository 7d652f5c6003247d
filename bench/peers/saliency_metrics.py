"""Saliency metrics of a set of 480 x 640 maps: pysaliency here, Ubique's program in turns with it,
on the same maps and the same two cores. saliency_metrics.py BENCH_PROGRAM [IMAGES] [REPEATS]

pysaliency's own methods are called, the quickest it has for each metric (AUCs rather than AUC), on
maps that are already in memory. It uses one core but for BLAS; CPU time, which counts all threads of
both, shows what is left of the ratio without the second core, and is the same on a busy machine.
AUC-Judd is MIT's, where repeated fixations count once; pysaliency's counts them each time, hence the
difference."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from scipy.ndimage import gaussian_filter

np.trapz = np.trapezoid  # pysaliency 0.2.22 still calls it by its old name
warnings.filterwarnings("ignore")
import pysaliency  # noqa: E402

WIDTH, HEIGHT, CORES = 640, 480, 2
EPS = 2.2204e-16


def make_set(count):
    """Blobs that draw 45 to 75 fixations each, and a prediction that finds some of them."""
    random = np.random.default_rng(11)
    maps, truths, points = [], [], []
    for _ in range(count):
        blobs = random.uniform((60, 60), (WIDTH - 60, HEIGHT - 60), (6, 2))
        each = random.integers(0, 6, random.integers(45, 76))
        xy = blobs[each] + random.normal(scale=28, size=(len(each), 2))
        xy = np.floor(np.clip(xy, 0, (WIDTH - 1, HEIGHT - 1)))
        truth, seen = np.zeros((HEIGHT, WIDTH)), np.zeros((HEIGHT, WIDTH))
        truth[xy[:, 1].astype(int), xy[:, 0].astype(int)] = 1
        seen[blobs[:4, 1].astype(int), blobs[:4, 0].astype(int)] = 1
        noise = gaussian_filter(random.normal(size=(HEIGHT // 8, WIDTH // 8)), 2)
        noise = np.kron(noise, np.ones((8, 8)))
        found = gaussian_filter(seen, 30) * 5000 + gaussian_filter(noise, 4)
        maps.append(((found - found.min()) / np.ptp(found)).astype(np.float32))
        truths.append(gaussian_filter(truth, 24).astype(np.float32))
        points.append(xy)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    centre = np.exp(-((x - WIDTH / 2) / (0.22 * WIDTH)) ** 2 / 2
                    - ((y - HEIGHT / 2) / (0.22 * HEIGHT)) ** 2 / 2)
    baseline = 0.9 * centre / centre.sum() + 0.1 / centre.size
    return maps, truths, points, baseline


def write_set(folder, maps, truths, points, baseline):
    np.stack(maps).tofile(os.path.join(folder, "maps.f32"))
    np.stack(truths).tofile(os.path.join(folder, "truths.f32"))
    baseline.tofile(os.path.join(folder, "baseline.f64"))
    with open(os.path.join(folder, "set.json"), "w") as file:
        json.dump({"width": WIDTH, "height": HEIGHT, "points": [p.tolist() for p in points]}, file)


def number_of(stimulus):
    return int(stimulus[0, 0]) * 256 + int(stimulus[0, 1])


class Maps(pysaliency.SaliencyMapModel):
    def __init__(self, maps):
        super().__init__(caching=False)
        self.maps = maps

    def _saliency_map(self, stimulus):
        return self.maps[number_of(stimulus)]


class Densities(pysaliency.Model):
    """A map's density with 1 % uniform; what a user of information_gain writes."""

    def __init__(self, maps):
        super().__init__(caching=False)
        self.maps = maps

    def _log_density(self, stimulus):
        values = self.maps[number_of(stimulus)].astype(float)
        return np.log(0.99 * values / values.sum() + 0.01 / values.size)


class Fixed(pysaliency.Model):
    def __init__(self, density):
        super().__init__(caching=False)
        self.log = np.log(density)

    def _log_density(self, stimulus):
        return self.log


def peer(maps, truths, points, baseline):
    stimuli = []
    for number in range(len(maps)):
        stimuli.append(np.zeros((HEIGHT, WIDTH), np.uint8))
        stimuli[-1][0, :2] = number // 256, number % 256
    stimuli = pysaliency.Stimuli(stimuli)
    xy, number = np.concatenate(points), np.repeat(np.arange(len(points)), [len(p) for p in points])
    fixations = pysaliency.Fixations.create_without_history(xy[:, 0], xy[:, 1], number)
    model, truth = Maps(maps), Maps(truths)
    density, fixed = Densities(maps), Fixed(baseline)
    jobs = {
        "AUC-Judd": lambda: model.AUC_Judd(stimuli, fixations, jitter=False),
        "AUC": lambda: model.AUCs(stimuli, fixations).mean(),
        "sAUC": lambda: model.AUCs(stimuli, fixations, nonfixations="shuffled").mean(),
        "NSS": lambda: model.NSSs(stimuli, fixations).mean(),
        "CC": lambda: model.CC(stimuli, truth),
        "KLD": lambda: model.image_based_kl_divergence(
            stimuli, truth, minimum_value=0, log_regularization=EPS, quotient_regularization=EPS),
        "SIM": lambda: model.SIM(stimuli, truth),
        "IG": lambda: density.information_gain(stimuli, fixations, fixed),
    }
    results = {}
    for name, job in jobs.items():
        start, processor = time.perf_counter(), time.process_time()
        mean = float(job())
        results[name] = {"seconds": time.perf_counter() - start,
                         "cpu": time.process_time() - processor, "mean": mean}
    return results


def ubique(program, folder, threads, repeats):
    words = [program, folder, str(threads), str(repeats)]
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    data = make_set(count)
    peer(*(part[:3] for part in data[:3]), data[3])  # numba compiles, untimed
    with tempfile.TemporaryDirectory() as folder:
        write_set(folder, *data)
        before = ubique(program, folder, CORES, repeats)
        theirs = peer(*data)
        after = ubique(program, folder, CORES, repeats)
    report(count, before, theirs, after)


def report(count, before, theirs, after):
    version = importlib.metadata.version("pysaliency")
    print(f"{count} maps of {HEIGHT} x {WIDTH}, {CORES} cores, ms per map; pysaliency {version}")
    print(f"{'':15}{'pysaliency':>11}{'Ubique':>9}{'ratio':>8}"
          f"{'CPU there':>11}{'here':>9}{'ratio':>8}{'difference':>12}")
    there_sum, here_sum = np.zeros(2), np.zeros(2)

    def line(name, there, here, note=""):
        text = f"{name:15}"
        for theirs_ms, mine_ms in zip(1e3 * there / count, 1e3 * here / count):
            peer_text = f"{theirs_ms:11.3f}" if theirs_ms else f"{'-':>11}"
            ratio = f"{theirs_ms / mine_ms:8.1f}" if theirs_ms else f"{'-':>8}"
            text += f"{peer_text}{mine_ms:9.3f}{ratio}"
        print(f"{text}{note:>12}".rstrip())

    for name in before:
        here = np.mean([[run[name][key] for key in ("seconds", "cpu")] for run in (before, after)],
                       axis=0)
        if name.startswith("all"):
            line(name, there_sum, here)
            continue
        here_sum += here
        if name not in theirs:
            line(name, np.zeros(2), here, "no peer")
            continue
        there = np.array([theirs[name]["seconds"], theirs[name]["cpu"]])
        there_sum += there
        line(name, there, here, f"{abs(before[name]['mean'] - theirs[name]['mean']):.1e}")
    line("sum of these", there_sum, here_sum)


if __name__ == "__main__":
    main()
