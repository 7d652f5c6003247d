"""Measures what keeps the house readable and prints what stands out: lengths of files, headers,
functions and the README, files per folder, a purpose line in every source file, no std::regex on foreign text, and names of an older
private vocabulary (tools/private_words.txt). Warnings are places to look; only the hard limits fail."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
# (what, warn from, fail from)
LIMITS = {"source": (400, 600), "header": (200, 300), "test": (500, 800), "function": (60, 100),
          "room CMakeLists": (30, 60), "README": (121, 150), "folder": (26, 26)}
CODE = ("*.cpp", "*.h", "*.cu", "*.cuh")
FUNCTION_START = re.compile(r"^[A-Za-z_].*\)\s*(const)?\s*(noexcept)?\s*(override)?\s*\{$|^[A-Za-z_][^;]*\{$")
NOT_A_FUNCTION = re.compile(r"^(namespace|struct|class|enum|union|extern|constexpr|const|static const|inline constexpr)\b")


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in sorted(set(names)) if (ROOT / name).exists()]


def kind_of(path: Path) -> str:
    if "tests" in path.relative_to(ROOT).parts[:2]:
        return "test"
    return "header" if path.suffix == ".h" else "source"


def function_lengths(lines: list[str]):
    """Functions at namespace level: from a line at column 0 that opens a brace to the closing one."""
    start = None
    for number, line in enumerate(lines):
        if start is None and FUNCTION_START.match(line) and not NOT_A_FUNCTION.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            yield start + 1, number - start + 1
            start = None


def findings():
    for path in tracked("*.cpp", "*.h"):
        lines = path.read_text(encoding="utf-8").splitlines()
        place = path.relative_to(ROOT).as_posix()
        yield kind_of(path), len(lines), place
        for start, length in function_lengths(lines):
            yield "function", length, f"{place}:{start}"
    for path in tracked("web/*.ts", "web/*.mjs", "web/*.css"):
        yield kind_of(path), len(path.read_text(encoding="utf-8").splitlines()), path.relative_to(ROOT).as_posix()
    for path in tracked("ubique/**/CMakeLists.txt"):
        yield "room CMakeLists", len(path.read_text().splitlines()), path.relative_to(ROOT).as_posix()
    yield "README", len((ROOT / "README.md").read_text().splitlines()), "README.md"
    for folder, count in folder_sizes():
        yield "folder", count, folder


def folder_sizes():
    """Files in each folder of the sources; test data (corpora) may be many."""
    folders: dict[str, int] = {}
    for path in tracked("ubique", "tests", "bench", "cmake", "tools", "examples", "configs", "docs"):
        folder = path.parent.relative_to(ROOT).as_posix()
        if "/corpus/" not in folder + "/":
            folders[folder] = folders.get(folder, 0) + 1
    return sorted(folders.items())


def purpose_faults() -> list[str]:
    """A source file begins with the licence line, then says what it is."""
    faults = []
    for path in tracked(*CODE):
        lines = path.read_text(encoding="utf-8").splitlines()[:2]
        if len(lines) < 2 or not lines[0].startswith("// SPDX") or not re.match(r"// \S", lines[1]):
            faults.append(f"{path.relative_to(ROOT)}: no purpose line after the licence line")
    return faults


def word_faults() -> list[str]:
    """Words that have a plain name in the field: `old  plain` per line of tools/private_words.txt."""
    rows = [line.split(None, 1) for line in (ROOT / "tools/private_words.txt").read_text().splitlines()
            if line.strip() and not line.startswith("#")]
    plain = dict(rows)
    pattern = re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, plain)) + r")(?!\w)")
    faults = []
    for path in tracked("ubique/*.cpp", "ubique/*.h", "tests/*.cpp", "tests/*.h", "bench/*.cpp", "bench/*.h"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for word in pattern.findall(line):
                faults.append(f"{path.relative_to(ROOT)}:{number}: '{word}' is called {plain[word]} here")
    return faults


def regex_faults() -> list[str]:
    """std::regex recurses for every character: a long name in a stranger's file ends the program."""
    return [f"{path.relative_to(ROOT)}: std::regex; compare characters instead"
            for path in tracked("ubique/*.cpp", "ubique/*.h") if "<regex>" in path.read_text(encoding="utf-8")]


def readme_faults() -> list[str]:
    lines = (ROOT / "README.md").read_text().splitlines()
    first = next((n for n, line in enumerate(lines, 1) if line.startswith("make ")), 999)
    return [] if first <= 25 else [f"README.md: first command at line {first}, expected by line 25"]


def main() -> int:
    failed = readme_faults() + purpose_faults() + word_faults() + regex_faults()
    warned = []
    for kind, length, place in findings():
        warn, fail = LIMITS[kind]
        if length >= fail:
            what = "files" if kind == "folder" else "lines"
            failed.append(f"{place}: {kind} of {length} {what}, at most {fail - 1}")
        elif length >= warn:
            warned.append(f"{place}: {kind} of {length} lines, aim below {warn}")
    for line in warned:
        print(f"house: note: {line}", file=sys.stderr)
    for line in failed:
        print(f"house: {line}", file=sys.stderr)
    print(f"house: {len(failed)} faults, {len(warned)} notes", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
