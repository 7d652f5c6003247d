// SPDX-License-Identifier: Apache-2.0
// The commands of `ubique data codelm`, from a repository to the documents they print.
#include "ubique/models/codelm/commands/data_commands.h"

#include <doctest/doctest.h>

#include "tests/data/code/code_samples.h"
#include "tests/data/code/git/git_sample.h"
#include "ubique/base/text/json.h"

using namespace ubique;

namespace {

engine::Outcome run_data(const std::string& name, const std::vector<std::string>& inputs,
                         const std::filesystem::path& output,
                         const std::vector<std::pair<std::string, std::string>>& flags = {}) {
  for (const auto& command : codelm::data_commands()) {
    if (command.name != name) continue;
    engine::Request request;
    request.inputs = inputs;
    request.output = output;
    request.progress = ProgressStyle::Silent;
    for (const auto& [key, value] : flags) request.config.set_flag(key, value);
    return command.run(request);
  }
  FAIL("no command " << name);
  return {};
}

}  // namespace

TEST_CASE("data codelm: a tokenizer is trained, a repository read and its documents shown") {
  if (!test::has_git()) return;
  test::GitSample sample;
  for (int i = 0; i < 30; ++i) {
    const auto number = std::to_string(i);
    sample.write("file" + number + ".py",
                 "def f" + number + "(x):\n    return x * " + number + "\n");
    sample.commit("Add function " + number);
  }
  const auto tokenizer = sample.beside("tokenizer.json").string();
  const auto trained =
      run_data("tokenizer", {sample.path().string()}, tokenizer, {{"size", "400"}});
  CHECK(trained.json.at("documents") == 30);
  CHECK(trained.json.at("size").get<int>() <= 400);
  const auto folder = sample.beside("data");
  const auto made = run_data("git", {sample.path().string()}, folder, {{"tokenizer", tokenizer}});
  CHECK(made.json.at("commits") == 30);
  CHECK(made.json.at("files") == 30);
  CHECK(made.json.at("special_form") == "starcoder");
  CHECK(made.json.at("val").at("documents").get<int>() > 0);
  const auto again = run_data("git", {sample.path().string()}, folder, {{"tokenizer", tokenizer}});
  CHECK(again.json.at("documents_added") == 0);
  const auto shown = run_data("show", {folder.string()}, {}, {{"count", "2"}});
  REQUIRE(shown.json.at("documents").size() == 2);
  CHECK(test::contains(shown.text,
                       "«<filename>»file0.py«<commit_before>»«<commit_msg>»Add function "
                       "0«<commit_after>»def f0(x):"));
  CHECK(test::contains(run_data("show", {folder.string()}, {}, {{"split", "val"}}).text,
                       "--- val 0"));
}

TEST_CASE("data codelm: JSON lines are imported, prompts without loss") {
  const test::ScratchFolder scratch;
  io::write_tokenizer(scratch / "tokenizer.json", test::code_tokenizer().model());
  write_file(scratch / "a.jsonl",
             "{\"prompt\": \"2+2=\", \"completion\": \"four\"}\n{\"text\": \"hello there\"}\n"
             "{\"text\": \"hello there\"}\n");
  const auto made =
      run_data("import", {(scratch / "a.jsonl").string()}, scratch / "data",
               {{"tokenizer", (scratch / "tokenizer.json").string()}, {"val_share", "0"}});
  CHECK(made.json.at("train").at("documents") == 2);
  CHECK(made.json.at("dropped").at("duplicate").at("count") == 1);
  const auto shown = run_data("show", {(scratch / "data").string()}, {});
  CHECK(shown.json.at("documents")[0].at("prompt_length") == 4);
  CHECK(test::contains(shown.text, "2+2=«end of prompt»four«end of text»"));
}

TEST_CASE("data codelm: every command has help, and a wrong use says what is expected") {
  for (const auto& command : codelm::data_commands()) {
    CHECK(command.verb == "data");
    CHECK_FALSE(command.summary.empty());
    CHECK_FALSE(command.examples.empty());
    for (const auto& option : command.options) CHECK_FALSE(option.help.empty());
  }
  const auto refusal = [](const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& flags) {
    return test::refusal_of(ErrorKind::Usage, [&] { (void)run_data(name, {"."}, {}, flags); });
  };
  CHECK(test::contains(refusal("git", {}), "tokenizer"));
  CHECK(test::contains(refusal("git", {{"form", "all"}}), "expected one of history"));
  CHECK(test::contains(refusal("git", {{"secrets", "hide"}}), "replace, drop, keep"));
  CHECK(test::contains(refusal("git", {{"val_share", "1.5"}}), "--val-share"));
  CHECK(test::contains(refusal("show", {{"count", "-1"}}), "--count"));
  CHECK(test::contains(refusal("tokenizer", {{"size", "10"}}), "10"));
}
