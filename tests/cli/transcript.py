"""Runs a transcript: what a person types and what they see, kept as text.

    $ ubique inspect nothing.safetensors      a command; runs in an empty folder, in bash
    ubique: error: [base.file] ...            expected output (stdout and stderr together)
    [exit 3]                                  expected exit status; 0 if not written

In expected lines `...` stands for any text; alone on a line, for any number of lines. `# ` starts a
comment line. The variables UBIQUE_* of the person who runs it are taken away."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def steps_of(text: str):
    """Yields (line number, command, expected lines, expected status)."""
    command, start, expected, status = None, 0, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# "):
            continue
        if line.startswith("$ "):
            if command:
                yield start, command, expected, status
            command, start, expected, status = line[2:], number, [], 0
        elif match := re.fullmatch(r"\[exit (\d+)\]", line):
            status = int(match.group(1))
        elif command:
            expected.append(line)
    if command:
        yield start, command, expected, status


def pattern_of(expected: list[str]) -> re.Pattern:
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n")
    return re.compile("".join(parts))


def run_step(command: str, folder: str, environment: dict) -> tuple[str, int]:
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "".join(line + "\n" for line in lines), done.returncode


def main() -> int:
    program, source, transcript = (os.path.abspath(path) for path in sys.argv[1:4])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("UBIQUE_")}
    environment.update(PATH=f"{Path(program).parent}:{environment['PATH']}", SOURCE=source, COLUMNS="100",
                       LC_ALL="C.UTF-8")  # ls and sort order names by bytes everywhere
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        environment["UBIQUE_CACHE_DIR"] = os.path.join(folder, "cache")
        for number, command, expected, status in steps_of(Path(transcript).read_text()):
            count += 1
            output, got = run_step(command, folder, environment)
            if got == status and pattern_of(expected).fullmatch(output):
                continue
            failures += 1
            print(f"{transcript}:{number}: $ {command}\n--- expected (exit {status})\n" + "\n".join(expected) +
                  f"\n--- got (exit {got})\n{output}")
    print(f"{count - failures} passed, {failures} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
