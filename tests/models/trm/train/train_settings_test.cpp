// SPDX-License-Identifier: Apache-2.0
// The original's keys, the data set, and data that does not fit the network.
#include "training_samples.h"
#include "ubique/data/puzzles/maze/maze_build.h"
#include "ubique/data/puzzles/use/puzzle_sampler.h"
#include "ubique/models/trm/use/open.h"

using namespace ubique;
using namespace ubique::test;

namespace {

engine::Request request_of(const std::string& yaml) {
  engine::Request request;
  request.config = Config::from_text(yaml, "cfg.yaml");
  request.config.set_environment({});
  return request;
}

}  // namespace

TEST_CASE("trm settings: a configuration file of the original has its meaning there") {
  const auto settings = trm::read_train_settings(request_of(R"(
defaults:
  - arch: trm
  - _self_
hydra:
  output_subdir: null
data_paths: ['data/arc1', 'data/more']
data_paths_test: []
evaluators:
  - name: arc@ARC
global_batch_size: 96
epochs: 50000
eval_interval: 5000
checkpoint_every_eval: True
lr: 2e-4
lr_min_ratio: 0.5
lr_warmup_steps: 100
beta1: 0.9
beta2: 0.95
weight_decay: 1.0
puzzle_emb_weight_decay: 0.2
puzzle_emb_lr: 1e-4
seed: 3
min_eval_interval: 2
ema: True
ema_rate: 0.99
freeze_weights: False
project_name: x
)"));
  CHECK(settings.data.size() == 2);
  CHECK(settings.test.empty());
  CHECK(settings.recipe.epochs == 10);
  CHECK(settings.passes == 5000);
  CHECK(settings.batch == 96);
  CHECK(settings.recipe.optimizer.lr == 2e-4);
  CHECK(settings.recipe.optimizer.weight_decay == 1);
  CHECK(settings.recipe.schedule.floor == 0.5);
  CHECK(settings.recipe.schedule.warmup_steps == 100);
  CHECK(settings.recipe.ema_decay == 0.99);
  CHECK(settings.recipe.seed == 3);
  CHECK(settings.recipe.validate_from == 2);
  CHECK(settings.table.lr == 1e-4);
  CHECK(settings.table.weight_decay == 0.2);
}

TEST_CASE("trm settings: by default the original's values, and about ten validations") {
  auto settings = trm::read_train_settings(request_of("data_paths: [a]\n"));
  CHECK(settings.recipe.epochs == 10);
  CHECK(settings.passes == 10000);
  CHECK(settings.recipe.optimizer.name == "adam_atan2");
  CHECK(settings.recipe.optimizer.beta2 == 0.95);
  CHECK(settings.recipe.schedule.warmup_steps == 2000);
  CHECK(settings.recipe.ema_decay == 0.999);
  settings = trm::read_train_settings(request_of("data_paths: [a]\nepochs: 7\nema: false\n"));
  CHECK(settings.passes == 1);
  CHECK(settings.recipe.epochs == 7);
  CHECK(settings.recipe.ema_decay == 0);
}

TEST_CASE("trm settings: values out of range are refused") {
  for (const char* line :
       {"epochs: 10\neval_interval: 3", "lr_warmup_steps: -1", "lr_min_ratio: 2",
        "puzzle_emb_lr: -1", "eval_subset: -2", "schedule: onecycle", "ema: perhaps"}) {
    CAPTURE(line);
    refusal_of(ErrorKind::Usage, [&] {
      trm::read_train_settings(request_of(std::string("data_paths: [a]\n") + line + "\n"));
    });
  }
  CHECK(contains(refusal_of(ErrorKind::Usage, [] { trm::read_train_settings(request_of("")); }),
                 "data_paths"));
}

TEST_CASE("trm settings: network sizes out of range are refused before anything is allocated") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"expansion", ".inf"},
                                                        {"expansion", "0.001"},
                                                        {"hidden_size", "100000000"},
                                                        {"halt_max_steps", "99999999999"},
                                                        {"H_cycles", "0"}}) {
    CAPTURE(key);
    CAPTURE(value);
    const auto message = refusal_of(ErrorKind::Usage, [&, name = "arch." + key, to = value] {
      trm::make_task(small_request(scratch / "data", {{name, to}}));
    });
    CHECK(contains(message, "[trm.config] " + key));
  }
}

TEST_CASE("trm settings: unknown keys are refused with a suggestion") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  const auto request = small_request(scratch / "data", {{"arch.hiden_size", "8"}});
  plan::read_wishes(request.config);
  const auto message = refusal_of(ErrorKind::Usage, [&] { trm::make_task(request); });
  CHECK(contains(message, "arch.hiden_size"));
  CHECK(contains(message, "hidden_size"));
}

TEST_CASE("trm data: batches come in the original's order for a seed") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 0);
  const auto set =
      std::make_shared<const data::PuzzleSet>(data::read_puzzle_set(scratch / "data", "train"));
  const trm::PuzzleDataset dataset(set, {.seed = 5, .passes = 3});
  CHECK(dataset.epoch_samples(4) == 28);
  const auto order = dataset.order(1, 4, Random(1));
  REQUIRE(order.size() == 28);
  data::PuzzleIteration iteration(*set, {5, 4, 3}, 2);
  std::vector<std::int64_t> wanted;
  while (const auto choice = iteration.next()) {
    wanted.insert(wanted.end(), choice->examples.begin(), choice->examples.end());
  }
  CHECK(order == wanted);
  CHECK(dataset.order(0, 4, Random(1)) != order);
  const auto message = refusal_of(ErrorKind::Usage, [&] { dataset.epoch_samples(31); });
  CHECK(contains(message, "at most 30"));
}

TEST_CASE("trm data: exploration demands 2 to the maximum of steps, with its probability") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  const auto set =
      std::make_shared<const data::PuzzleSet>(data::read_puzzle_set(scratch / "data", "train"));
  const auto min_steps_of = [&](double share, std::int64_t max_steps) {
    const trm::PuzzleDataset dataset(set,
                                     {.halt_max_steps = max_steps, .halt_exploration_prob = share});
    return dataset.load(std::vector<std::int64_t>(2000, 1), engine::SampleRandoms(Random(3)))
        .tensors.at("least_steps");
  };
  const auto some = min_steps_of(0.25, 5);
  const auto explored = some.gt(0).to(at::kFloat).mean().item<double>();
  CHECK(explored == doctest::Approx(0.25).epsilon(0.15));
  CHECK(some.max().item<int>() == 5);
  CHECK(some.masked_fill(some.eq(0), 9).min().item<int>() == 2);
  CHECK(min_steps_of(0, 5).max().item<int>() == 0);
  CHECK(min_steps_of(1, 1).max().item<int>() == 0);
}

TEST_CASE("trm data: every draw is a random variant, the same for the same stream") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  const auto set =
      std::make_shared<const data::PuzzleSet>(data::read_puzzle_set(scratch / "data", "train"));
  const trm::PuzzleDataset dataset(set, {.augment = true});
  const auto one = dataset.load({0, 0}, engine::SampleRandoms(Random(1))),
             two = dataset.load({0, 0}, engine::SampleRandoms(Random(2)));
  CHECK_FALSE(at::equal(one.tensors.at("inputs")[0], one.tensors.at("inputs")[1]));
  CHECK_FALSE(at::equal(one.tensors.at("inputs"), two.tensors.at("inputs")));
  CHECK(at::equal(one.tensors.at("labels"),
                  dataset.load({0, 0}, engine::SampleRandoms(Random(1))).tensors.at("labels")));
}

TEST_CASE("trm data: puzzles that do not fit the network are refused with the reason") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  const auto set = data::read_puzzle_set(scratch / "data", "train");
  trm::TrmConfig config;
  config.seq_len = 81;
  config.vocab_size = 6;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::check_fits(set, config, "it"); }),
                 "got 16 tokens, expected the network's 81"));
  config.seq_len = 16;
  config.vocab_size = 5;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::check_fits(set, config, "it"); }),
                 "vocabulary of 6"));
  config.vocab_size = 6;
  auto other = set;
  other.puzzle_identifiers.back() = 4;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::check_fits(other, config, "it"); }),
                 "id 4, expected below 1"));
}

TEST_CASE("trm data: a network stores the grid of its mazes; without one, it is square") {
  const ScratchFolder scratch;
  const auto mazes =
      data::build_mazes({.rows = 6, .cols = 8, .train = 4, .test = 0, .seed = 1, .min_path = 4});
  data::write_puzzle_folder(scratch / "mazes", mazes, {"<blank>"});
  const auto task = trm::make_task(small_request(scratch / "mazes", {}));
  const auto config = task->model().config();
  CHECK(config["rows"] == 6);
  CHECK(config["cols"] == 8);
  const auto layout = trm::layout_of(trm::from_json(config, "it"));
  CHECK(data::describe(layout) == "maze 6x8");
  trm::TrmConfig old;
  old.kind = "maze";
  old.seq_len = 81;
  CHECK(data::describe(trm::layout_of(old)) == "maze 9x9");
  CHECK_FALSE(trm::to_json(old).contains("rows"));  // runs of square puzzles resume as they were
  auto torn = config;
  torn["cols"] = 9;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::from_json(torn, "it"); }),
                 "a grid of 6x9 does not fit; expected 48 cells"));
}

TEST_CASE("trm data: puzzles of another kind or shape are refused where both are known") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 4, 0);
  auto set = data::read_puzzle_set(scratch / "data", "train");
  trm::TrmConfig config;
  config.seq_len = 16;
  config.vocab_size = 12;
  trm::check_fits(set, config, "it");
  config.kind = "arc";
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::check_fits(set, config, "it"); }),
                 "it has other puzzles; got sudoku, expected the network's arc"));
  set.metadata.layout = {data::PuzzleKind::Maze, 8, 2};
  config.kind = "maze";
  trm::check_fits(set, config, "it");  // the network's grid is unknown
  config.rows = 2, config.cols = 8;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::check_fits(set, config, "it"); }),
                 "got 8x2, expected the network's 2x8"));
}
