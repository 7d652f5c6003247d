"""Writes ubique/io/text/unicode_tables.h: the code points that are letters (L*) and numbers (N*), as
ranges. Uses the package unicodedata2 where it is installed, else Python's own tables; the version
must be the one that is asked for, since tokenizers cut words by it: unicode_tables.py 16.0.0"""

import sys
from pathlib import Path

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

TARGET = Path(__file__).resolve().parent.parent / "ubique" / "io" / "unicode_tables.h"
WIDTH = 100


def ranges(major: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for point in range(0x110000):
        if unicodedata.category(chr(point))[0] != major:
            continue
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def table(name: str, comment: str, major: str) -> list[str]:
    values = [f"{value:#x}," for pair in ranges(major) for value in pair]
    lines = [f"inline constexpr std::uint32_t {name}[] = {{  // {comment}"]
    line = " "
    for value in values:
        if len(line) + 1 + len(value) > WIDTH:
            lines.append(line)
            line = " "
        line += " " + value
    return [*lines, line, "};"]


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    have = unicodedata.unidata_version
    if wanted != have:
        print(f"unicode_tables: got Unicode {have}, expected {wanted or 'a version'}; "
              "python3 -m pip install unicodedata2==VERSION brings another.", file=sys.stderr)
        return 2
    head = ["// SPDX-License-Identifier: Apache-2.0",
            f"// Letters and numbers of Unicode {have}, first and last code point of each range in turn.",
            f"// Made by tools/unicode_tables.py {have}; not edited by hand.",
            "#pragma once", "", "#include <cstdint>", "", "namespace ubique::io {", "",
            "// clang-format off"]
    tables = [*table("kLetterRanges", "categories Lu, Ll, Lt, Lm, Lo", "L"), "",
              *table("kNumberRanges", "categories Nd, Nl, No", "N")]
    tail = ["// clang-format on", "", "}  // namespace ubique::io", ""]
    TARGET.write_text("\n".join([*head, *tables, *tail]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
