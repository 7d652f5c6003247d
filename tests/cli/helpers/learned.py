"""Has a network learned? learned.py SCORES.json MARGIN... [at least NAME=VALUE...]

The model's row must be better than the centre bias and than the distance in colour by each margin
(nss=0.5), and reach each value after the words `at least`."""

import json
import sys


def pairs(texts: list[str]) -> dict[str, float]:
    return {name: float(value) for name, value in (text.split("=") for text in texts)}


def main() -> int:
    file, *texts = sys.argv[1:]
    cut = texts.index("at") if "at" in texts else len(texts)
    margins, floors = pairs(texts[:cut]), pairs(texts[cut + 2:])
    with open(file, encoding="utf-8") as source:
        rows = {row["name"]: row["mean_over_fixations"] for row in json.load(source)["scores"]["rows"]}
    faults = []
    for name, margin in margins.items():
        for other in ("centre bias", "colour distance"):
            if not rows["model"][name] > rows[other][name] + margin:
                faults.append(f"{name}: {rows['model'][name]:.3f}, {other} {rows[other][name]:.3f}, margin {margin}")
    for name, floor in floors.items():
        if not rows["model"][name] >= floor:
            faults.append(f"{name}: {rows['model'][name]:.3f}, expected {floor} at least")
    print("\n".join(faults) or f"better than centre bias and colour distance in {', '.join(margins)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
