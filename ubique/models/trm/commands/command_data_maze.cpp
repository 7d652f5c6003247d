// SPDX-License-Identifier: Apache-2.0
// `ubique data trm maze`: makes mazes with a unique, long shortest path.
#include <fmt/format.h>

#include "ubique/data/puzzles/maze/maze_build.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

data::MazeBuild read_maze_build(const Config& config) {
  data::MazeBuild options;
  const auto size = config.get("size", std::vector<std::int64_t>{options.rows, options.cols});
  check((size.size() == 1 || size.size() == 2) && size.front() <= 1000 && size.back() <= 1000,
        ErrorKind::Usage, "[trm.maze] --size takes rows and columns, such as 30 or 20,30.");
  options.rows = static_cast<int>(size.front());
  options.cols = static_cast<int>(size.back());
  options.train = config.get("train", options.train);
  options.test = config.get("test", options.test);
  options.min_path = config.get("min_path", options.min_path);
  options.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  config.finish();
  return options;
}

engine::Outcome make_mazes(const engine::Request& request) {
  const auto options = read_maze_build(request.config);
  const auto folder = request.output.empty() ? std::filesystem::path("maze") : request.output;
  data::claim_puzzle_folder(folder, data::build_provenance(options));
  const auto splits = build_with_progress(
      request, "mazes", options.train + options.test, [&](const data::PuzzleProgress& progress) {
        return data::build_mazes(options, data_threads(), progress);
      });
  if (!splits) return stopped_outcome("trm.data.maze");
  data::write_puzzle_folder(folder, *splits, {"<blank>"});
  auto json = json_document("trm.data.maze", 1);
  json["folder"] = folder.string();
  json["made_with"] = splits->train.metadata.provenance;
  json["sets"] = splits_json(*splits);
  return {fmt::format("{} in {} (seed {}); each has one shortest path, no two are the same rotated "
                      "or mirrored\n\n{}\nlook at them: ubique data trm show {}\n",
                      data::describe(splits->train.metadata.layout), folder.string(), options.seed,
                      splits_table(*splits), folder.string()),
          json, ExitCode::Ok};
}

}  // namespace

engine::Command maze_command() {
  return {.verb = "data",
          .name = "maze",
          .summary = "make mazes with a unique, long shortest path, from a seed",
          .needs_device = false,
          .options = {{"--size", "size", "N[,M]", "rows and columns (30)"},
                      {"--train,--count", "train", "N", "training mazes (1000)"},
                      {"--test", "test", "N", "test mazes (1000)"},
                      {"--min-path", "min_path", "N",
                       "minimum moves from start to goal (an eighth of the cells: 112)"},
                      {"--seed", "seed", "N", "the same seed gives the same mazes (42)"}},
          .examples = {{"ubique data trm maze -o maze", "1,000 + 1,000 mazes of 30x30"}},
          .run = make_mazes};
}

}  // namespace ubique::trm
