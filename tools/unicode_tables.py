"""Writes the Unicode tables of ubique/io/text/unicode/: letters, numbers and characters of words, the
normal form NFC, upper and lower case, and what stands together as one visible character. Uses the package unicodedata2 where it is installed, else
Python's own tables; the version must be the one that is asked for, since tokenizers cut words by it:
unicode_tables.py 16.0.0

Large tables are packed as text: numbers of 5 bits a character, the lowest first, from '0' on; a character
from 'P' on says that more follows. unicode/packed.h reads them."""

import sys
from pathlib import Path

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

FOLDER = Path(__file__).resolve().parent.parent / "ubique" / "io" / "text" / "unicode"
WIDTH = 100
POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
# Other_Alphabetic beyond the marks: the circled and squared letters. They are \\w in Rust's expressions.
ALPHABETIC_SYMBOLS = [(0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)]


# UAX 29: marks that stand by themselves, characters that join what follows, and what no category tells.
LONE_MARKS = [0x102B, 0x102C, 0x1038, *range(0x1062, 0x1065), *range(0x1067, 0x106E), 0x1083, *range(0x1087, 0x108D), 0x108F,
              *range(0x109A, 0x109D), 0x1A61, 0x1A63, 0x1A64, 0xAA7B, 0xAA7D, 0x11720, 0x11721]
OTHER_JOINING = [0x0E33, 0x0EB3, 0x200C, 0x200D, 0xFF9E, 0xFF9F, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)]
PREPENDED = [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD, 0x111C2, 0x111C3, 0x113D1, 0x1193F, 0x11941,
             *range(0x11A84, 0x11A8A), 0x11D46, 0x11F02]
UNASSIGNED_CONTROLS = [(0x2065, 0x2065), (0xFFF0, 0xFFF8), (0xE0000, 0xE001F), (0xE0080, 0xE00FF), (0xE01F0, 0xE0FFF)]


def ranges_of(chosen) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for point in filter(chosen, POINTS):
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def is_word(point: int) -> bool:
    category = unicodedata.category(chr(point))
    symbol = any(first <= point <= last for first, last in ALPHABETIC_SYMBOLS)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or point in (0x200C, 0x200D) or symbol


def joins(point: int) -> bool:
    return point in OTHER_JOINING or unicodedata.category(chr(point))[0] == "M" and point not in LONE_MARKS


def is_control(point: int) -> bool:
    category = unicodedata.category(chr(point))
    unassigned = any(first <= point <= last for first, last in UNASSIGNED_CONTROLS) and category == "Cn"
    return (category in ("Cc", "Cf", "Zl", "Zp") or unassigned) and point not in PREPENDED and point not in OTHER_JOINING


def packed_ranges(chosen) -> list[int]:
    """Distance from the range before, length - 1."""
    numbers, end = [], 0
    for first, last in ranges_of(chosen):
        numbers += [first - end, last - first]
        end = last
    return numbers


def range_table(name: str, comment: str, major: str) -> list[str]:
    ranges = ranges_of(lambda point: unicodedata.category(chr(point))[0] == major)
    lines = [f"inline constexpr std::uint32_t {name}[] = {{  // {comment}"]
    line = " "
    for value in (f"{value:#x}," for pair in ranges for value in pair):
        if len(line) + 1 + len(value) > WIDTH:
            lines.append(line)
            line = " "
        line += " " + value
    return [*lines, line, "};"]


def packed(numbers: list[int]) -> str:
    """Negative numbers must be made even and odd by signed() before."""
    text = ""
    for number in numbers:
        while number >= 32:
            text += chr(ord("P") + (number & 31))
            number >>= 5
        text += chr(ord("0") + number)
    return text.replace("\\", "!")  # a backslash would escape in C++


def signed(number: int) -> int:
    return number * 2 if number >= 0 else -number * 2 - 1


def packed_table(name: str, comment: str, numbers: list[int]) -> list[str]:
    text = packed(numbers)
    room = WIDTH - 4
    lines = [f'    "{text[at:at + room]}"' for at in range(0, len(text), room)]
    return [f"inline constexpr std::string_view {name} =  // {comment}", *lines[:-1], lines[-1] + ";"]


def differences(rows: list[tuple[int, ...]]) -> list[int]:
    """The first column rises: plain differences; the others as signed ones."""
    numbers, before = [], (0,) * 4
    for row in rows:
        numbers.append(row[0] - before[0])
        numbers += [signed(now - then) for now, then in zip(row[1:], before[1:])]
        before = (*row, *(0,) * 4)[:4]
    return numbers


def decompositions() -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """(composite, first, second) of pairs that compose again; the same of those that do not, 0 for none."""
    both, one_way = [], []
    for point in POINTS:
        text = unicodedata.decomposition(chr(point))
        if not text or text.startswith("<"):
            continue
        parts = [int(part, 16) for part in text.split()]
        again = unicodedata.normalize("NFC", "".join(map(chr, parts))) == chr(point)
        (both if len(parts) == 2 and again else one_way).append((point, parts[0], parts[1] if len(parts) == 2 else 0))
    return both, one_way


def combining_classes() -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []  # first, count, class
    for point in POINTS:
        kind = unicodedata.combining(chr(point))
        if kind and rows and rows[-1][0] + rows[-1][1] == point and rows[-1][2] == kind:
            rows[-1] = (rows[-1][0], rows[-1][1] + 1, kind)
        elif kind:
            rows.append((point, 1, kind))
    return rows


def case_runs(change) -> list[tuple[int, ...]]:
    """(first, count, distance between them, what to add) of characters that become one other."""
    rows: list[list[int]] = []
    for point in POINTS:
        made = change(chr(point))
        if len(made) != 1 or ord(made) == point:
            continue
        add = ord(made) - point
        for row in rows[-3:]:
            first, count, step, shift = row
            if shift == add and (count == 1 and point - first in (1, 2) or point == first + count * step):
                row[1:3] = count + 1, point - first if count == 1 else step
                break
        else:
            rows.append([point, 1, 1, add])
    return [tuple(row) for row in rows]


def case_texts(change, otherwise) -> list[int]:
    """Characters that become several, or that `otherwise` changes differently: point, count, points."""
    numbers, before = [], 0
    for point in POINTS:
        made = change(chr(point))
        if made == otherwise(chr(point)):
            continue
        numbers += [point - before, len(made), *map(ord, made)]
        before = point
    return numbers


def write(file: str, version: str, purpose: str, include: str, tables: list[list[str]]) -> None:
    head = ["// SPDX-License-Identifier: Apache-2.0", f"// {purpose}, of Unicode {version}.",
            "// Made by tools/unicode_tables.py; not edited by hand.", "#pragma once", "",
            *(f"#include <{name}>" for name in include.split()), "", "namespace ubique::io {", "", "// clang-format off"]
    body = [line for table in tables for line in [*table, ""]][:-1]
    tail = ["// clang-format on", "", "}  // namespace ubique::io", ""]
    (FOLDER / file).write_text("\n".join([*head, *body, *tail]), encoding="utf-8")


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    have = unicodedata.unidata_version
    if wanted != have:
        print(f"unicode_tables: got Unicode {have}, expected {wanted or 'a version'}; "
              "python3 -m pip install unicodedata2==VERSION brings another.", file=sys.stderr)
        return 2
    write("unicode_tables.h", have, "Letters, numbers and characters of words", "cstdint string_view", [
        range_table("kLetterRanges", "category L: first and last in turn", "L"),
        range_table("kNumberRanges", "category N", "N"),
        packed_table("kWordRanges", "\\w: distance from the range before, length - 1", packed_ranges(is_word))])
    write("grapheme_tables.h", have, "What stands together as one visible character", "string_view", [
        packed_table("kJoiningRanges", "what joins the character before: distance, length - 1", packed_ranges(joins)),
        packed_table("kControlRanges", "what joins nothing", packed_ranges(is_control)),
        packed_table("kPrependedRanges", "what joins the character after", packed_ranges(lambda point: point in PREPENDED))])
    both, one_way = decompositions()
    write("normal_form_tables.h", have, "What the normal form NFC needs", "string_view", [
        packed_table("kCompositions", "composite, first, second", differences(both)),
        packed_table("kDecompositions", "of those that never compose again; second 0: none", differences(one_way)),
        packed_table("kCombiningClasses", "first, count, class", differences(combining_classes()))])
    upper = lambda text: text.upper() if len(text.upper()) == 1 else text  # noqa: E731
    lower = lambda text: text.lower() if len(text.lower()) == 1 else text  # noqa: E731
    own = __import__("unicodedata").unidata_version  # whose str.upper() is used
    write("letter_case_tables.h", own, "Upper, lower and title case", "string_view", [
        packed_table("kUpperRuns", "first, count, distance, what to add", differences(case_runs(str.upper))),
        packed_table("kLowerRuns", "first, count, distance, what to add", differences(case_runs(str.lower))),
        packed_table("kUpperTexts", "character, count, characters", case_texts(str.upper, upper)),
        packed_table("kLowerTexts", "character, count, characters", case_texts(str.lower, lower)),
        packed_table("kTitleTexts", "where title case differs from upper case", case_texts(str.title, str.upper))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
