# SPDX-License-Identifier: Apache-2.0
"""Damaged files and well-formed lies: random changes of bytes, and changes of what a format says that keep
its lengths, compression and digests consistent."""
import gzip
import io
import json
import random
import re
import struct
import zipfile

NUMBERS = [0, -1, 1, 2, 3, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -2**63, 1e308, -1e308, 1e-320,
           0.5, 1e9, 1000000]
STRINGS = ["", "x", "\x1b[2J\x1b[31m", "\u0000", "a" * 300, "b" * 30000, "../../etc/passwd", "\ud7ff\u202e", "nan", "1e999", "[]", "{}",
           "(((((((((((((((((a+)+)+)+)+)+)+)+)+", "%s%n", "\r\n", "cuda", "bfloat16"]
MOST_BYTES_CHANGED = 8


def foreign_value(rng: random.Random):
    kind = rng.randrange(8)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(STRINGS)
    return rng.choice([None, True, False, [], {}, [rng.choice(NUMBERS)] * rng.choice([1, 3, 1000]), {"a": {"b": [1]}}, [[[]]]])


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flips, cuts, repeats; never structure."""
    data = bytearray(data)
    for _ in range(rng.randint(1, MOST_BYTES_CHANGED)):
        if not data:
            return rng.randbytes(16)
        at = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(min(len(data), 512))
        kind = rng.randrange(7)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, 0x1B, 0x22, 0x5B])
        elif kind == 2:
            width = rng.choice([2, 4, 8])
            data[at:at + width] = (int(rng.choice(NUMBERS[:15])) & (256**width - 1)).to_bytes(width, rng.choice(["little", "big"]))
        elif kind == 3:
            del data[at:at + rng.choice([1, 4, 64])]
        elif kind == 4:
            data[at:at] = data[at:at + rng.choice([1, 8, 200])]
        elif kind == 5:
            data[at:at] = rng.randbytes(rng.choice([1, 4, 16]))
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)


def change_text(data: bytes, rng: random.Random) -> bytes:
    """A number or word becomes another one; lines vanish or repeat. For YAML, CSV and puzzles."""
    text = data.decode("utf-8", "surrogateescape")
    words = list(re.finditer(r"[-\w.]+", text))
    kind = rng.randrange(4)
    if words and kind < 3:
        word = rng.choice(words)
        value = foreign_value(rng)
        new = value if isinstance(value, str) else json.dumps(value)
        text = text[:word.start()] + new + text[word.end():]
    else:
        lines = text.splitlines(True)
        if lines:
            at = rng.randrange(len(lines))
            lines[at:at + 1] = [] if rng.random() < 0.5 else [lines[at]] * rng.choice([2, 50])
        text = "".join(lines)
    return text.encode("utf-8", "surrogateescape")


def places_of(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places_of(value[key], path + (key,))
    elif isinstance(value, list):
        for i in range(min(len(value), 50)):
            yield from places_of(value[i], path + (i,))


def lie_in(document, rng: random.Random):
    """One value of a JSON document replaced, removed, renamed or scaled. JSON inside strings is entered."""
    places = [place for place in places_of(document) if place]
    if not places:
        return foreign_value(rng)
    place = rng.choice(places)
    holder = document
    for step in place[:-1]:
        holder = holder[step]
    key, old = place[-1], holder[place[-1]]
    kind = rng.randrange(6)
    if isinstance(old, str) and old[:1] in "{[" and kind < 5:
        try:
            holder[key] = json.dumps(lie_in(json.loads(old), rng))
            return document
        except ValueError:
            pass
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(STRINGS)] = holder.pop(key)
    elif kind == 2 and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[key] = rng.choice([old + 1, old - 1, old * 2, old // 2 if isinstance(old, int) else old / 2, -old])
    else:
        holder[key] = foreign_value(rng)
    return document


def dump(document) -> bytes:
    return json.dumps(document).encode("utf-8", "surrogatepass")


def lie_json(data: bytes, rng: random.Random) -> bytes:
    return dump(lie_in(json.loads(data), rng))


def lie_safetensors(data: bytes, rng: random.Random) -> bytes:
    """A header that is well-formed and wrong; weights that are NaN, infinite or huge."""
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    if rng.random() < 0.15 and len(body) > 64:
        at = rng.randrange(len(body) // 4) * 4
        return data[:8 + size] + body[:at] + struct.pack("<f", rng.choice([float("nan"), float("inf"), 1e38, -1e38])) + body[at + 4:]
    if rng.random() < 0.7 and "__metadata__" in header:
        header["__metadata__"] = lie_in(header["__metadata__"], rng)
    else:
        header = lie_in(header, rng)
    text = dump(header)
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def lie_nifti(data: bytes, rng: random.Random) -> bytes:
    """Fields of the header (dim, datatype, pixdim, vox_offset, scaling, forms) of a gzipped scan."""
    scan = bytearray(gzip.decompress(data))
    for _ in range(rng.randint(1, 3)):
        at, form = rng.choice([(40 + 2 * rng.randrange(8), "<h"), (70, "<h"), (72, "<h"), (76 + 4 * rng.randrange(8), "<f"), (108, "<f"),
                               (112, "<f"), (116, "<f"), (252, "<h"), (254, "<h"), (256 + 4 * rng.randrange(6), "<f"),
                               (280 + 4 * rng.randrange(12), "<f"), (344, "<i")])
        if form == "<f":
            value = rng.choice([0.0, -1.0, 1e-30, 1e30, float("nan"), float("inf"), 2.0, 1e9])
        else:
            value = rng.choice([0, -1, 1, 2, 3, 8, 16, 64, 256, 512, 32767, -32768])
        struct.pack_into(form, scan, at, value)
    return gzip.compress(bytes(scan), 1)


def lie_zip(data: bytes, rng: random.Random) -> bytes:
    """One member of an archive (.npz, .pt) changed, the archive written anew."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        small = [name for name in names if old.getinfo(name).file_size < 20000] or names
        target = rng.choice(small)
        for name in names:
            content = old.read(name)
            new.writestr(name, change_bytes(content, rng) if name == target else content)
    return out.getvalue()


LIES = {".safetensors": lie_safetensors, ".json": lie_json, ".gz": lie_nifti, ".npz": lie_zip, ".pt": lie_zip, ".yaml": change_text,
        ".csv": change_text, ".txt": change_text, ".jsonl": change_text}


def change_file(name: str, data: bytes, rng: random.Random) -> bytes:
    """Half of the inputs are damaged, half lie."""
    lie = next((LIES[ending] for ending in LIES if name.endswith(ending)), None)
    if lie is None or rng.random() < 0.4:
        return change_bytes(data, rng)
    try:
        return lie(data, rng)
    except Exception:  # pylint: disable=broad-except
        return change_bytes(data, rng)  # an earlier change left nothing that a lie could keep consistent
