"""Has recursion learned? trm_learned.py RESULT.json CONTROL.json FLOOR MARGIN

Both are of `ubique train trm --json`. The first must solve a share of FLOOR of the puzzles held out,
and that share must be above the control's by MARGIN."""

import json
import sys


def share(file: str) -> float:
    with open(file, encoding="utf-8") as source:
        return json.load(source)["scores"]["exact_accuracy"]


def main() -> int:
    result, control, floor, margin = sys.argv[1:]
    ours, other = share(result), share(control)
    fine = ours >= float(floor) and ours >= other + float(margin)
    print(f"solves {floor} of the puzzles held out, and {margin} more than without recursion" if fine
          else f"solves {ours:.3f}, without recursion {other:.3f}; expected {floor}, and {margin} more")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
