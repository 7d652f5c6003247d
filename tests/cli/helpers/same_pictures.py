"""Do PNG files of two folders show the same pictures? No 8-bit value may differ by more than one level: numbers
that were computed in another order may round to the next one. same_pictures.py FOLDER FOLDER NAME..."""

import struct
import sys
import zlib
from pathlib import Path

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type


def paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    near = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
    return (left, above, corner)[near.index(min(near))]


def unfiltered(kind: int, row: bytearray, above: bytes, step: int) -> bytearray:
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]) & 255
    return row


def read_png(path: str) -> tuple[tuple[int, int, int], bytes]:
    data, at, packed, header = Path(path).read_bytes(), 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    width, height, bits, colour = struct.unpack_from(">IIBB", header)
    assert bits == 8 and colour in CHANNELS, f"{path}: {bits} bits, colour type {colour}"
    step, raw = CHANNELS[colour], zlib.decompress(packed)
    rows, above = [], bytes(width * step)
    for start in range(0, height * (width * step + 1), width * step + 1):
        above = unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + width * step]), above, step)
        rows.append(bytes(above))
    return (width, height, step), b"".join(rows)


for name in sys.argv[3:]:
    (shape_a, a), (shape_b, b) = (read_png(f"{folder}/{name}") for folder in sys.argv[1:3])
    if shape_a != shape_b:
        sys.exit(f"{name}: other shapes: {shape_a}, {shape_b}")
    largest = max(abs(x - y) for x, y in zip(a, b))
    if largest > 1:
        sys.exit(f"{name} differs by up to {largest} levels")
