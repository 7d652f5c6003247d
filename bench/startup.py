"""Whole processes, start to exit: `ubique info` beside importing PyTorch only to ask for CUDA, `doctor`
cold and cached, `plan` for all profiles beside a start that does nothing. Commands of a pair take
turns, so that a busy moment hits both; medians are printed.

    .deps/peers/bin/python bench/startup.py build/cpu/bin/ubique"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
REPEATS = int(os.environ.get("REPEATS", "9"))


def seconds(command: list[str], environment: dict) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def medians(commands: dict[str, list[str]], environment: dict) -> dict[str, float]:
    times = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            times[name].append(seconds(command, environment))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "UBIQUE_CACHE_DIR": cache}
        cold = seconds([PROGRAM, "doctor", "--device", "cpu", "--quiet"], environment)
        needs = os.path.join(os.path.dirname(__file__), "..", "configs", "needs", "meshnet26.yaml")
        found = medians({
            "python": [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
            "info": [PROGRAM, "info"],
            "cached": [PROGRAM, "doctor", "--device", "cpu", "--quiet"],
            "version": [PROGRAM, "--version"],
            "plan": [PROGRAM, "plan", "--needs", needs, "--on", "all"],
        }, environment)
    ratio = found["python"] / found["info"]
    print(f"start   ubique info {found['info'] * 1e3:6.0f} ms   python import torch {found['python'] * 1e3:6.0f} ms"
          f"   ratio {ratio:.1f}x (goal 4x)   median of {REPEATS}")
    print(f"doctor  cold {cold:.1f} s (goal 60 s)   cached {found['cached']:.2f} s (goal 1 s)")
    print(f"plan    all profiles {found['plan'] * 1e3:.0f} ms, of which start-up {found['version'] * 1e3:.0f} ms:"
          f" {(found['plan'] - found['version']) * 1e3:.0f} ms of planning (goal 100 ms)")


if __name__ == "__main__":
    main()
