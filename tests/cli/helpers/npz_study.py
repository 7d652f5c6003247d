"""Samples as arc-meshchop caches them (compressed npz: image and mask, f32), from the standard library
alone: npz_study.py FOLDER COUNT SIZE. A bright block is the lesion."""

import io
import random
import struct
import sys
import zipfile
from pathlib import Path


def npy(values: list[float], size: int) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size}, {size}, {size}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}f", *values)


def sample(number: int, size: int) -> tuple[list[float], list[float]]:
    """The block's edge grows with the number."""
    chance, edge = random.Random(number), 2 + number % 4
    image, mask = [], []
    for place in range(size**3):
        inside = all(3 <= at < 3 + edge for at in (place // size**2, place // size % size, place % size))
        mask.append(float(inside))
        image.append(1.0 if inside else chance.random() / 2)
    return image, mask


def main() -> None:
    folder, count, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True)
    for number in range(count):
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, values in zip(("image.npy", "mask.npy"), sample(number, size)):
                archive.writestr(name, npy(values, size))
        (folder / f"sample_{number:04d}_0badcafe.npz").write_bytes(content.getvalue())


if __name__ == "__main__":
    main()
