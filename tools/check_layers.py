"""Checks the direction of dependencies between rooms: a room includes only rooms of lower rank (or
itself), families never include each other, nobody includes backend/, and accelerator-specific code
stays in device/ and backend/. Reads #include lines only."""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent) / "ubique"
RANK = {
    "base": 0,
    "device": 1, "io": 1,
    "kernels": 2, "probe": 2,
    "plan": 3, "data": 3,
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


def main() -> int:
    files = sorted(p for p in ROOT.rglob("*") if p.suffix in (".h", ".cpp"))
    faults = [fault for file in files for fault in faults_of(file)]
    for fault in faults:
        print(f"layers: {fault}", file=sys.stderr)
    print(f"layers: {len(files)} files, {len(faults)} faults", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
