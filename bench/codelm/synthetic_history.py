#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made repository with a long history, the same each time, for bench/codelm/git:
    bench/codelm/synthetic_history.py FOLDER [COMMITS]
Source files in a few languages that grow and change, documents, a binary file, renames, deleted
files, and merges, by several authors. The text is made of words of code with the frequencies of a
natural text."""
import itertools
import random
import subprocess
import sys

AUTHORS = ["Ada Adler", "Bo Berg", "Céline Court", "Dag Dahl", "Eva Engel", "Finn Falk", "Gül Güneş"]
ROOMS = ["core", "net", "store", "render", "parse", "tools", "tests", "util"]
PARTS = ("read write open close find make count index buffer token frame node edge value result state cache "
         "block chunk table row column path name key list map queue task worker session request answer "
         "header body size offset length first last next before after left right start end limit total").split()
LINES = {
    "py": ["def {a}_{b}({c}, {d}={n}):", "    {a} = {b}.{c}({d})", "    if {a} is None or {b} > {n}:",
           "        return {a}.{c}[{n}]", "    for {a} in {b}.{c}():", "        {a}.append({b} + {n})",
           "    # the {a} of the {b} is kept until {c} is {d}", "", "    raise ValueError(f\"{a}: got {{{b}}}\")"],
    "c": ["static int {a}_{b}(struct {c} *{d}, size_t {e})", "{{", "  if ({a}->{b} == NULL || {c} < {n}) return -{m};",
          "  for (int {a} = 0; {a} < {b}->{c}; ++{a}) {{", "    {a}[{b}] = {c}_{d}({e}, {n});", "  }}", "}}", "",
          "  /* {a} and {b} share one {c}: see {d}_{e} */", "  const auto {a} = {b}.{c}({d}, {n}) + {e}->{a};"],
    "js": ["export function {a}{C}({b}, {c} = {n}) {{", "  const {a} = await {b}.{c}({d});", "  if (!{a}.{b}) {{",
           "    throw new Error(`{a} of ${{{b}}} is not {c}`);", "  }}", "  return {a}.{b}.map(({c}) => {c}.{d});", "}}", "",
           "  // {a} comes before {b}, else the {c} is lost"],
    "md": ["## The {a} of a {b}", "", "A {a} has one {b} and {n} {c}; the {d} is made by the {e}.",
           "- `{a}_{b}`: the {c} of each {d}, {n} at most", "    {a} --{b} {n} --{c} {d}"]}
SHARES = {"py": 5, "c": 6, "js": 3, "md": 1}


class Text:
    def __init__(self, random_source):
        self.random = random_source
        words = PARTS + ["_".join(pair) for pair in itertools.permutations(PARTS, 2)]
        weights = itertools.accumulate(1 / (rank + 5) for rank in range(len(words)))
        self.words, self.weights = words, list(weights)

    def line(self, kind):
        a, b, c, d, e = self.random.choices(self.words, cum_weights=self.weights, k=5)
        numbers = {"n": int(self.random.paretovariate(0.6)) % 100000, "m": self.random.randrange(1, 20)}
        form = self.random.choice(LINES[kind])
        return form.format(a=a, b=b, c=c, d=d, e=e, C=c.title().replace("_", ""), **numbers)

    def lines(self, kind, count):
        return [self.line(kind) for _ in range(count)]

    def sentence(self, count):
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=count))


class History:
    """Writes the stream of `git fast-import`."""

    def __init__(self, out, commits):
        self.random = random.Random(2024)
        self.text, self.out, self.commits = Text(self.random), out, commits
        self.files, self.names, self.mark, self.time = {}, itertools.count(), 0, 1_400_000_000

    def blob(self, path, content):
        self.out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))

    def source(self, path):
        self.blob(path, ("\n".join(self.files[path]) + "\n").encode())

    def new_path(self, kind):
        folder = "/".join(self.random.sample(ROOMS, self.random.choice([1, 2, 2, 3])))
        return f"{folder}/{self.random.choice(PARTS)}_{next(self.names)}.{kind}"

    def add_file(self):
        kind = self.random.choices(list(SHARES), SHARES.values())[0]
        path = self.new_path(kind)
        self.files[path] = self.text.lines(kind, min(1500, 20 + int(self.random.paretovariate(0.9) * 20)))
        self.source(path)

    def change_file(self):
        paths = list(self.files)
        path = paths[int(len(paths) * self.random.random() ** 2)]  # nearly half in a fifth of the files
        lines, kind = self.files[path], path.rsplit(".", 1)[1]
        for _ in range(self.random.choice([1, 1, 2, 3, 5])):
            at = self.random.randrange(len(lines) + 1)
            removed = self.random.choice([0, 1, 1, 2, 4, 8])
            lines[at:at + removed] = self.text.lines(kind, self.random.choice([1, 1, 2, 3, 5, 10, 25]))
        if len(lines) > 3000:
            del lines[1500:]
        self.source(path)

    def move_or_remove(self):
        path = self.random.choice(list(self.files))
        self.out.write(b"D %s\n" % path.encode())
        lines = self.files.pop(path)
        if self.random.random() < 0.7:
            path = self.new_path(path.rsplit(".", 1)[1])
            self.files[path] = lines
            self.source(path)

    def commit(self, branch, parent, merged=None):
        self.mark += 1
        self.time += self.random.randrange(60, 20_000)
        name = self.random.choices(AUTHORS, range(len(AUTHORS), 0, -1))[0]
        who = f"{name} <{name[:3].lower().strip()}@example.org> {self.time} +0000".encode()
        message = self.text.sentence(self.random.randrange(3, 9))
        if self.random.random() < 0.4:
            message += "\n\n" + "\n".join(self.text.sentence(12) for _ in range(self.random.randrange(1, 8)))
        if merged:
            message = "Merge branch 'side'"
        data = message.encode()
        self.out.write(b"commit refs/heads/%s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n" %
                       (branch.encode(), self.mark, who, who, len(data), data))
        if parent:
            self.out.write(b"from :%d\n" % parent)
        if merged:
            self.out.write(b"merge :%d\n" % merged)
        return self.mark

    def changes(self, number):
        if number % 500 == 7:
            self.blob("assets/picture.bin", self.random.randbytes(30_000))
        for _ in range(self.random.choice([0, 0, 0, 1]) if len(self.files) > 40 else 3):
            self.add_file()
        for _ in range(min(12, int(self.random.paretovariate(1.1)))):
            self.change_file()
        if self.random.random() < 0.03:
            self.move_or_remove()

    def note(self, number):
        return f"notes/{number}.md", f"# Note {number}\n\n{self.text.sentence(40)}\n".encode()

    def write(self):
        head, side, notes = None, None, []  # a side branch writes notes, which its merge brings along
        for number in range(self.commits):
            place = number % 60
            if 30 <= place < 34 and head:
                side = self.commit("side", side or head)
                notes.append(self.note(number))
                self.blob(*notes[-1])
            elif side and place == 40:
                head = self.commit("main", head, side)
                for note in notes:
                    self.blob(*note)
                side, notes = None, []
            else:
                head = self.commit("main", head)
                self.changes(number)


def main():
    folder, commits = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    git = ["git", "-C", folder]
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    with subprocess.Popen([*git, "fast-import", "--quiet"], stdin=subprocess.PIPE) as program:
        History(program.stdin, commits).write()
    assert program.returncode == 0
    subprocess.run([*git, "repack", "-a", "-d", "-f", "-q"], check=True)  # as a clone has it


if __name__ == "__main__":
    main()
