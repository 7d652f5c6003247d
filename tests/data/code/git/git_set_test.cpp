// SPDX-License-Identifier: Apache-2.0
// Repositories as data sets: forms, updates, refusals.
#include "ubique/data/code/git/git_set.h"

#include <doctest/doctest.h>

#include "git_sample.h"
#include "tests/data/code/code_samples.h"
#include "ubique/base/text/json.h"

using namespace ubique;

namespace {

std::string lines_of(const std::string& word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + " = " + std::to_string(i * 37) + "\n";
  return text;
}

void fill_sample(test::GitSample& sample) {
  sample.write("main.py", "def main():\n    print('one')\n");
  sample.write("notes with blank.txt", "first line\nsecond line");
  sample.commit("Start the program\n\nIt says one. See #12.");
  sample.write("main.py", "def main():\n    print('two')\n");
  sample.write("caf\xC3\xA9.py", "x = 1\nlonger = 2\n");
  sample.commit("Say two");
  sample.git({"mv", "main.py", "app.py"});
  sample.write("image.png", std::string("\x89PNG\0\0", 6) + std::string(100, 'x'));
  sample.write("node_modules/a.js", "var vendored = true;\n");
  sample.write("package-lock.json", "{\"lock\": true}\n");
  sample.commit("Rename it");
}

data::GitSetOptions plain_options() {
  data::GitSetOptions options;
  options.filter.val_share = 0;
  options.filter.near_duplicates = 2;
  return options;
}

std::vector<std::string> texts_of(const std::filesystem::path& folder,
                                  const io::Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const auto* split : {"train", "val"}) {
    const data::CodeSet set(folder, split);
    for (std::int64_t i = 0; i < set.size(); ++i)
      texts.push_back(tokenizer.decode(set.document(i)));
  }
  return texts;
}

std::vector<std::string> all_bytes(const std::filesystem::path& folder) {
  std::vector<std::string> bytes;
  for (const auto* name : {"train.bin", "train.idx", "val.bin", "val.idx", "documents.jsonl",
                           "dataset.json", "report.json", "report.txt"}) {
    bytes.push_back(read_file(folder / name));
  }
  return bytes;
}

}  // namespace

TEST_CASE("git set: history and files become documents with StarCoder's tokens") {
  if (!test::has_git()) return;
  test::GitSample sample;
  fill_sample(sample);
  const auto tokenizer = test::code_tokenizer();
  const auto result =
      data::make_git_set(sample.path(), sample.beside("set"), tokenizer, plain_options());
  CHECK(result.commits == 3);
  CHECK(result.special == "starcoder");
  const auto texts = texts_of(sample.beside("set"), tokenizer);
  REQUIRE(texts.size() == 7);
  CHECK(texts[0] ==
        "<filename>main.py<commit_before><commit_msg>Start the program\n\nIt says one. See #12."
        "<commit_after>def main():\n    print('one')\n");
  CHECK(
      texts[1] ==
      "<filename>notes with blank.txt<commit_before><commit_msg>Start the program\n\nIt says one. "
      "See #12.<commit_after>first line\nsecond line");
  CHECK(texts[2] ==
        "<filename>caf\xC3\xA9.py<commit_before><commit_msg>Say two<commit_after>x = 1\n"
        "longer = 2\n");
  CHECK(texts[3] ==
        "<filename>main.py<commit_before>def main():\n    print('one')\n<commit_msg>Say "
        "two<commit_after>def main():\n    print('two')\n");
  CHECK(texts[4] == "<reponame>project<filename>app.py\ndef main():\n    print('two')\n");
  CHECK(texts[6] == "<reponame>project<filename>notes with blank.txt\nfirst line\nsecond line");
  const data::CodeSet set(sample.beside("set"));
  CHECK(set.document(0)[0] == 5);  // the special token, not its letters
  CHECK(set.info(3).path == "main.py");
  CHECK(set.info(3).commit.size() == 40);
  CHECK(set.info(4).kind == "file");
  const auto& dropped = set.header().dropped;
  CHECK(dropped.at("binary_or_too_large") == 2);  // once in the history, once as a file
  CHECK(dropped.at("vendored") == 2);
  CHECK(dropped.at("lock_file") == 2);
  CHECK(dropped.at("no_content_change") == 1);
  const auto report = parse_json(read_file(sample.beside("set") / "report.json"), "report");
  CHECK(test::contains(report.at("dropped").at("vendored").at("examples")[0].get<std::string>(),
                       "node_modules/a.js @ "));
}

TEST_CASE("git set: the same repository and options give the same bytes") {
  if (!test::has_git()) return;
  test::GitSample sample;
  fill_sample(sample);
  const auto tokenizer = test::code_tokenizer();
  for (const auto* name : {"a", "b"}) {
    (void)data::make_git_set(sample.path(), sample.beside(name), tokenizer, {});
  }
  CHECK(all_bytes(sample.beside("a")) == all_bytes(sample.beside("b")));
}

TEST_CASE("git set: a second call adds the new commits only, a third nothing") {
  if (!test::has_git()) return;
  test::GitSample sample;
  fill_sample(sample);
  const auto tokenizer = test::code_tokenizer();
  const auto folder = sample.beside("set");
  const auto update = [&] {
    return data::make_git_set(sample.path(), folder, tokenizer, plain_options());
  };
  (void)update();
  const auto before = texts_of(folder, tokenizer);
  sample.write("extra.py", "y = 2  # more\n");
  sample.commit("Add y");
  const auto second = update();
  CHECK(second.update);
  CHECK(second.commits == 1);
  CHECK(second.documents == 2);  // the commit and the new file; the others are duplicates
  const auto after = texts_of(folder, tokenizer);
  REQUIRE(after.size() == before.size() + 2);
  CHECK(std::equal(before.begin(), before.end(), after.begin()));
  const auto bytes = all_bytes(folder);
  const auto third = update();
  CHECK(third.commits == 0);
  CHECK(third.documents == 0);
  CHECK(read_file(folder / "train.bin") == bytes[0]);
}

TEST_CASE("git set: a rewritten history, other options and another tokenizer are refused") {
  if (!test::has_git()) return;
  test::GitSample sample;
  fill_sample(sample);
  const auto tokenizer = test::code_tokenizer();
  const auto folder = sample.beside("set");
  (void)data::make_git_set(sample.path(), folder, tokenizer, {});
  const auto refusal = [&](ErrorKind kind, const io::Tokenizer& used,
                           const data::GitSetOptions& options) {
    return test::refusal_of(
        kind, [&] { (void)data::make_git_set(sample.path(), folder, used, options); });
  };
  CHECK(test::contains(refusal(ErrorKind::Usage, tokenizer, {.context = 3}),
                       "'context' was 8, is 3"));
  CHECK(test::contains(refusal(ErrorKind::Usage, test::code_tokenizer({"<|endoftext|>"}), {}),
                       "another tokenizer"));
  sample.git({"reset", "-q", "--hard", "HEAD~1"});
  sample.write("other.py", "z = 3\n");
  sample.commit("Another way");
  CHECK(test::contains(refusal(ErrorKind::Input, tokenizer, {}), "history was rewritten"));
}

TEST_CASE("git set: what is no repository, empty, shallow or unknown is refused with a reason") {
  if (!test::has_git()) return;
  const test::GitSample empty;
  const auto tokenizer = test::code_tokenizer();
  const auto refusal = [&](const std::filesystem::path& path, const data::GitSetOptions& options) {
    return test::refusal_of(ErrorKind::Input, [&] {
      (void)data::make_git_set(path, empty.beside("set"), tokenizer, options);
    });
  };
  CHECK(test::contains(refusal(empty.path(), {}), "has no commit yet"));
  CHECK(test::contains(refusal(empty.beside("nothing"), {}), "there is no folder"));
  make_folder(empty.beside("plain"));
  {
    const test::ScopedVariable ceiling("GIT_CEILING_DIRECTORIES",
                                       empty.beside("plain").parent_path().c_str());
    CHECK(test::contains(refusal(empty.beside("plain"), {}), "is no git repository"));
  }
  test::GitSample sample;
  fill_sample(sample);
  CHECK(test::contains(refusal(sample.path(), {.revision = "nowhere"}), "no revision 'nowhere'"));
  sample.git({"clone", "-q", "--depth", "1", "file://" + sample.path().string(),
              sample.beside("shallow").string()});
  CHECK(test::contains(refusal(sample.beside("shallow"), {}), "shallow clone"));
  const auto result = data::make_git_set(sample.beside("shallow"), sample.beside("files"),
                                         tokenizer, {.parts = data::GitParts::Snapshot});
  CHECK(result.files == 3);
  {
    const test::ScopedVariable path("PATH", "/nowhere");
    CHECK(test::contains(refusal(sample.path(), {}), "no git program"));
  }
  CHECK_FALSE(std::filesystem::exists(empty.beside("set")));
}

TEST_CASE("git set: StarCoder2's tokens, plain text and the seed's form") {
  if (!test::has_git()) return;
  test::GitSample sample;
  fill_sample(sample);
  const auto two =
      test::code_tokenizer({"<|endoftext|>", "<repo_name>", "<file_sep>", "<pr>", "<pr_base>",
                            "<pr_file>", "<pr_base_code>", "<pr_diff>", "<pr_diff_hunk>"});
  (void)data::make_git_set(sample.path(), sample.beside("two"), two, plain_options());
  const auto special = texts_of(sample.beside("two"), two);
  CHECK(
      special[1] ==
      "<pr>Title: Say two\n<repo_name>project\n<pr_base><pr_file>main.py\n<pr_base_code>def "
      "main():\n    print('one')\n<pr_diff><pr_file>caf\xC3\xA9.py\n<pr_diff_hunk>@@ -0,0 +1,2 @@\n"
      "+x = 1\n+longer = 2\n<pr_file>main.py\n<pr_diff_hunk>@@ -1,2 +1,2 @@\n def main():\n-    "
      "print('one')\n+    print('two')\n");
  CHECK(special[2] == "<repo_name>project<file_sep>app.py\ndef main():\n    print('two')\n");

  const auto tokenizer = test::code_tokenizer();
  auto options = plain_options();
  options.commit_form = options.snapshot_form = data::DocumentForm::Plain;
  (void)data::make_git_set(sample.path(), sample.beside("plain"), tokenizer, options);
  const auto plain = texts_of(sample.beside("plain"), tokenizer);
  CHECK(test::contains(plain[1],
                       "\n\nSay two\n\n--- /dev/null\n+++ b/caf\xC3\xA9.py\n@@ -0,0 +1,2 @@\n"));
  CHECK(plain[2] == "File: app.py\n\ndef main():\n    print('two')\n");

  options.commit_form = options.snapshot_form = data::DocumentForm::Seed;
  (void)data::make_git_set(sample.path(), sample.beside("seed"), tokenizer, options);
  const auto seed = texts_of(sample.beside("seed"), tokenizer);
  REQUIRE(seed.size() == 6);
  const auto line = seed[0].find('\n');
  CHECK(seed[0].substr(0, 9) == "<COMMIT> ");
  CHECK(line == 17);
  CHECK(seed[0].substr(line) ==
        "\n<AUTHOR> Ada\n<TIMESTAMP> 1700005400\n<BRANCH> main\n<COMPLEXITY> 0.02\n<SUBJECT> Start "
        "the program\n<BODY> It says one. See #12.\n<FILES>\n  root: main.py notes with blank.txt\n"
        "  +4 -0\n<RELATED> issues: 12\n</COMMIT>");
  CHECK(test::contains(seed[1], "  +3 -1\n  hours_since_parent: 1.5\n</COMMIT>"));
  CHECK(test::contains(seed[3], "<FILE> app.py\n<BRANCH> main\n<COMMIT> "));
  CHECK(test::contains(seed[3], "\n<RANGE> 1:2\n<CODE>\ndef main():\n    print('two')\n</CODE>"));
}

TEST_CASE("git set: merges, paths, dates and size limits") {
  if (!test::has_git()) return;
  test::GitSample sample;
  sample.write("src/a.py", lines_of("a", 10));
  sample.write("docs/b.md", lines_of("b", 10));
  sample.commit("Start");
  sample.git({"checkout", "-q", "-b", "side"});
  sample.write("src/side.py", lines_of("side", 10));
  sample.commit("Side work");
  sample.git({"checkout", "-q", "main"});
  sample.write("src/large.py", lines_of("large", 400));
  sample.commit("Large");
  sample.git({"merge", "-q", "--no-ff", "-m", "Merge side", "side"});
  const auto tokenizer = test::code_tokenizer();
  const auto made = [&](const std::string& name, const data::GitSetOptions& options) {
    return data::make_git_set(sample.path(), sample.beside(name), tokenizer, options);
  };
  auto options = plain_options();
  options.parts = data::GitParts::History;
  auto result = made("all", options);
  CHECK(result.commits == 4);
  CHECK(result.header.dropped.at("merge") == 1);
  CHECK(result.documents == 4);
  options.first_parent = true;
  result = made("line", options);
  CHECK(result.commits == 3);
  CHECK(result.documents == 4);  // the merge brings side.py
  options.first_parent = false;
  options.rules.paths = {"src/**"};
  options.rules.exclude = {"side.*"};
  options.max_file_size = 1000;
  result = made("some", options);
  CHECK(result.documents == 1);
  CHECK(result.header.dropped.at("path") == 1);
  CHECK(result.header.dropped.at("excluded") == 1);
  CHECK(result.header.dropped.at("binary_or_too_large") == 1);
  options = plain_options();
  options.since = "2030-01-01";
  options.parts = data::GitParts::History;
  CHECK(made("late", options).commits == 0);
  options.since = "yesterday";
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [&] { (void)made("x", options); }),
                       "expected 2024-01-31"));
}

TEST_CASE("git set: lines that look like headers, broken text and secrets in files") {
  if (!test::has_git()) return;
  test::GitSample sample;
  const std::string trap = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n\n";
  sample.write("trap.txt", trap);
  sample.write("latin.txt", "caf\xE9 au lait, s'il vous pla\xEEt\n");
  sample.write("env.sh",
               "export AWS=AKIA"
               "ABCDEFGHIJ234567\necho done\n");
  sample.commit("Traps");
  const auto tokenizer = test::code_tokenizer();
  auto options = plain_options();
  options.parts = data::GitParts::Snapshot;
  const auto result = data::make_git_set(sample.path(), sample.beside("set"), tokenizer, options);
  const auto texts = texts_of(sample.beside("set"), tokenizer);
  REQUIRE(texts.size() == 3);
  CHECK(texts[0] == "<reponame>project<filename>env.sh\nexport AWS=<SECRET>\necho done\n");
  CHECK(test::contains(texts[1], "caf\xEF\xBF\xBD au lait"));
  CHECK(texts[2] == "<reponame>project<filename>trap.txt\n" + trap);
  const auto changed = result.report.json().at("changed");
  CHECK(changed.at("broken_utf8").at("count") == 1);
  CHECK(changed.at("secret_aws_key").at("examples")[0].get<std::string>().starts_with("env.sh @ "));
}
