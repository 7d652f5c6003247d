# SPDX-License-Identifier: Apache-2.0
"""Times commands of the program with several settings of its threads, in turns; see run."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM, TURNS, LOAD = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SETTINGS = {
    "default": ([], {}),
    "two": (["--threads", "2"], {}),
    "spinning": (["--threads", "2"], {"GOMP_SPINCOUNT": "300000"}),
    "passive": (["--threads", "2"], {"OMP_WAIT_POLICY": "passive"}),
    "one": (["--threads", "1"], {}),
}
TRM = (
    "arch.mlp_t=true arch.hidden_size=64 arch.num_heads=4 arch.L_layers=1 arch.puzzle_emb_len=1 "
    "global_batch_size=20 arch.H_cycles=2 arch.L_cycles=2 arch.halt_max_steps=4 lr=1e-3"
).split()


def call(folder, *words, env=None):
    subprocess.run(
        [PROGRAM, *words, "-q"],
        cwd=folder,
        env={**os.environ, **(env or {})},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def prepare(folder):
    call(folder, "data", "trm", "sudoku", "--size", "4", "--train", "200", "--test", "20", "-o", "puzzles")
    call(folder, "data", "meshnet", "synth", "--count", "9", "--size", "32", "-o", "heads")
    call(folder, "data", "msinet", "synth", "--count", "24", "--valid", "6", "--size", "64,80", "-o", "scenes")


def jobs():
    f32 = ["--device", "cpu", "--dtype", "f32"]
    heads = ["-d", "heads", "-c", "5", "--shape", "32,32,32", "--spacing", "6"]
    scenes = ["-d", "scenes", "--preset", "msinet-small", "--size", "64,80", "--batch", "8"]
    return {
        "train trm": ["train", "trm", "-d", "puzzles", *f32, *TRM, "--max-steps", "120"],
        "train meshnet": ["train", "meshnet", *heads, *f32, "--max-steps", "60"],
        "train msinet": ["train", "msinet", *scenes, *f32, "--max-steps", "20"],
    }


def seconds_of(folder, words, setting):
    flags, env = SETTINGS[setting]
    with tempfile.TemporaryDirectory(dir=folder) as output:
        start = time.perf_counter()
        call(folder, *words, *flags, "-o", os.path.join(output, "run"), env=env)
        return time.perf_counter() - start


def compare(folder, name, words):
    times = {setting: [] for setting in SETTINGS}
    for setting in SETTINGS:  # the first use of a network probes
        seconds_of(folder, words, setting)
    for turn in range(TURNS):
        for setting in SETTINGS:
            times[setting].append(seconds_of(folder, words, setting))
        print(name, turn, *(f"{s} {t[-1]:.2f}" for s, t in times.items()), sep="  ", flush=True)
    median = {setting: statistics.median(all_turns) for setting, all_turns in times.items()}
    best = {setting: min(all_turns) for setting, all_turns in times.items()}
    for setting in SETTINGS:
        print(
            f"{name:14} {setting:9} median {median[setting]:6.2f} s, best {best[setting]:6.2f} s; "
            f"default is {median[setting] / median['default']:.2f} times as fast (best: {best[setting] / best['default']:.2f})"
        )


def main():
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 if LOAD == "busy" else 0)
    ]
    try:
        with tempfile.TemporaryDirectory(prefix="ubique-threads-") as folder:
            prepare(folder)
            for name, words in jobs().items():
                compare(folder, name, words)
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
