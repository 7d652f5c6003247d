"""The how-to's table of AceForge's routes says what is there: each route that it calls the same is, each that it calls none is not."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\b[A-Z]+\b|\{\w+\}")  # ID, FILE, {id}


def plain(route):
    return PLACE.sub("*", route.split("?")[0]).rstrip("/")


def served():
    """Paths of the API's file, which another test holds true against the server."""
    text = (ROOT / "docs/reference/api.yaml").read_text()
    return {plain(path) for path in re.findall(r"^  (/\S+):", text, re.M)}


def routes_in(cell):
    """What stands in backticks, without methods and bodies; "/a, /b" are two."""
    found = []
    for quoted in re.findall(r"`([^`]+)`", cell):
        words = re.sub(r"^(GET|POST|PUT|PATCH|DELETE) ", "", quoted)
        if words.startswith("/"):
            found.append(words)
    return found


def rows():
    text = (ROOT / "docs/how-to/studio.md").read_text()
    table = text[text.index("| AceForge | here |"):].split("\n\n")[0]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]


class AceForgeTable(unittest.TestCase):
    def test_what_is_the_same_is_served_and_what_is_none_is_not(self):
        kinds = {"same": 0, "none": 0}
        for theirs, ours in rows():
            for route in routes_in(theirs):
                if ours.startswith("the same"):
                    kinds["same"] += 1
                    self.assertIn(plain(route), served(), theirs)
                if ours.startswith("none"):
                    kinds["none"] += 1
                    self.assertNotIn(plain(route), served(), theirs)
        self.assertGreater(min(kinds.values()), 5, kinds)

    def test_what_stands_in_their_place_is_served(self):
        for _, ours in rows():
            for route in routes_in(ours):
                self.assertIn(plain(route), served(), ours)


if __name__ == "__main__":
    unittest.main()
