"""`run` and `evaluate` in several processes: the files, tables, JSON and exit code of one process, also with
inputs that cannot be read and with more processes than inputs. Usage: share_test.py PROGRAM [FAMILY...]"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ranks import PROGRAM, call, environment, make_code, make_scans, make_sudokus, train

USE = ["--device", "cpu", "--dtype", "f32", "--threads", "1"]
TIMES = {"seconds", "puzzles_per_second", "tokens_per_second", "timecosts", "timestamp"}


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def contents(folder: Path) -> dict[str, object]:
    """Every file by its path; JSON without times."""
    found: dict[str, object] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        found[str(path.relative_to(folder))] = without_times(json.loads(data)) if path.suffix == ".json" else data
    return found


def use(folder: Path, ranks: int, words: list[str], code: int) -> tuple[object, dict, str]:
    """What the command says as JSON, the files it writes into `out`, and its log."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    command = [*words, *USE, "--json"]
    if ranks > 1:
        command = ["launch", "-n", str(ranks), "--", *command]
    done = subprocess.run([PROGRAM, *command], cwd=folder, env=environment(folder), text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == code, f"{words}, {ranks} processes: {done.returncode}, not {code}:\n{done.stderr}"
    return without_times(json.loads(done.stdout)), contents(out), done.stderr


def check_alike(folder: Path, words: list[str], counts: list[int], code: int = 0, told: str = "") -> None:
    one, files, log = use(folder, 1, words, code)
    assert told in log, log
    for count in counts:
        other, other_files, other_log = use(folder, count, words, code)
        what = f"{' '.join(words[:2])}, {count} processes"
        assert other == one, f"{what}:\n{json.dumps(one)[:2000]}\n{json.dumps(other)[:2000]}"
        differ = [name for name in files | other_files if files.get(name) != other_files.get(name)]
        assert not differ, f"{what}: other files: {differ}"
        assert told in other_log, f"{what}: '{told}' is not told:\n{other_log}"
    print(f"{' '.join(words[:2])}: 1, {', '.join(map(str, counts))} processes: the same output"
          f" and {len(files)} files, exit code {code}")


def check_refused(folder: Path, words: list[str]) -> None:
    text = call(folder, "launch", "-n", "2", "--", *words, code=2)
    assert "cannot be shared out; got 2 processes" in text, text


def test_meshnet(folder: Path) -> None:
    scans = make_scans(folder)
    train(folder, 1, "lesion", [*scans, "--max-steps", "2"])
    call(folder, "convert", "meshnet", "lesion/checkpoints/last", "-o", "net.safetensors", "-q")
    inputs = folder / "scans"
    inputs.mkdir()
    for number, path in enumerate(sorted((folder / "heads/images").iterdir())[:5]):
        shutil.copy(path, inputs / f"head{number}.nii.gz")
    words = ["run", "meshnet", "scans", "--model", "net.safetensors", "-o", "out", "--probabilities"]
    check_alike(folder, words, [2, 3, 7])
    (inputs / "head1.nii.gz").write_bytes(b"no scan")
    check_alike(folder, words, [2, 3], code=3, told="head1.nii.gz")
    evaluate = ["evaluate", "meshnet", "--model", "net.safetensors", "-d", "heads", "--size-bins", "quartiles",
                "--part", "all", "-o", "out"]
    check_alike(folder, evaluate, [2, 5])


def test_trm(folder: Path) -> None:
    train(folder, 1, "small-run", [*make_sudokus(folder), "--max-steps", "2"])
    check_alike(folder, ["run", "trm", "small", "--model", "small-run", "-o", "out/solved.json", "--trace"], [2, 3, 9])
    (folder / "puzzles.txt").write_text("1.....3..4.....2\n1.....3..4.....x\n..1...3..4.....2\n")
    check_alike(folder, ["run", "trm", "puzzles.txt", "--model", "small-run"], [2, 4], code=3, told="puzzles.txt")
    check_alike(folder, ["evaluate", "trm", "--model", "small-run", "-d", "small", "-o", "out/scores.json"], [2, 3])
    check_refused(folder, ["run", "trm", "-", "--model", "small-run"])


def test_codelm(folder: Path) -> None:
    train(folder, 1, "code", [*make_code(folder), "--max-steps", "2"])
    (folder / "prompts.jsonl").write_text("".join(f'"def add_{i}(first"\n' for i in range(5)))
    check_alike(folder, ["run", "codelm", "--model", "code", "--prompts", "prompts.jsonl", "--max-new-tokens", "8"], [2, 6])
    check_alike(folder, ["run", "codelm", "--model", "code", "--prompt", "def add", "--max-new-tokens", "8"], [2])
    check_alike(folder, ["evaluate", "codelm", "--model", "code", "-d", "src", "--sequence-length", "32", "--batch", "1"], [2, 3])
    check_refused(folder, ["run", "codelm", "--model", "code", "--chat"])


def test_msinet(folder: Path) -> None:
    call(folder, "data", "msinet", "synth", "-o", "scenes", "--count", "6", "--valid", "9", "--size", "32,40", "-q")
    train(folder, 1, "net", ["msinet", "-d", "scenes", "--preset", "msinet-small", "--size", "32,40", "--max-steps", "1"])
    pictures = folder / "pictures"
    pictures.mkdir()
    for number, path in enumerate(sorted((folder / "scenes").rglob("*.jpg"))[:5] or
                                  sorted((folder / "scenes/stimuli").rglob("*.png"))[:5]):
        shutil.copy(path, pictures / f"p{number}{path.suffix}")
    assert list(pictures.iterdir()), sorted(map(str, (folder / "scenes").rglob("*")))[:9]
    (folder / "areas.csv").write_text("name,x,y,w,h\nleft,0,0,10,10\n")
    words = ["run", "msinet", "pictures", "--model", "net", "-o", "out", "--top", "2", "--boxes", "areas.csv"]
    check_alike(folder, words, [2, 3, 7])
    (pictures / "bad.png").write_bytes(b"no picture")
    check_alike(folder, words, [2, 3], code=3, told="bad.png")
    check_alike(folder, ["evaluate", "msinet", "--model", "net", "-d", "scenes", "-o", "out"], [2, 3])


def test_acestep(folder: Path) -> None:
    call(folder, "data", "acestep", "new", "--layers", "2", "--heads", "2", "--head-size", "16", "-o", "model", "-q")
    call(folder, "data", "acestep", "synth", "-o", "songs", "--count", "6", "--seconds", "3.065", "-q")
    call(folder, "data", "acestep", "prepare", "songs", "-o", "data", "--model", "model", "--device", "cpu", "-q")
    words = ["run", "acestep", "--model", "model", "--tags", "funk", "--seconds", "1", "--steps", "2",
             "--variations", "3", "--seed", "5", "--batch", "1", "--out-dir", "out"]
    check_alike(folder, words, [2, 4])
    check_alike(folder, ["evaluate", "acestep", "--model", "model", "-d", "data", "--part", "train",
                         "--codec-seconds", "3"], [2, 3])


def main() -> None:
    for test in (test_meshnet, test_trm, test_codelm, test_msinet, test_acestep):
        if sys.argv[2:] and test.__name__.removeprefix("test_") not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as name:
            test(Path(name))


if __name__ == "__main__":
    main()
