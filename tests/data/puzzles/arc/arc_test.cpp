// SPDX-License-Identifier: Apache-2.0
// ARC: variants, tokens, JSON, data sets and votes.
#include "ubique/data/puzzles/arc/arc_build.h"
#include "ubique/data/puzzles/arc/arc_read.h"

#include <algorithm>
#include <set>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/puzzles/arc/arc_votes.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"

using namespace ubique;

namespace {

data::ArcGrid grid_of(std::size_t rows, std::vector<std::uint8_t> cells) {
  const auto cols = cells.size() / rows;
  return {{rows, cols}, std::move(cells)};
}

data::ArcTask small_task(const std::string& name, std::uint8_t shift = 0) {
  const auto colour = [&](int value) { return static_cast<std::uint8_t>((value + shift) % 10); };
  const auto pair = [&](int first) -> data::ArcPair {
    return {grid_of(2, {colour(first), 0, colour(first + 1), 0, colour(first + 2), 0}),
            grid_of(1, {colour(first + 2), colour(first)})};
  };
  return {name, {pair(1), pair(2), pair(3)}, {pair(4), pair(5)}};
}

const std::string kTask =
    R"({"train": [{"input": [[1, 2]], "output": [[2], [1]]}], "test": [{"input": [[3, 4]]}]})";

std::string refused_file(const std::string& text) {
  const test::ScratchFolder scratch;
  write_file(scratch / "tasks.json", text);
  return test::refusal_of(ErrorKind::Input, [&] { data::read_arc_tasks(scratch / "tasks.json"); });
}

std::vector<std::int32_t> tokens_of(const data::ArcGrid& grid) { return data::arc_tokens(grid); }

}  // namespace

TEST_CASE("arc: variants are undone, named and read again") {
  const auto grid = grid_of(2, {0, 1, 2, 3, 4, 9});
  std::set<int> turns;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto variant = data::random_variant(Random(1).fork(i));
    turns.insert(variant.dihedral);
    CHECK(variant.colours[0] == 0);
    CHECK(data::undo_variant(variant, data::apply_variant(variant, grid)) == grid);
    const auto name = data::parse_variant_name(data::variant_name("0a1b", variant));
    CHECK(name.task == "0a1b");
    CHECK(name.variant == variant);
  }
  CHECK(turns.size() == 8);
  CHECK(data::variant_name("x", {{0, 4, 9, 3, 8, 2, 6, 7, 1, 5}, 3}) == "x|||t3|||0493826715");
  CHECK(data::parse_variant_name("plain").variant == data::ArcVariant{});
  const data::ArcVariant left{{0, 2, 1, 3, 4, 5, 6, 7, 8, 9}, 1};
  CHECK(data::apply_variant(left, grid) == grid_of(3, {1, 9, 2, 4, 0, 3}));
  for (const auto* name :
       {"x|||t8|||0123456789", "x|||t1|||0123456788", "x|||t1", "x|||1|||0123456789"}) {
    CHECK(
        test::contains(test::refusal_of(ErrorKind::Input, [&] { data::parse_variant_name(name); }),
                       "names no variant"));
  }
}

TEST_CASE("arc: tokens have edges, and grids are cropped from them") {
  const auto grid = grid_of(2, {0, 1, 2, 3, 4, 9});
  const auto tokens = data::arc_tokens(grid, 1, 2);
  const auto at = [&](std::size_t row, std::size_t col) { return tokens[row * 30 + col]; };
  CHECK(at(1, 2) == 2);
  CHECK(at(2, 4) == 11);
  CHECK(at(1, 5) == 1);  // right of it
  CHECK(at(2, 5) == 1);
  CHECK(at(3, 2) == 1);  // below it
  CHECK(at(3, 5) == 0);  // no corner
  CHECK(at(0, 0) == 0);
  CHECK(data::crop_arc(data::arc_tokens(grid)) == grid);
  CHECK(data::crop_arc(tokens).cells.empty());
  data::ArcGrid full{{30, 30}, std::vector<std::uint8_t>(900, 7)};
  CHECK(data::crop_arc(data::arc_tokens(full)) == full);
  auto ragged = data::arc_tokens(grid_of(3, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  ragged[1 * 30 + 1] = 0;  // rows of 3, 1, 1: the first row wins no more than the first column
  CHECK(data::crop_arc(ragged).size == data::GridSize{1, 3});
}

TEST_CASE("arc: folders, single tasks and files of all tasks with their answers are read") {
  const test::ScratchFolder scratch;
  make_folder(scratch / "training");
  write_file(scratch / "training/b.json", kTask);
  write_file(scratch / "training/a.json", kTask);
  write_file(scratch / "training/readme.txt", "x");
  const auto tasks = data::read_arc_tasks(scratch / "training");
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].name == "a");
  CHECK_FALSE(tasks[0].test[0].known);
  CHECK(tasks[0].train[0].output == grid_of(2, {2, 1}));
  CHECK(data::read_arc_tasks(scratch / "training/b.json").front().name == "b");
  write_file(scratch / "x_challenges.json", "{\"t\": " + kTask + "}");
  CHECK_FALSE(data::read_arc_tasks(scratch / "x_challenges.json")[0].test[0].known);
  write_file(scratch / "x_solutions.json", R"({"t": [[[4], [3]]]})");
  const auto answered = data::read_arc_tasks(scratch / "x_challenges.json");
  CHECK(answered[0].test[0].known);
  CHECK(answered[0].test[0].output == grid_of(2, {4, 3}));
  write_file(scratch / "x_solutions.json", R"({"t": []})");
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Input,
                                      [&] { data::read_arc_tasks(scratch / "x_challenges.json"); }),
                     "does not answer task t; expected a list of 1 grids"));
}

TEST_CASE("arc: test_puzzles.json is read as it was written, unknown answers stay unknown") {
  auto asked = small_task("b");
  asked.test[1].known = false;
  const auto json = data::arc_json({small_task("a"), asked});
  const auto again = data::parse_arc_tasks(json, "test_puzzles.json");
  REQUIRE(again.size() == 2);
  CHECK(again[0].test[1].output == small_task("a").test[1].output);
  CHECK(again[0].test[1].known);
  CHECK_FALSE(again[1].test[1].known);
}

TEST_CASE("arc: unknown answers are neither trained on nor scored") {
  auto learned = small_task("a"), asked = small_task("b");
  learned.test[0].known = asked.test[0].known = false;
  const auto data = data::build_arc({learned}, {asked}, {.augment = 2, .seed = 3});
  CHECK(data.unanswered == std::vector<std::string>{"a", "b"});
  const auto shown = learned.train.size() + learned.test.size() - 1 + asked.train.size();
  CHECK(data.splits.train.examples() == static_cast<std::int64_t>(3 * shown));
  const auto& test = data.splits.test;
  REQUIRE(test.examples() == static_cast<std::int64_t>(3 * asked.test.size()));
  std::vector<std::int32_t> inputs(900), labels(900);
  for (std::int64_t example = 0; example < test.examples(); ++example) {
    data::load_example(test, example, inputs, labels);
    const bool known = std::ranges::count(labels, data::kIgnoredLabel) < 900;
    CHECK(known == (example % static_cast<std::int64_t>(asked.test.size()) != 0));
  }
}

TEST_CASE("arc: invalid tasks are refused, with file, task and pair") {
  const auto task = [](const std::string& grid) {
    return R"({"t": {"train": [{"input": )" + grid + R"(, "output": [[1]]}], "test": []}})";
  };
  CHECK(test::contains(refused_file("[]"), "holds no tasks"));
  CHECK(test::contains(refused_file(R"({"t": 3})"), "task t is no task"));
  CHECK(test::contains(refused_file(R"({"t": {"train": [], "test": []}})"), "task t is no task"));
  CHECK(test::contains(refused_file(task("[]")), "task t, train 0, input is no grid"));
  CHECK(test::contains(refused_file(task("[[1, 2], [1]]")), "row 1 has another length"));
  CHECK(test::contains(refused_file(task("[[10]]")), "got 10, expected 0 to 9"));
  CHECK(test::contains(refused_file(task("[[1.5]]")), "got 1.5"));
  CHECK(test::contains(refused_file(R"({"t": {"train": [{"input": [[1]]}], "test": []}})"),
                       "train 0 has no output"));
  CHECK(test::contains(refused_file(R"({"a|||b": )" + kTask + "}"), "cannot be called"));
  const test::ScratchFolder empty;
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { data::read_arc_tasks(empty.path()); }),
      "holds no tasks"));
}

TEST_CASE("arc: sets hold every variant with its own id") {
  const auto made = data::build_arc({small_task("a"), small_task("b", 3)}, {small_task("c", 5)},
                                    {.augment = 20, .seed = 1});
  const auto& train = made.splits.train;
  const auto& test = made.splits.test;
  CHECK(train.groups() == 3);
  CHECK(train.puzzles() == 63);
  CHECK(train.examples() == 21 * (5 + 5 + 3));
  CHECK(test.groups() == 1);
  CHECK(test.examples() == 21 * 2);
  CHECK(made.identifiers.size() == 64);
  CHECK(made.identifiers[0] == "<blank>");
  CHECK(made.identifiers[1] == "a");
  CHECK(train.metadata.num_puzzle_identifiers == 64);
  CHECK(test.puzzle_identifiers[0] == 43);
  CHECK(std::set<std::string>(made.identifiers.begin(), made.identifiers.end()).size() == 64);
  for (std::int64_t i = 0; i < test.examples(); ++i) {
    const auto id = test.puzzle_identifiers[static_cast<std::size_t>(test.puzzle_of(i))];
    const auto name = data::parse_variant_name(made.identifiers[static_cast<std::size_t>(id)]);
    const auto pair = small_task("c", 5).test[static_cast<std::size_t>(i % 2)];
    CHECK(data::undo_variant(name.variant, data::crop_arc(test.inputs.row(i))) == pair.input);
    CHECK(data::undo_variant(name.variant, data::crop_arc(test.labels.row(i))) == pair.output);
  }
  int at_home = 0;
  for (std::int64_t i = 0; i < train.examples(); ++i) {
    const auto inputs = train.inputs.row(i), labels = train.labels.row(i);
    const bool home = inputs[0] != 0;
    at_home += home ? 1 : 0;
    const auto corner = [](const std::vector<std::int32_t>& tokens) {
      std::size_t row = 30, col = 30;
      for (std::size_t cell = 0; cell < 900; ++cell) {
        if (tokens[cell] < 2) continue;
        row = std::min(row, cell / 30);
        col = std::min(col, cell % 30);
      }
      return std::pair(row, col);
    };
    CHECK(corner(inputs) == corner(labels));
  }
  CHECK(at_home >= train.puzzles());
  CHECK(at_home < train.puzzles() + 10);
}

TEST_CASE("arc: variants depend on the task's name and the seed only, and all differ") {
  const auto alone = data::build_arc({small_task("b")}, {}, {.augment = 5});
  const auto second = data::build_arc({small_task("a"), small_task("b")}, {}, {.augment = 5});
  CHECK(std::vector(alone.identifiers.begin() + 1, alone.identifiers.end()) ==
        std::vector(second.identifiers.begin() + 7, second.identifiers.end()));
  data::ArcTask plain{
      "plain", {{grid_of(1, {0}), grid_of(1, {1})}}, {{grid_of(1, {0}), grid_of(1, {1})}}};
  const auto few = data::build_arc({plain}, {}, {.augment = 50, .first_id = 10});
  CHECK(few.splits.train.puzzles() == 9);  // one cell in nine colours; rotations do not change it
  CHECK(few.incomplete == std::vector<std::string>{"plain"});
  CHECK(few.identifiers[9] == "<blank>");
  CHECK(few.identifiers[10] == "plain");
  const auto refused = [&](const data::ArcBuild& options) {
    return test::refusal_of(ErrorKind::Usage, [&] { data::build_arc({plain}, {plain}, options); });
  };
  CHECK(test::contains(refused({}), "task plain is both"));
  CHECK(test::contains(refused({.augment = -1}), "got -1 variants"));
}

TEST_CASE("arc votes: most votes win, then confidence; attempts and pass@K follow") {
  const auto task = small_task("c");
  const data::ArcVariant variant{{0, 2, 1, 3, 4, 5, 6, 7, 8, 9}, 1};
  const std::vector<std::string> names = {"<blank>", "c", data::variant_name("c", variant)};
  const auto wrong = grid_of(1, {1}), other = grid_of(1, {2});
  const auto& first = task.test[0];
  const auto turned = [&](const data::ArcGrid& grid) {
    return tokens_of(data::apply_variant(variant, grid));
  };
  const auto cast = [&](data::ArcVotes& votes) {
    votes.add(1, tokens_of(first.input), tokens_of(first.output), 0.0);
    votes.add(2, turned(first.input), turned(first.output), 1.0);  // votes for the same grid
    votes.add(1, tokens_of(first.input), tokens_of(wrong), 9.0);
    votes.add(2, turned(first.input), turned(other), -9.0);
    votes.add(0, tokens_of(first.input), tokens_of(wrong), 9.0);  // padding
  };
  data::ArcVotes votes({task}, names);
  cast(votes);
  const auto scores = votes.result();
  CHECK(scores.tasks == 1);
  CHECK(scores.without_votes == 1);
  CHECK(scores.pass.front() == std::pair(1, 0.5));  // one of two tests
  const auto& answers = scores.submission["c"];
  CHECK(answers[0]["attempt_1"] == data::arc_grid_json(first.output));
  CHECK(answers[0]["attempt_2"] == Json::parse("[[1]]"));
  CHECK(answers[1]["attempt_1"] == Json::parse("[[0]]"));

  data::ArcVotes more({task}, names);
  CHECK(more.result().pass[5].second == 0.0);
  for (int i = 0; i < 3; ++i) more.add(1, tokens_of(first.input), tokens_of(wrong), 0.0);
  more.add(1, tokens_of(task.test[1].input), tokens_of(task.test[1].output), 0.0);
  cast(more);
  const auto pooled = more.result({1, 2});
  CHECK(pooled.pass[0].second == 0.5);  // the first is outvoted, the second is right
  CHECK(pooled.pass[1].second == 1.0);
  CHECK(pooled.submission["c"][1]["attempt_2"] == pooled.submission["c"][1]["attempt_1"]);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input,
                       [&] { more.add(3, tokens_of(first.input), tokens_of(wrong), 0); }),
      "puzzle id 3 has no name"));
}
