# SPDX-License-Identifier: Apache-2.0
"""Whole commands on damaged and lying files:  hostile.py WORKER PROGRAM FOLDER [--inputs N] [--seed S] [--jobs J] [--only CASE]

Every command must end by itself, in bounded time and memory, with a typed error or a result; what it prints is bounded and holds no
terminal escapes. What does not is kept in FOLDER/kept, with the command to try it again, and the exit status is 1.
The same seed tries the same inputs.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import lies
import material

MOST_STOPPING = 5  # seconds
MOST_MESSAGE = 16 << 10
ALLOWED_EXITS = {0, 2, 3, 4, 5, 130}
RESTART_AFTER = 500  # commands of one worker; memory that LibTorch keeps does not add up


class Worker:
    def __init__(self, program: str, environment: dict):
        self.start = lambda: subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
        self.process, self.done = None, 0

    def ask(self, request: dict, seconds: float) -> dict:
        """The answer, or {"signal": N}, or {"hang": True}; {"stopped": True} is added if SIGTERM was needed."""
        if self.process is None or self.done >= RESTART_AFTER:
            self.end()
            self.process, self.done = self.start(), 0
        self.done += 1
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.line(seconds)
        if answer is not None:
            return answer
        self.process.send_signal(signal.SIGTERM)
        answer = self.line(MOST_STOPPING)
        self.end()
        return dict(answer, stopped=True) if answer is not None else {"hang": True}

    def line(self, seconds: float):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                return None
        text = self.process.stdout.readline()
        if text:
            return json.loads(text)
        code = self.process.wait()
        self.process = None
        return {"signal": -code}

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


def copy_needs(case: material.Case, source: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for need in case.needs:
        if (source / need).is_dir():
            shutil.copytree(source / need, folder / need)
        else:
            shutil.copy(source / need, folder / need)


def reseal(checkpoint: Path, worker: Worker) -> None:
    """Digests of a changed checkpoint made right again: they guard against damage, not against lies."""
    manifest = checkpoint / "checkpoint.json"
    document = json.loads(manifest.read_text())
    for name, entry in document["files"].items():
        entry.update(bytes=(checkpoint / name).stat().st_size, xxh64=worker.ask({"digest": str(checkpoint / name)}, 10)["digest"])
    document.pop("xxh64", None)
    body = checkpoint / "body"
    body.write_text(json.dumps(document, indent=2))
    document["xxh64"] = worker.ask({"digest": str(body)}, 10)["digest"]
    body.unlink()
    manifest.write_text(json.dumps(document, indent=2) + "\n")


def change(case: material.Case, folder: Path, rng: random.Random, worker: Worker) -> str:
    files = sorted(name for pattern in case.changed for name in glob.glob(str(folder / pattern)) if os.path.isfile(name))
    chosen = Path(rng.choice(files))
    chosen.write_bytes(lies.change_file(chosen.name, chosen.read_bytes(), rng))
    if (chosen.parent / "checkpoint.json").exists() and rng.random() < 0.9:
        try:
            reseal(chosen.parent, worker)
        except Exception:  # pylint: disable=broad-except
            pass  # the manifest itself is what was changed
    return str(chosen.relative_to(folder))


def escapes(data: bytes) -> bool:
    """Control characters that a terminal obeys; bytes of UTF-8 are not among them."""
    return any(byte < 0x20 and byte not in b"\n\t\r" or byte == 0x7F for byte in data)


def faults(answer: dict, output: str, long_work: bool, options) -> list[str]:
    if "signal" in answer:
        last = Path(output + ".err").read_bytes()[-2000:].decode("utf-8", "replace")
        return [f"signal {answer['signal']}", last]
    if "hang" in answer:
        return ["does not end, nor on SIGTERM"]
    found = []
    if answer.get("stopped") and not long_work:
        found.append(f"takes longer than {options.seconds} s")
    if answer["exit"] not in ALLOWED_EXITS:
        found.append(f"exit {answer['exit']}")
    if answer["rise"] > options.rise << 20:
        found.append(f"memory rises by {answer['rise'] >> 20} MiB")
    said = Path(output + ".err").read_bytes()
    if len(said) > MOST_MESSAGE:
        found.append(f"a message of {len(said)} bytes")
    if escapes(said) or escapes(Path(output + ".out").read_bytes()):
        found.append("terminal escapes in what is printed")
    return found


def one_input(number: int, options, worker: Worker, slot: Path) -> tuple[list[str], str, list[str]]:
    rng = random.Random(f"{options.seed}/{number}")
    chosen = [case for case in material.cases() if options.only in case.name]
    case = rng.choice(chosen)
    folder, output = slot / "work", str(slot / "said")
    copy_needs(case, options.folder / "material", folder)
    changed = change(case, folder, rng, worker)
    if rng.random() < 0.1:
        changed += ", " + change(case, folder, rng, worker)
    command = rng.choice(case.commands)
    answer = worker.ask({"args": command.split(), "folder": str(folder), "output": output}, options.seconds)
    wrong = faults(answer, output, command.startswith("train"), options)
    if wrong:
        kept = options.folder / "kept" / str(number)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(slot, kept)
        (kept / "what.txt").write_text(f"{case.name}: {changed}\nubique {command}\n{wrong}\n")
    kinds = [command.split()[0], f"exit {answer['exit']}" if "exit" in answer else "no answer"]
    return kinds, f"input {number}, {case.name}, {changed}: ubique {command}", wrong


def one_job(job: int, options) -> tuple[collections.Counter, list[str]]:
    slot = options.folder / f"slot{job}"
    environment = dict(os.environ, UBIQUE_CACHE_DIR=str(options.folder / "material" / "cache"), OMP_NUM_THREADS="1", GOMP_SPINCOUNT="0")
    worker = Worker(options.worker, environment)
    counts, reports = collections.Counter(), []
    for number in range(options.first + job, options.first + options.inputs, options.jobs):
        kinds, name, wrong = one_input(number, options, worker, slot)
        counts.update(kinds)
        if wrong:
            reports.append(f"{name}\n    {'; '.join(wrong)}")
            print(reports[-1], flush=True)
    worker.end()
    return counts, reports


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker")
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input: one failure again, with --inputs 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=10, help="a command's most (more under a sanitizer)")
    parser.add_argument("--rise", type=int, default=300, help="MiB that memory may rise by (more under a sanitizer)")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    options.folder = options.folder.absolute()
    options.worker, options.program = os.path.abspath(options.worker), os.path.abspath(options.program)
    return options


def main() -> int:
    options = parse_options()
    material.make(options.program, options.folder / "material")
    shutil.rmtree(options.folder / "kept", ignore_errors=True)
    start = time.time()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one_job, range(options.jobs), [options] * options.jobs))
    counts = sum((result[0] for result in results), collections.Counter())
    reports = [report for result in results for report in result[1]]
    print(f"hostile: {options.inputs} inputs in {time.time() - start:.0f} s: " + ", ".join(f"{v} {n}" for v, n in sorted(counts.items())) +
          f"; {len(reports)} faults" + (f", kept in {options.folder / 'kept'}" if reports else ""))
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
