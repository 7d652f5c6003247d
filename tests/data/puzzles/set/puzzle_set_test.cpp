// SPDX-License-Identifier: Apache-2.0
// Puzzle sets: round trips, the original's folders, and damaged files.
#include "ubique/data/puzzles/set/puzzle_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/io/arrays/npz.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

/// Three groups of 4x4 sudokus, the second of two puzzles.
data::PuzzleSet small_sudokus() {
  const auto four = data::sudoku_shape(4);
  auto set = data::empty_puzzle_set(data::sudoku_metadata(four));
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto made = data::make_sudoku(four, 6, Random(1).fork(i));
    data::add_example(set, data::sudoku_tokens(four, made.puzzle),
                      data::sudoku_tokens(four, made.solution));
    data::end_puzzle(set, 0);
    if (i != 1) data::end_group(set);
  }
  return set;
}

void check_same(const data::PuzzleSet& a, const data::PuzzleSet& b) {
  REQUIRE(a.examples() == b.examples());
  for (std::int64_t i = 0; i < a.examples(); ++i) {
    CHECK(a.inputs.row(i) == b.inputs.row(i));
    CHECK(a.labels.row(i) == b.labels.row(i));
  }
  CHECK(a.puzzle_identifiers == b.puzzle_identifiers);
  CHECK(a.puzzle_indices == b.puzzle_indices);
  CHECK(a.group_indices == b.group_indices);
}

template <typename T>
void write_numbers(const fs::path& path, DType dtype, io::Shape shape, std::vector<T> values) {
  io::HostTensor tensor{{}, dtype, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  io::write_npy(path, tensor);
}

/// The refusal after `damage` was done to a good folder's train/.
std::string damaged(const std::function<void(const fs::path&)>& damage) {
  const test::ScratchFolder scratch;
  data::write_puzzle_set(scratch.path(), "train", small_sudokus());
  damage(scratch / "train");
  return test::refusal_of(ErrorKind::Input,
                          [&] { data::read_puzzle_set(scratch.path(), "train"); });
}

void change_json(const fs::path& folder, const std::string& key, const Json& value) {
  auto json = parse_json(read_file(folder / "dataset.json"), "dataset.json");
  json[key] = value;
  write_file(folder / "dataset.json", json.dump());
}

}  // namespace

TEST_CASE("puzzle set: what is written is read again") {
  const test::ScratchFolder scratch;
  const auto set = small_sudokus();
  data::write_puzzle_set(scratch.path(), "train", set);
  data::write_identifiers(scratch.path(), {"<blank>"});
  const auto read = data::read_puzzle_set(scratch.path(), "train");
  check_same(set, read);
  CHECK(read.groups() == 3);
  CHECK(read.metadata.total_puzzles == 4);
  CHECK(read.metadata.mean_puzzle_examples == 1);
  CHECK(data::describe(read.metadata.layout) == "sudoku 4x4, boxes 2x2");
  CHECK(data::read_identifiers(scratch.path()) == std::vector<std::string>{"<blank>"});
  CHECK(io::read_npy(scratch / "train/all__inputs.npy").dtype == DType::U8);
  CHECK(io::read_npy(scratch / "train/all__group_indices.npy").dtype == DType::I32);
}

TEST_CASE("puzzle set: large vocabularies and ignored labels are kept") {
  const test::ScratchFolder scratch;
  data::PuzzleMetadata metadata;
  metadata.vocab_size = 50266;
  metadata.seq_len = 2;
  metadata.ignore_label_id.reset();
  auto set = data::empty_puzzle_set(metadata);
  data::add_example(set, std::vector<std::int32_t>{50265, 7}, std::vector<std::int32_t>{7, -100});
  data::end_puzzle(set, 0);
  data::end_group(set);
  data::write_puzzle_set(scratch.path(), "train", set);
  const auto read = data::read_puzzle_set(scratch.path(), "train");
  check_same(set, read);
  CHECK_FALSE(read.metadata.ignore_label_id);
  CHECK(read.metadata.layout.kind == data::PuzzleKind::Other);
  CHECK(io::read_npy(scratch / "train/all__labels.npy").dtype == DType::I32);
}

TEST_CASE("puzzle set: the original's folders are read, whatever their dtype") {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return;
  const auto train = data::read_puzzle_set(folder / "sudoku_aug", "train");  // int64
  CHECK(train.examples() == 52);
  CHECK(train.groups() == 13);
  CHECK_FALSE(train.inputs.wide());
  CHECK(data::describe(train.metadata.layout) == "sudoku 9x9, boxes 3x3");
  CHECK(data::read_puzzle_set(folder / "sudoku_aug", "test").examples() == 7);  // uint8
  const auto several = data::read_puzzle_set(folder / "multi_example_set", "train");
  CHECK(several.puzzles() == 12);
  CHECK(several.examples() == 28);
  CHECK(several.puzzle_of(0) == 0);
  CHECK(several.puzzle_of(27) == 11);
}

TEST_CASE("puzzle set: arrays of machines with the other byte order are read right") {
  const test::ScratchFolder scratch;
  const auto set = small_sudokus();
  data::write_puzzle_set(scratch.path(), "train", set);
  for (const auto& [field, rows] :
       {std::pair{"inputs", &set.inputs}, std::pair{"labels", &set.labels}}) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < rows->count(); ++i) {
      const auto row = rows->row(i);
      tokens.insert(tokens.end(), row.begin(), row.end());
    }
    write_numbers(scratch / fmt::format("train/all__{}.npy", field), DType::I32,
                  {rows->count(), rows->length()}, tokens);
  }
  for (const auto* field :
       {"inputs", "labels", "puzzle_identifiers", "puzzle_indices", "group_indices"}) {
    const auto path = scratch / fmt::format("train/all__{}.npy", field);
    auto text = read_file(path);
    const auto order = text.find('<');
    REQUIRE(order < text.size());
    text[order] = '>';
    for (auto i = text.find('\n') + 1; i < text.size(); i += 4) {
      std::reverse(text.begin() + static_cast<std::ptrdiff_t>(i),
                   text.begin() + static_cast<std::ptrdiff_t>(i) + 4);
    }
    write_file(path, text);
  }
  check_same(data::read_puzzle_set(scratch.path(), "train"), set);
}

TEST_CASE("puzzle set: folders are joined, unless a puzzle id has two names") {
  const test::ScratchFolder scratch;
  const auto set = small_sudokus();
  data::write_puzzle_set(scratch / "a", "train", set);
  data::write_puzzle_set(scratch / "b", "train", set);
  data::write_identifiers(scratch / "a", {"<blank>", "one"});
  data::write_identifiers(scratch / "b", {"<blank>", "<blank>", "two"});
  const auto both = data::read_puzzle_sets({scratch / "a", scratch / "b"}, "train");
  CHECK(both.examples() == 8);
  CHECK(both.groups() == 6);
  CHECK(both.metadata.total_groups == 6);
  CHECK(both.group_indices.back() == 8);
  CHECK(both.inputs.row(5) == set.inputs.row(1));
  data::write_puzzle_set(scratch / "c", "train", set);  // agrees with the first, not the second
  data::write_identifiers(scratch / "c", {"<blank>", "<blank>", "three"});
  CHECK(test::contains(
      test::refusal_of(
          ErrorKind::Input,
          [&] {
            data::read_puzzle_sets({scratch / "a", scratch / "b", scratch / "c"}, "train");
          }),
      "puzzle id 2 is 'two' and 'three'"));
  data::write_identifiers(scratch / "b", {"<blank>", "two"});
  const auto refused = [&] {
    return test::refusal_of(ErrorKind::Input, [&] {
      data::read_puzzle_sets({scratch / "a", scratch / "b"}, "train");
    });
  };
  CHECK(test::contains(refused(), "puzzle id 1 is 'one' and 'two'"));
  auto larger = data::empty_puzzle_set(data::sudoku_metadata(data::sudoku_shape(6)));
  const std::vector<std::int32_t> row(36, 1);
  data::add_example(larger, row, row);
  data::end_puzzle(larger, 0);
  data::end_group(larger);
  data::write_puzzle_set(scratch / "b", "train", larger);
  CHECK(test::contains(refused(), "got seq_len 16 and 36"));
}

TEST_CASE("puzzle set: augmented puzzles are equivalent, and the same for the same stream") {
  const auto set = small_sudokus();
  std::vector<std::int32_t> inputs(16), labels(16), again(16), ignored(16);
  const auto four = data::sudoku_shape(4);
  int changed = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    CHECK(data::load_augmented(set, 2, Random(9).fork(i), inputs, labels) == 0);
    data::load_augmented(set, 2, Random(9).fork(i), again, ignored);
    CHECK(inputs == again);
    const auto solved = data::solve_sudoku(four, data::sudoku_grid(four, inputs));
    CHECK(solved.solutions == 1);
    CHECK(data::sudoku_tokens(four, solved.solution) == labels);
    changed += inputs != set.inputs.row(2) ? 1 : 0;
  }
  CHECK(changed > 15);
}

TEST_CASE("puzzle set: arrays of a wrong shape, type or length are refused") {
  using Bytes = std::vector<std::uint8_t>;
  CHECK(test::contains(damaged([](const fs::path& f) {
                         write_numbers(f / "all__inputs.npy", DType::U8, {4, 8}, Bytes(32, 1));
                       }),
                       "got [4, 8], expected [examples, 16]"));
  CHECK(test::contains(
      damaged([](const fs::path& f) {
        write_numbers(f / "all__inputs.npy", DType::F32, {4, 16}, std::vector<float>(64, 1));
      }),
      "got f32, expected u8, i32 or i64"));
  CHECK(test::contains(damaged([](const fs::path& f) {
                         write_numbers(f / "all__labels.npy", DType::U8, {3, 16}, Bytes(48, 1));
                       }),
                       "got 4 and 3 rows"));
  CHECK(test::contains(damaged([](const fs::path& f) {
                         write_file(f / "all__labels.npy",
                                    read_file(f / "all__labels.npy").substr(0, 150));
                       }),
                       "cut short"));
  CHECK(test::contains(damaged([](const fs::path& f) { fs::remove(f / "all__labels.npy"); }),
                       "all__labels.npy"));
  CHECK(test::contains(damaged([](const fs::path& f) {
                         write_numbers(f / "all__group_indices.npy", DType::I32, {2, 2},
                                       std::vector<std::int32_t>{0, 1, 2, 4});
                       }),
                       "expected one dimension"));
}

TEST_CASE("puzzle set: tokens, ids and offsets out of range are refused, with their index") {
  using Numbers = std::vector<std::int32_t>;
  CHECK(test::contains(damaged([](const fs::path& f) {
                         auto tokens = std::vector<std::int64_t>(64, 1);
                         tokens[21] = 6;
                         write_numbers(f / "all__inputs.npy", DType::I64, {4, 16}, tokens);
                       }),
                       "got 6 in row 1, column 5, expected 0 to 5"));
  CHECK(
      test::contains(damaged([](const fs::path& f) {
                       write_numbers(f / "all__inputs.npy", DType::I32, {4, 16}, Numbers(64, -100));
                     }),
                     "got -100 in row 0"));
  CHECK(test::contains(
      damaged([](const fs::path& f) {
        write_numbers(f / "all__puzzle_identifiers.npy", DType::I32, {4}, Numbers{0, 0, 1, 0});
      }),
      "got 1 at index 2, expected 0 to 0"));
  CHECK(test::contains(
      damaged([](const fs::path& f) {
        write_numbers(f / "all__puzzle_indices.npy", DType::I32, {5}, Numbers{0, 1, 1, 3, 4});
      }),
      "got 1 at index 2 after 1"));
  CHECK(test::contains(
      damaged([](const fs::path& f) {
        write_numbers(f / "all__puzzle_indices.npy", DType::I32, {5}, Numbers{0, 1, 2, 3, 9});
      }),
      "got 9, expected 4"));
  CHECK(test::contains(damaged([](const fs::path& f) {
                         write_numbers(f / "all__group_indices.npy", DType::I32, {0}, Numbers{});
                       }),
                       "got nothing, expected 4"));
  CHECK(test::contains(
      damaged([](const fs::path& f) {
        write_numbers(f / "all__puzzle_indices.npy", DType::I32, {3}, Numbers{0, 1, 4});
      }),
      "got 2 puzzles, expected 4"));
}

TEST_CASE("puzzle set: a damaged dataset.json is refused, with the key") {
  const auto with = [](const std::string& key, const Json& value) {
    return damaged([&](const fs::path& f) { change_json(f, key, value); });
  };
  CHECK(test::contains(damaged([](const fs::path& f) { write_file(f / "dataset.json", "{"); }),
                       "is not JSON"));
  CHECK(test::contains(damaged([](const fs::path& f) { write_file(f / "dataset.json", "[]"); }),
                       "got array, expected an object"));
  CHECK(test::contains(damaged([](const fs::path& f) { fs::remove(f / "dataset.json"); }),
                       "dataset.json"));
  CHECK(test::contains(with("seq_len", nullptr), "'seq_len' is wrong; got null"));
  CHECK(test::contains(with("seq_len", 1e300), "'seq_len' is wrong"));
  CHECK(test::contains(with("seq_len", 18446744073709551615ULL), "'seq_len' is wrong"));
  CHECK(test::contains(with("vocab_size", 0), "'vocab_size' is wrong; got 0"));
  CHECK(test::contains(with("vocab_size", 3), "cannot be"));
  CHECK(test::contains(with("pad_id", 6), "'pad_id' is wrong; got 6"));
  CHECK(test::contains(with("num_puzzle_identifiers", -1), "'num_puzzle_identifiers' is wrong"));
  CHECK(test::contains(with("num_puzzle_identifiers", 1'000'000'000),
                       "got num_puzzle_identifiers 1000000000, expected at most 1048576"));
  CHECK(test::contains(damaged([](const fs::path& f) {
                         change_json(f, "num_puzzle_identifiers", 10);
                         write_file(f.parent_path() / "identifiers.json", "[\"<blank>\"]");
                       }),
                       "got num_puzzle_identifiers 10, expected at most 4"));
  CHECK(test::contains(with("mean_puzzle_examples", "x"), "'mean_puzzle_examples' is wrong"));
  CHECK(test::contains(with("sets", Json::array()), "'sets' is wrong"));
  CHECK(test::contains(with("sets", Json::array({"../all"})), "'../all' cannot be a set"));
  CHECK(test::contains(with("total_groups", 7), "got total_groups 7, expected 3"));
  CHECK(test::contains(with("ubique", {{"kind", "sudoku"}, {"rows", 5}, {"cols", 5}}),
                       "a grid of 5x5 does not fit"));
  CHECK(test::contains(
      with("ubique",
           {{"kind", "sudoku"}, {"rows", 4}, {"cols", 4}, {"box_rows", 4}, {"box_cols", 4}}),
      "cannot be"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [] { data::read_puzzle_set("/nowhere", "train"); }),
      "no train in /nowhere"));
}

TEST_CASE("puzzle set: a folder with other files is refused") {
  const test::ScratchFolder scratch;
  const auto set = small_sudokus();
  data::claim_puzzle_folder(scratch / "new", set.metadata.provenance);
  data::write_puzzle_set(scratch / "new", "train", set);
  data::claim_puzzle_folder(scratch / "new", set.metadata.provenance);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::claim_puzzle_folder(scratch / "new", 1); }),
      "holds puzzles of other options"));
  write_file(scratch / "letter.txt", "x");
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::claim_puzzle_folder(scratch.path(), 1); }),
      "holds no puzzles"));
  write_file(scratch / "empty", "");
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::claim_puzzle_folder(scratch / "empty", 1); }),
      "is a file; expected a new folder"));
}

TEST_CASE("puzzle set: a folder is written completely or not at all") {
  const test::ScratchFolder scratch;
  data::PuzzleSplits splits;
  splits.train = small_sudokus();
  make_folder(scratch / "set");
  data::write_puzzle_folder(scratch / "set/", splits, {"<blank>"}, {{"more.txt", "x"}});
  CHECK(data::read_puzzle_set(scratch / "set", "train").examples() == 4);
  CHECK(read_file(scratch / "set/more.txt") == "x");
  CHECK_FALSE(fs::exists(scratch / "set/test"));
  data::write_puzzle_folder(scratch / "set", splits, {"<blank>"}, {{"more.txt", "y"}});
  CHECK(read_file(scratch / "set/more.txt") == "y");
  test::refusal_of(ErrorKind::Input, [&] {
    data::write_puzzle_folder(scratch / "new", splits, {"<blank>"}, {{"no/more.txt", "x"}});
  });
  CHECK(scratch.count() == 1);
}

TEST_CASE("puzzle set: a damaged byte anywhere is read or refused, without a crash") {
  const test::ScratchFolder scratch;
  data::write_puzzle_set(scratch.path(), "train", small_sudokus());
  int refused = 0, tried = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "train")) {
    const auto whole = read_file(entry.path());
    for (std::size_t place = 0; place < whole.size(); place += 3) {
      for (const char damage : {'\x01', '\x40', '\xff'}) {
        auto changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ damage);
        write_file(entry.path(), changed);
        const auto outcome =
            test::error_of([&] { data::read_puzzle_set(scratch.path(), "train"); });
        if (outcome != "no error") {
          CHECK(outcome.starts_with("input: "));
          ++refused;
        }
        ++tried;
      }
    }
    write_file(entry.path(), whole);
  }
  CHECK(tried > 1000);
  CHECK(refused > tried / 2);
}
