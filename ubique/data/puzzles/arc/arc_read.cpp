// SPDX-License-Identifier: Apache-2.0
// Parses and writes ARC tasks; each error names file, task, pair and grid.
#include "ubique/data/puzzles/arc/arc_read.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// `where` names the grid: "FILE, task 0a1b, test 1, output".
ArcGrid parse_grid(const Json& json, const std::string& where) {
  const bool rows = json.is_array() && !json.empty() && json.size() <= kArcSide &&
                    json[0].is_array() && !json[0].empty() && json[0].size() <= kArcSide;
  check(rows, ErrorKind::Input,
        "[data.arc] {} is no grid; expected 1 to {} rows of 1 to {} colours.", where, kArcSide,
        kArcSide);
  ArcGrid grid{{json.size(), json[0].size()}, {}};
  for (std::size_t row = 0; row < json.size(); ++row) {
    check(json[row].is_array() && json[row].size() == grid.size.cols, ErrorKind::Input,
          "[data.arc] {}, row {} has another length than the first; expected {} colours.", where,
          row, grid.size.cols);
    for (const auto& cell : json[row]) {
      const bool colour = cell.is_number_integer() && cell >= 0 && cell <= 9;
      check(colour, ErrorKind::Input,
            "[data.arc] {}, row {} holds no colour; got {}, expected 0 to 9.", where, row,
            json_text(cell));
      grid.cells.push_back(cell.get<std::uint8_t>());
    }
  }
  return grid;
}

ArcPair parse_pair(const Json& json, const std::string& where, bool is_test) {
  check(json.is_object() && json.contains("input"), ErrorKind::Input,
        "[data.arc] {} is no pair; expected an object with input and output.", where);
  ArcPair pair{parse_grid(json["input"], where + ", input"), {{1, 1}, {0}}, false};
  check(is_test || json.contains("output"), ErrorKind::Input,
        "[data.arc] {} has no output; only test pairs may go without.", where);
  if (json.contains("output")) {
    pair.output = parse_grid(json["output"], where + ", output");
    pair.known = true;
  }
  return pair;
}

std::vector<ArcPair> parse_pairs(const Json& json, const char* part, const std::string& where) {
  const auto found = json.is_object() ? json.find(part) : json.end();
  check(json.is_object() && found != json.end() && found->is_array() && !found->empty(),
        ErrorKind::Input,
        "[data.arc] {} is no task; expected lists `train` and `test` of pairs of grids.", where);
  std::vector<ArcPair> pairs;
  for (const auto& pair : *found) {
    pairs.push_back(parse_pair(pair, fmt::format("{}, {} {}", where, part, pairs.size()),
                               part == std::string_view("test")));
  }
  return pairs;
}

ArcTask parse_task(const std::string& name, const Json& json, const std::string& where) {
  const auto task_name = fmt::format("{}, task {}", where, name);
  check(!name.empty() && name.find("|||") == std::string::npos, ErrorKind::Input,
        "[data.arc] {}: a task cannot be called '{}'; expected a name without '|||'.", where, name);
  ArcTask task{name, parse_pairs(json, "train", task_name), parse_pairs(json, "test", task_name)};
  if (json.value("answers", Json()) == "unknown") {
    for (auto& pair : task.test) pair.known = false;
  }
  return task;
}

/// Fills the outputs of the tasks' test pairs from {"name": [grid, ...]}.
void add_solutions(std::vector<ArcTask>& tasks, const fs::path& path) {
  const auto json = parse_json(read_file(path), path.string());
  for (auto& task : tasks) {
    const auto found = json.is_object() ? json.find(task.name) : json.end();
    const bool fits = json.is_object() && found != json.end() && found->is_array() &&
                      found->size() == task.test.size();
    check(fits, ErrorKind::Input,
          "[data.arc] {} does not answer task {}; expected a list of {} grids.", path.string(),
          task.name, task.test.size());
    for (std::size_t i = 0; i < task.test.size(); ++i) {
      const auto where = fmt::format("{}, task {}, answer {}", path.string(), task.name, i);
      task.test[i].output = parse_grid((*found)[i], where);
      task.test[i].known = true;
    }
  }
}

std::vector<ArcTask> read_task_folder(const fs::path& folder) {
  std::vector<ArcTask> tasks;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto where = entry.path().string();
    tasks.push_back(parse_task(entry.path().stem().string(),
                               parse_json(read_file(entry.path()), where), where));
  }
  return tasks;
}

std::vector<ArcTask> read_task_file(const fs::path& path) {
  const auto json = parse_json(read_file(path), path.string());
  if (json.is_object() && json.contains("train") && json["train"].is_array()) {
    return {parse_task(path.stem().string(), json, path.string())};
  }
  auto tasks = parse_arc_tasks(json, path.string());
  constexpr std::string_view kChallenges = "_challenges.json";
  auto name = path.filename().string();
  if (!name.ends_with(kChallenges)) return tasks;
  name.replace(name.size() - kChallenges.size(), kChallenges.size(), "_solutions.json");
  std::error_code error;
  const auto solutions = path.parent_path() / name;
  if (fs::exists(solutions, error)) add_solutions(tasks, solutions);
  return tasks;
}

Json pairs_json(const std::vector<ArcPair>& pairs) {
  auto json = Json::array();
  for (const auto& pair : pairs) {
    json.push_back({{"input", arc_grid_json(pair.input)}, {"output", arc_grid_json(pair.output)}});
  }
  return json;
}

}  // namespace

std::vector<ArcTask> parse_arc_tasks(const Json& json, const std::string& where) {
  check(json.is_object() && !json.empty(), ErrorKind::Input,
        "[data.arc] {} holds no tasks; got {}, expected an object of tasks by name.", where,
        json.type_name());
  std::vector<ArcTask> tasks;
  for (const auto& [name, task] : json.items()) tasks.push_back(parse_task(name, task, where));
  return tasks;
}

std::vector<ArcTask> read_arc_tasks(const fs::path& path) {
  std::error_code error;
  auto tasks = fs::is_directory(path, error) ? read_task_folder(path) : read_task_file(path);
  check(!tasks.empty(), ErrorKind::Input,
        "[data.arc] {} holds no tasks; expected JSON files such as those of ARC-AGI.",
        path.string());
  std::sort(tasks.begin(), tasks.end(),
            [](const ArcTask& a, const ArcTask& b) { return a.name < b.name; });
  return tasks;
}

Json arc_grid_json(const ArcGrid& grid) {
  auto json = Json::array();
  for (std::size_t row = 0; row < grid.size.rows; ++row) {
    auto cells = Json::array();
    for (std::size_t col = 0; col < grid.size.cols; ++col) {
      cells.push_back(grid.cells[row * grid.size.cols + col]);
    }
    json.push_back(std::move(cells));
  }
  return json;
}

Json arc_json(const std::vector<ArcTask>& tasks) {
  auto json = Json::object();
  for (const auto& task : tasks) {
    auto& entry = json[task.name];
    entry["train"] = pairs_json(task.train);
    entry["test"] = pairs_json(task.test);
    const bool known = std::all_of(task.test.begin(), task.test.end(),
                                   [](const ArcPair& pair) { return pair.known; });
    if (!known) entry["answers"] = "unknown";
  }
  return json;
}

}  // namespace ubique::data
