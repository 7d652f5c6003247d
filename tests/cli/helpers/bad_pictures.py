"""Pictures and videos as people have them, good and bad, for the transcript of `ubique run msinet`.

    bad_pictures.py FOLDER JPEGS      JPEGS: a folder with baseline, grey and inks"""

import math
import shutil
import struct
import sys
import zlib
from pathlib import Path


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, bits: int, colour: int, row: bytes, extra: bytes = b"") -> bytes:
    """All rows alike."""
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            chunk(b"IDAT", zlib.compress((b"\0" + row) * height)) + chunk(b"IEND", b""))


def video(words: str, width: int, height: int, frames: int) -> bytes:
    out = f"YUV4MPEG2 W{width} H{height} {words}\n".encode()
    for i in range(frames):
        light = bytes(int(128 + 100 * math.sin(0.3 * x + 0.2 * y + i)) for y in range(height) for x in range(width))
        out += b"FRAME\n" + light + bytes([110]) * (width * height // 4) + bytes([150]) * (width * height // 4)
    return out


def odd_video(width: int, height: int) -> bytes:
    frame = bytes(range(width)) * height + bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
    return f"YUV4MPEG2 W{width} H{height} F10:1 C420jpeg\nFRAME\n".encode() + frame


# Gives frames from -i FILE to its standard output, or the other way round; keeps what it was told.
FFMPEG = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/words"
for last; do :; done
previous=
for word; do
  if [ "$previous" = -i ]; then input=$word; fi
  previous=$word
done
if [ "$last" = - ]; then cat "${input#file:}"; else cat > "${last#file:}"; fi
"""


def main() -> None:
    folder, jpegs = Path(sys.argv[1]), Path(sys.argv[2])
    for name in ("in/sub", "mixed", "empty", "bin"):
        (folder / name).mkdir(parents=True)
    ramp = bytes(range(0, 240, 5))
    colours = chunk(b"PLTE", bytes(range(0, 240, 5)) * 3)
    pictures = {
        "palette.png": png(48, 30, 8, 3, bytes(range(48)), colours),
        "sub/palette.png": png(20, 30, 8, 3, bytes(range(20)), colours),
        "sixteen.png": png(24, 30, 16, 0, ramp),
        "grey_alpha.png": png(24, 30, 8, 4, ramp),
        "one_pixel.png": png(1, 1, 8, 2, b"\x10\x20\x30"),
        "wide.png": png(3000, 20, 8, 0, bytes(3000)),
        "text.png": b"this is no picture",
        "empty.jpg": b"",
        "cut.jpg": (jpegs / "baseline").read_bytes()[:-60],
        "cut.png": png(48, 30, 8, 3, bytes(range(48)), colours)[:-40],
    }
    for name, content in pictures.items():
        (folder / "in" / name).write_bytes(content)
    mixed = {
        "plain.png": png(48, 30, 8, 3, bytes(range(48)), colours),
        "see_through.png": png(12, 30, 8, 6, bytes(range(48))),
        "photo.webp": b"RIFF\x1a\0\0\0WEBPVP8 " + bytes(14),
        "drawing.bmp": b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0" + bytes(44),
    }
    for name, content in mixed.items():
        (folder / "mixed" / name).write_bytes(content)
    (folder / "mixed" / "link.png").symlink_to("plain.png")
    shutil.copy(jpegs / "inks", folder / "in" / "inks.jpg")
    shutil.copy(jpegs / "grey", folder / "in" / "palette.jpg")
    (folder / "clip.y4m").write_bytes(video("F10:1 C420jpeg", 48, 32, 8))
    (folder / "clip.mp4").write_bytes(video("F10:1 C420jpeg", 48, 32, 8))
    (folder / "odd.mp4").write_bytes(odd_video(47, 31))
    (folder / "cut.y4m").write_bytes(video("F10:1 C420jpeg", 48, 32, 8)[:-100])
    (folder / "deep.y4m").write_bytes(video("F10:1 C420p10", 48, 32, 1))
    (folder / "boxes.csv").write_text("name,x,y,w,h\nleft,0,0,24,32\nright,24,0,24,32\n")
    (folder / "bin" / "ffmpeg").write_text(FFMPEG)
    (folder / "bin" / "ffmpeg").chmod(0o755)


main()
