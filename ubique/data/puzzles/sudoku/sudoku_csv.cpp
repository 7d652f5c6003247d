// SPDX-License-Identifier: Apache-2.0
// Files may have millions of lines: the text is memory mapped, and only the selected lines are
// parsed completely.
#include "ubique/data/puzzles/sudoku/sudoku_csv.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"
#include "ubique/data/puzzles/set/plain_text.h"
#include "ubique/data/puzzles/sudoku/sudoku_canonical.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

namespace ubique::data {
namespace {

/// A line of the file, not yet parsed.
struct CsvRow {
  int number = 0;
  std::string_view text;
};

/// A 4x4 puzzle, its solution and a comma.
constexpr std::size_t kShortestPuzzle = 33;
constexpr std::size_t kLongestLine = 65536;

class SudokuCsv;
SudokuShape csv_shape(const SudokuCsv& csv, const CsvRow& line);

class SudokuCsv {
 public:
  SudokuCsv(std::string_view text, std::string where) : where_(std::move(where)) {
    check_plain_text(text, where_);
    check(!text.empty(), ErrorKind::Input,
          "[data.sudoku_csv] {} is empty; expected a line of column names, then puzzles.", where_);
    names_ = fields_of({1, next_line(text)});
    question_ = column("question");
    answer_ = column("answer");
    split_lines(text);
  }

  std::vector<CsvRow> puzzles(std::int64_t min_rating) const {
    std::vector<CsvRow> kept;
    const auto rating = min_rating > 0 ? column("rating") : 0;
    for (const auto& line : lines_) {
      if (min_rating == 0 || rating_of(line, rating) >= min_rating) kept.push_back(line);
    }
    return kept;
  }

  std::string question(const std::vector<std::string>& fields) const { return fields[question_]; }
  std::string answer(const std::vector<std::string>& fields) const { return fields[answer_]; }
  const std::string& where() const { return where_; }

  std::vector<std::string> fields_of(const CsvRow& line) const {
    check(line.text.size() <= kLongestLine, ErrorKind::Input,
          "[data.sudoku_csv] {}, line {}: got {} bytes, expected at most {}.", where_, line.number,
          line.text.size(), kLongestLine);
    const auto parsed = parse_csv(line.text, fmt::format("{}, line {}", where_, line.number));
    auto fields = parsed.empty() ? std::vector<std::string>{} : parsed.front().fields;
    check(names_.empty() || fields.size() == names_.size(), ErrorKind::Input,
          "[data.sudoku_csv] {}, line {}: got {} columns, expected {} ({}).", where_, line.number,
          fields.size(), names_.size(), printable(join(names_, ", ")));
    return fields;
  }

 private:
  /// Takes the first line off the text.
  static std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
  }

  /// Lines that cannot be puzzles are not kept: gigabytes of them would take many times as much.
  void split_lines(std::string_view text) {
    for (int number = 2; !text.empty(); ++number) {
      const CsvRow line{number, next_line(text)};
      if (trim(line.text).empty()) continue;
      if (line.text.size() < kShortestPuzzle) csv_shape(*this, line);
      lines_.push_back(line);
    }
  }

  std::size_t column(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    check(found != names_.end(), ErrorKind::Input,
          "[data.sudoku_csv] {} has no column '{}'; got {}, expected source, question, answer, "
          "rating.",
          where_, name, printable(join(names_, ", ")));
    return static_cast<std::size_t>(found - names_.begin());
  }

  std::int64_t rating_of(const CsvRow& line, std::size_t column) const {
    const auto text = fields_of(line)[column];
    std::int64_t rating = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rating);
    check(error == std::errc() && end == text.data() + text.size(), ErrorKind::Input,
          "[data.sudoku_csv] {}, line {}: the rating is wrong; got '{}', expected a whole number.",
          where_, line.number, printable(text, 40));
    return rating;
  }

  std::string where_;
  std::vector<CsvRow> lines_;
  std::vector<std::string> names_;
  std::size_t question_ = 0, answer_ = 0;
};

SudokuGrid csv_grid(const SudokuCsv& csv, const CsvRow& line, const SudokuShape& shape,
                    const std::string& text, bool blanks) {
  check(text.size() == static_cast<std::size_t>(shape.cells()), ErrorKind::Input,
        "[data.sudoku_csv] {}, line {}: got {} cells, expected {}.", csv.where(), line.number,
        text.size(), shape.cells());
  SudokuGrid grid{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool blank = text[i] == '.' || text[i] == '0';
    check(blank ? blanks : text[i] >= '1' && text[i] <= '0' + shape.size, ErrorKind::Input,
          "[data.sudoku_csv] {}, line {}: '{}' in cell {} is wrong; expected 1 to {}{}.",
          csv.where(), line.number, printable_letter(text, i), i + 1, shape.size,
          blanks ? " or '.'" : "");
    grid[i] = static_cast<std::uint8_t>(blank ? 0 : text[i] - '0');
  }
  return grid;
}

SudokuPuzzle csv_puzzle(const SudokuCsv& csv, const CsvRow& line, const SudokuShape& shape) {
  const auto fields = csv.fields_of(line);
  SudokuPuzzle puzzle;
  puzzle.puzzle = csv_grid(csv, line, shape, csv.question(fields), true);
  puzzle.solution = csv_grid(csv, line, shape, csv.answer(fields), false);
  const auto solved = solve_sudoku(shape, puzzle.puzzle);
  check(solved.solutions == 1, ErrorKind::Input,
        "[data.sudoku_csv] {}, line {}: the puzzle has {}; expected exactly one solution.",
        csv.where(), line.number, solved.solutions == 0 ? "no solution" : "more than one solution");
  check(solved.solution == puzzle.solution, ErrorKind::Input,
        "[data.sudoku_csv] {}, line {}: the answer is not the puzzle's solution; got {}, expected "
        "{}.",
        csv.where(), line.number, csv.answer(fields), sudoku_text(shape, solved.solution));
  return puzzle;
}

SudokuShape csv_shape(const SudokuCsv& csv, const CsvRow& line) {
  const auto cells = csv.question(csv.fields_of(line)).size();
  for (const int size : {4, 6, 9}) {
    const auto shape = sudoku_shape(size);
    if (cells == static_cast<std::size_t>(shape.cells())) return shape;
  }
  fail(ErrorKind::Input,
       "[data.sudoku_csv] {}, line {}: got a puzzle of {} cells, expected 16, 36 or 81.",
       csv.where(), line.number, cells);
}

std::vector<CsvRow> random_subset(const std::vector<CsvRow>& lines,
                                  const SudokuCsvOptions& options) {
  if (options.limit <= 0 || options.limit >= static_cast<std::int64_t>(lines.size())) return lines;
  auto order = Random(options.seed).permutation(static_cast<std::int64_t>(lines.size()));
  order.resize(static_cast<std::size_t>(options.limit));
  std::sort(order.begin(), order.end());
  std::vector<CsvRow> subset;
  for (const auto index : order) subset.push_back(lines[static_cast<std::size_t>(index)]);
  return subset;
}

SudokuPuzzle puzzle_at(const PuzzleSet& set, std::int64_t example) {
  const auto shape = sudoku_shape(set.metadata.layout);
  SudokuPuzzle puzzle;
  puzzle.puzzle = sudoku_grid(shape, set.inputs.row(example));
  puzzle.solution = sudoku_grid(shape, set.labels.row(example));
  return puzzle;
}

/// Keys that are equal for equivalent puzzles.
std::vector<std::string> keys_of(const PuzzleSet& set, int threads) {
  const auto shape = sudoku_shape(set.metadata.layout);
  std::vector<std::string> keys(static_cast<std::size_t>(set.examples()));
  parallel_for(set.examples(), threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      keys[static_cast<std::size_t>(i)] = sudoku_key(shape, puzzle_at(set, i));
    }
  });
  return keys;
}

/// Keys that are equal for equal cells.
std::vector<std::string> questions_of(const PuzzleSet& set) {
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    const auto row = set.inputs.row(i);
    keys.emplace_back(row.begin(), row.end());
  }
  return keys;
}

}  // namespace

PuzzleSet read_sudoku_csv(const std::filesystem::path& path, const SudokuCsvOptions& options,
                          int threads, const PuzzleProgress& progress) {
  check(options.limit >= 0 && options.min_rating >= 0, ErrorKind::Usage,
        "[data.sudoku_csv] got limit {} and min_rating {}, expected 0 (all) or more.",
        options.limit, options.min_rating);
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const SudokuCsv csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
  const auto lines = random_subset(csv.puzzles(options.min_rating), options);
  check(!lines.empty(), ErrorKind::Input,
        "[data.sudoku_csv] {} holds no puzzle of rating {} or more; expected at least one.",
        path.string(), options.min_rating);
  const auto shape = csv_shape(csv, lines.front());
  constexpr std::int64_t kAtOnce = 4096;
  const auto count = static_cast<std::int64_t>(lines.size());
  auto set = empty_puzzle_set(sudoku_metadata(shape));
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    std::vector<SudokuPuzzle> made(static_cast<std::size_t>(std::min(kAtOnce, count - first)));
    parallel_for(static_cast<std::int64_t>(made.size()), threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto i = begin; i < end; ++i) {
                     made[static_cast<std::size_t>(i)] =
                         csv_puzzle(csv, lines[static_cast<std::size_t>(first + i)], shape);
                   }
                 });
    for (const auto& puzzle : made) add_sudoku(set, shape, puzzle);
    if (progress) progress(set.examples());
  }
  return set;
}

PuzzleSplits without_test_puzzles(const PuzzleSet& train, const PuzzleSet& test, Sameness sameness,
                                  int threads) {
  check(train.metadata.seq_len == test.metadata.seq_len, ErrorKind::Input,
        "[data.sudoku_csv] these do not belong together; got sudokus of {} and {} cells.",
        train.metadata.seq_len, test.metadata.seq_len);
  const auto shape = sudoku_shape(train.metadata.layout);
  PuzzleSplits splits{empty_puzzle_set(train.metadata), test};
  if (test.examples() == 0) return {train, test};
  const bool symmetry = sameness == Sameness::Symmetry;
  const auto test_keys = symmetry ? keys_of(test, threads) : questions_of(test);
  const auto train_keys = symmetry ? keys_of(train, threads) : questions_of(train);
  const std::unordered_set<std::string> known(test_keys.begin(), test_keys.end());
  for (std::int64_t i = 0; i < train.examples(); ++i) {
    if (known.contains(train_keys[static_cast<std::size_t>(i)])) continue;
    add_sudoku(splits.train, shape, puzzle_at(train, i));
  }
  check(splits.train.examples() > 0, ErrorKind::Usage,
        "[data.sudoku_csv] all puzzles are among the {} to test with; expected others.",
        test.examples());
  return splits;
}

PuzzleSplits split_off_test(const PuzzleSet& set, std::int64_t test, int threads) {
  check(test >= 0 && test < set.examples(), ErrorKind::Usage,
        "[data.sudoku_csv] cannot take {} of {} puzzles to test with; expected fewer.", test,
        set.examples());
  const auto shape = sudoku_shape(set.metadata.layout);
  PuzzleSplits parts{empty_puzzle_set(set.metadata), empty_puzzle_set(set.metadata)};
  const auto first = set.examples() - test;
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    add_sudoku(i < first ? parts.train : parts.test, shape, puzzle_at(set, i));
  }
  return without_test_puzzles(parts.train, parts.test, Sameness::Symmetry, threads);
}

}  // namespace ubique::data
