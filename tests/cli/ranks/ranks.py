"""What the tests of several ranks share: data, runs of N processes, and the tensors of checkpoints."""

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
# One thread each: more threads than one add up in another order, whatever the number of ranks.
COMMON = ["--device", "cpu", "--dtype", "f32", "--threads", "1", "-q"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "OMPI_", "SLURM_", "PMI_", "TORCHELASTIC", "UBIQUE_")


def environment(folder: Path, **more: str) -> dict:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
    return kept | {"UBIQUE_CACHE_DIR": str(folder / "probes"), "UBIQUE_DIST_TIMEOUT": "10"} | more


def call(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run([PROGRAM, *words], cwd=folder, env=environment(folder), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == code, f"{words} ended with {done.returncode}, not {code}:\n{done.stdout}"
    return done.stdout


def train(folder: Path, ranks: int, run: str, words: list[str], *more: str, launch=(), code: int = 0) -> str:
    """A run of so many processes; of one without `ubique launch`."""
    command = ["train", *words, *COMMON, "-o", run, *more]
    if ranks > 1 or launch:
        command = ["launch", "-n", str(ranks), *launch, "--", *command]
    return call(folder, *command, code=code)


def tensors(checkpoint: Path) -> dict:
    """Every tensor with its bytes; not the generator, which each update of several ranks sets."""
    found = {}
    for name in ("model", "trainer"):
        data = (checkpoint / f"{name}.safetensors").read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        for key, value in json.loads(data[8:8 + length]).items():
            if key == "__metadata__" or key.startswith("generator"):
                continue
            first, last = value["data_offsets"]
            found[f"{name}.{key}"] = (value["dtype"], value["shape"], data[8 + length + first:8 + length + last])
    return found


def same(folder: Path, run: str, others: list[str]) -> None:
    expected = tensors(folder / run / "checkpoints/last")
    assert expected
    for other in others:
        got = tensors(folder / other / "checkpoints/last")
        differ = [key for key in expected | got if expected.get(key) != got.get(key)]
        assert not differ, f"{other} is not {run}: {len(differ)} of {len(expected)} tensors differ: {differ[:5]}"


def losses(run: Path) -> dict[int, float]:
    """Step to loss; the last line may be half-written."""
    found = {}
    path = run / "metrics.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if row.get("kind") == "step":
            found[row["step"]] = row["loss"]
    return found


def scores(run: Path) -> list[dict]:
    """What every validation said, to the last bit."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows if row.get("kind") == "epoch"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def torchrun(rank: int, size: int, port: int) -> dict:
    """The variables that torchrun sets."""
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def start(folder: Path, words: list[str], variables: dict, log: Path) -> subprocess.Popen:
    with log.open("w") as output:
        return subprocess.Popen([PROGRAM, *words], cwd=folder, stdout=output, stderr=subprocess.STDOUT,
                                env=environment(folder, **variables))


def make_scans(folder: Path) -> list[str]:
    """Updates of four that do not divide the scans: the last of an epoch is short. Batch norm and dropout."""
    call(folder, "data", "meshnet", "synth", "-o", "heads", "--count", "12", "--size", "24", "--seed", "7", "-q")
    return ["meshnet", "-d", "heads", "--size-bins", "quartiles", "-c", "3", "--shape", "24", "--spacing", "8",
            "--cache", "cache", "--dropout", "0.1", "--batch", "1", "--effective-batch", "4"]


def make_sudokus(folder: Path) -> list[str]:
    """A puzzle table with an optimizer of its own, state that is kept between updates, averages."""
    call(folder, "data", "trm", "sudoku", "--size", "4", "--train", "20", "--test", "8", "-o", "small", "-q")
    arch = ["arch.mlp_t=True", "arch.hidden_size=16", "arch.num_heads=2", "arch.puzzle_emb_len=2",
            "arch.H_cycles=2", "arch.L_cycles=2", "+arch.halt_max_steps=4"]
    return ["trm", "-d", "small", *arch, "global_batch_size=8", "lr_warmup_steps=4",
            "ema=True", "ema_rate=0.9", "--batch", "2"]


def make_code(folder: Path) -> list[str]:
    source = folder / "src"
    source.mkdir()
    for i in range(1, 9):
        (source / f"file{i}.py").write_text(f"def add_{i}(first, second):\n    return first + second\n" * i)
    call(folder, "data", "codelm", "tokenizer", "src", "-o", "tokenizer.json", "--size", "280", "-q")
    return ["codelm", "--sequences", "src", "--tokenizer", "tokenizer.json", "--layers", "2", "--hidden", "32",
            "--heads", "4", "--context", "64", "--val-sequences", "src/file8.py", "--lr", "1e-2",
            "--effective-batch", "4", "--batch", "1"]
