"""Checks the direction of dependencies: a room includes only rooms of lower rank (or itself), families
never include each other, nobody includes backend/, and accelerator-specific code stays in device/ and
backend/. Inside a room, too, includes go one way: its sub-rooms (and the files beside them, as one
more) form no cycle. Reads #include lines only."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent) / "ubique"
RANK = {
    "base": 0,
    "device": 1, "io": 1,
    "kernels": 2, "probe": 2,
    "plan": 3, "data": 3, "nn": 3, "dist": 3,
    "engine": 4,
    "models": 5,
    "export": 6, "serve": 6,
    "cli": 7,
}
BACKEND_MAY_USE = {"base", "device", "kernels"}
TORCH_FREE = {"base", "io", "plan"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
TORCH = re.compile(r"^(ATen|torch|c10)/")
ACCELERATOR = re.compile(r"\bis_(cuda|mps)\(\)|\bk(CUDA|MPS)\b|__APPLE__|USE_CUDA")


def room_of(path: str) -> str:
    return path.split("/")[0]


def faults_of(file: Path) -> list[str]:
    place = file.relative_to(ROOT)
    room, text = room_of(place.as_posix()), file.read_text(encoding="utf-8")
    faults = []
    for include in INCLUDE.findall(text):
        if TORCH.match(include) and room in TORCH_FREE:
            faults.append(f"{place}: {room}/ is torch-free, but includes {include}")
        if include == "torch/torch.h":
            faults.append(f"{place}: torch/torch.h costs 20 s; include ATen or the header you need")
        if not include.startswith("ubique/"):
            continue
        target = include.removeprefix("ubique/")
        faults += layer_faults(place, room, room_of(target), target)
    if room not in ("device", "backend") and ACCELERATOR.search(text):
        word = ACCELERATOR.search(text).group(0)
        faults.append(f"{place}: accelerator-specific '{word}' belongs in device/ or backend/")
    return faults


def layer_faults(place: Path, room: str, target_room: str, target: str) -> list[str]:
    if target_room == "backend" and room != "backend":
        return [f"{place}: nobody includes backend/ ({target}); go through the registry"]
    if room == "backend":
        same = target_room == "backend" and target.split("/")[1] == place.parts[1]
        return [] if same or target_room in BACKEND_MAY_USE else [f"{place}: a backend may not include {target}"]
    if room == "models" and target_room == "models" and target.split("/")[1] != place.parts[1]:
        return [f"{place}: a family may not include another family ({target})"]
    if target_room not in RANK or room not in RANK:
        return [f"{place}: room without a rank ({room} -> {target_room}); add it to tools/check_layers.py"]
    if RANK[target_room] > RANK[room] or (RANK[target_room] == RANK[room] and target_room != room):
        return [f"{place}: {room} (rank {RANK[room]}) may not include {target} (rank {RANK[target_room]})"]
    return []


def included_files(file: Path):
    """Own headers that a file includes, relative to ROOT; backends name theirs relative to the file."""
    for include in INCLUDE.findall(file.read_text(encoding="utf-8")):
        if include.startswith("ubique/"):
            yield Path(include.removeprefix("ubique/"))
        elif (file.parent / include).exists():
            yield Path(os.path.normpath(file.parent / include)).relative_to(ROOT)


def sub_room_edges(files: list[Path]) -> dict[str, dict[str, dict[str, str]]]:
    """Per folder: which of its sub-folders ("." = its own files) includes which, with an example."""
    folders: dict[str, dict[str, dict[str, str]]] = {}
    for file in files:
        place = file.relative_to(ROOT)
        for target in included_files(file):
            common = Path(os.path.commonpath([place.parent, target.parent]) or ".")
            source, goal = (p.relative_to(common).parts for p in (place, target))
            source, goal = (parts[0] if len(parts) > 1 else "." for parts in (source, goal))
            if common.parts and source != goal:
                edges = folders.setdefault(common.as_posix(), {}).setdefault(source, {})
                edges.setdefault(goal, f"{place} includes {target}")
    return folders


def cycle_faults(files: list[Path]) -> list[str]:
    faults = []
    for folder, edges in sorted(sub_room_edges(files).items()):
        if folder == "models" or folder == "backend":
            continue  # families and backends never include each other at all
        cycle = find_cycle(edges)
        if cycle:
            steps = "; ".join(edges[a][b] for a, b in zip(cycle, cycle[1:]))
            faults.append(f"{folder}: sub-rooms include each other: {' -> '.join(cycle)} ({steps})")
    return faults


def find_cycle(edges: dict[str, dict[str, str]]) -> list[str]:
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return []
        for goal in sorted(edges.get(node, {})):
            if cycle := visit(goal, path + [node]):
                return cycle
        done.add(node)
        return []

    return next((cycle for node in sorted(edges) if (cycle := visit(node, []))), [])


def main() -> int:
    files = sorted(p for p in ROOT.rglob("*") if p.suffix in (".h", ".cpp"))
    faults = [fault for file in files for fault in faults_of(file)] + cycle_faults(files)
    for fault in faults:
        print(f"layers: {fault}", file=sys.stderr)
    print(f"layers: {len(files)} files, {len(faults)} faults", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
