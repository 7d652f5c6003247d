// SPDX-License-Identifier: Apache-2.0
// The solver's answers, steps and scores against the network called directly.
#include <algorithm>
#include <set>

#include "tests/models/trm/train/training_samples.h"
#include "ubique/device/numerics.h"
#include "ubique/models/trm/score/evaluation.h"
#include "ubique/models/trm/score/solve_scores.h"
#include "ubique/models/trm/use/solver.h"

using namespace ubique;
using namespace ubique::trm;
using test::kDevice;

namespace {

TrmConfig solver_config() {
  TrmConfig config;
  config.seq_len = 16;
  config.vocab_size = 6;
  config.hidden_size = 16;
  config.num_heads = 2;
  config.expansion = 1;
  config.high_cycles = config.low_cycles = 2;
  config.mlp_t = true;
  config.positions = Positions::None;
  config.puzzle_emb_ndim = 16;
  config.puzzle_emb_len = 2;
  config.halt_max_steps = 7;
  return config;
}

/// An untrained network whose halting logits differ from puzzle to puzzle. Its weights are scaled
/// down: at their initial size the recursion is chaotic, and f32 gives other answers than f64
/// within nine steps.
std::shared_ptr<Trm> untrained_network(const TrmConfig& config = solver_config()) {
  device::apply_numerics(kDevice, {.tf32 = false});
  auto network = std::make_shared<Trm>(config);
  initialize(*network, Random(3));
  const at::NoGradGuard no_gradients;
  for (auto& [name, tensor] : engine::state_dict(*network)) {
    if (name.find("L_level") != std::string::npos) tensor.mul_(0.7);
    const auto values = Random(11).fork(name.size());
    const bool weight = name.ends_with("q_head.weight");
    if (!weight && !name.ends_with("puzzle_emb.weights")) continue;
    auto flat = tensor.view({-1});
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      flat[i].fill_((weight ? 2 : 1) * (2 * values.uniform(static_cast<std::uint64_t>(i)) - 1));
    }
  }
  network->to(kDevice);
  return network;
}

data::PuzzleSet sudokus(std::int64_t count) {
  const auto shape = data::sudoku_shape(4);
  auto set = data::empty_puzzle_set(data::sudoku_metadata(shape));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto made = data::make_sudoku(shape, 6, Random(7).fork(static_cast<std::uint64_t>(i)));
    data::add_example(set, data::sudoku_tokens(shape, made.puzzle),
                      data::sudoku_tokens(shape, made.solution));
    data::end_puzzle(set, 0);
    data::end_group(set);
  }
  return set;
}

Solver::Puzzles source_of(const data::PuzzleSet& set) {
  return [&set](std::int64_t i, std::span<std::int32_t> tokens) {
    set.inputs.copy(i, tokens);
    return 0;
  };
}

/// The answer of the network called directly, for one puzzle.
Solved alone(const Trm& network, const data::PuzzleSet& set, std::int64_t example,
             std::int64_t most, bool early) {
  const at::NoGradGuard no_gradients;
  const auto weights = network.cast(at::kFloat);
  const auto tokens = set.inputs.row(example);
  const auto inputs = at::tensor(tokens, at::kInt).view({1, -1}).to(kDevice);
  const auto x = network.embed(weights, inputs, network.puzzle_table().slice(0, 0, 1));
  auto latents = network.start(weights, 1);
  Solved solved;
  do {
    const auto answer = network.step(weights, x, latents);
    const auto found = answer.logits.argmax(-1).to(at::kInt).cpu();
    solved.tokens.assign(found.const_data_ptr<std::int32_t>(),
                         found.const_data_ptr<std::int32_t>() + found.numel());
    solved.halt = answer.halt[0][0].item<double>();
    ++solved.steps;
  } while (solved.steps < most && !(early && solved.halt > 0));
  return solved;
}

void check_same(const Solved& got, const Solved& expected) {
  CHECK(got.tokens == expected.tokens);
  CHECK(got.steps == expected.steps);
  CHECK(got.halt == doctest::Approx(expected.halt).epsilon(1e-3));
}

}  // namespace

TEST_CASE("trm solver: refilled slots give every puzzle the answer it gets alone") {
  const auto network = untrained_network();
  const auto set = sudokus(23);
  std::set<std::int64_t> steps;
  for (const std::int64_t slots : {1, 4, 64}) {
    for (const bool record : {false, true}) {  // without support for recording, launches one by one
      CAPTURE(slots);
      Solver solver(*network, at::kFloat, {.slots = slots, .record = record});
      for (int twice = 0; twice < 2; ++twice) {
        std::vector<Solved> solved(23);
        solver.solve(23, source_of(set), [&](std::int64_t puzzle, const Solved& answer) {
          auto& entry = solved[static_cast<std::size_t>(puzzle)];
          CHECK(entry.steps == 0);  // each is delivered once
          entry = answer;
          return true;
        });
        for (std::int64_t i = 0; i < 23; ++i) {
          CAPTURE(i);
          check_same(solved[static_cast<std::size_t>(i)], alone(*network, set, i, 7, true));
          steps.insert(solved[static_cast<std::size_t>(i)].steps);
        }
      }
    }
  }
  CHECK(steps.size() > 2);  // puzzles halt after different numbers of steps
}

TEST_CASE("trm solver: all steps, more than in training, with a smaller last batch") {
  const auto network = untrained_network();
  const auto set = sudokus(10);
  for (const bool record : {false, true}) {
    Solver solver(*network, at::kFloat, {.slots = 4, .steps = 9, .early = false, .record = record});
    CHECK(solver.most_steps() == 9);
    std::vector<std::int64_t> order;
    solver.solve(10, source_of(set), [&](std::int64_t puzzle, const Solved& answer) {
      order.push_back(puzzle);
      check_same(answer, alone(*network, set, puzzle, 9, false));
      return true;
    });
    CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

TEST_CASE("trm solver: every step can be watched, and a callback can stop it") {
  const auto network = untrained_network();
  const auto set = sudokus(5);
  Solver solver(*network, at::kFloat, {.slots = 2});
  std::vector<std::vector<Solved>> seen(5);
  std::vector<Solved> last(5);
  solver.solve(
      5, source_of(set),
      [&](std::int64_t puzzle, const Solved& answer) {
        last[static_cast<std::size_t>(puzzle)] = answer;
        return true;
      },
      [&](std::int64_t puzzle, const Solved& now) {
        seen[static_cast<std::size_t>(puzzle)].push_back(now);
        return true;
      });
  for (std::size_t i = 0; i < 5; ++i) {
    REQUIRE(static_cast<std::int64_t>(seen[i].size()) == last[i].steps);
    for (std::size_t step = 0; step < seen[i].size(); ++step) {
      check_same(seen[i][step], alone(*network, set, static_cast<std::int64_t>(i),
                                      static_cast<std::int64_t>(step) + 1, false));
    }
    check_same(seen[i].back(), last[i]);
  }
  int taken = 0;
  solver.solve(5, source_of(set), [&](std::int64_t, const Solved&) { return ++taken < 2; });
  CHECK(taken == 2);
}

TEST_CASE("trm solver: it can be stopped between any two steps, and delivered answers are kept") {
  const auto network = untrained_network();
  const auto set = sudokus(6);
  for (const bool early : {false, true}) {
    int asked = 0, taken = 0;
    const auto stop_at = [&](int most) {
      asked = taken = 0;
      Solver solver(
          *network, at::kFloat,
          {.slots = 2, .steps = early ? 0 : 4, .early = early, .should_continue = [&asked, most] {
             return ++asked <= most;
           }});
      return solver.solve(6, source_of(set), [&](std::int64_t, const Solved&) { return ++taken; });
    };
    CHECK_FALSE(stop_at(0));
    CHECK(asked == 1);
    CHECK(taken == 0);
    CHECK(stop_at(1000));
    CHECK(taken == 6);
    const auto all = asked;
    CHECK_FALSE(stop_at(all - 1));
    CHECK(taken < 6);
    CHECK(taken > 0);
  }
  // A practically endless batch.
  int asked = 0;
  Solver endless(
      *network, at::kFloat,
      {.steps = 1 << 30, .early = false, .should_continue = [&asked] { return ++asked < 4; }});
  CHECK_FALSE(endless.solve(6, source_of(set), [](std::int64_t, const Solved&) { return true; }));
  CHECK(asked == 4);
  Solver scored(*network, at::kFloat,
                {.slots = 2, .early = false, .should_continue = [] { return false; }});
  CHECK(score_solver(scored, set, spread_examples(6, 0), nullptr).stopped);
}

TEST_CASE("trm solver: its scores equal those of the validation during training") {
  const auto network = untrained_network();
  const auto set = sudokus(12);
  const auto examples = spread_examples(12, 0);
  const auto weights = network->cast(at::kFloat);
  std::map<std::string, double> expected;
  for (const auto& [name, value] : evaluate(*network, weights, set, {.batch = 5})) {
    expected[name] = value;
  }
  Solver fixed(*network, at::kFloat, {.slots = 5, .early = false});
  const auto all = score_solver(fixed, set, examples, nullptr);
  CHECK(all.puzzles == 12);
  CHECK(all.exact == doctest::Approx(expected["exact_accuracy"]));
  CHECK(all.tokens == doctest::Approx(expected["accuracy"]));
  CHECK(all.halts == doctest::Approx(expected["q_halt_accuracy"]));
  CHECK(all.steps == doctest::Approx(expected["steps"]));
  Solver early(*network, at::kFloat, {.slots = 5});
  const auto sure = score_solver(early, set, examples, nullptr);
  CHECK(sure.exact == doctest::Approx(expected["exact_accuracy_early"]));
  CHECK(sure.steps == doctest::Approx(expected["steps_early"]));
  CHECK(sure.steps < all.steps);
  CHECK(spread_examples(10, 4) == std::vector<std::int64_t>{0, 2, 5, 7});
}

TEST_CASE("trm solver: a chat model and options out of range are refused") {
  auto config = solver_config();
  config.mlp_t = false;
  config.causal = true;
  const auto chat = untrained_network(config);
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { Solver(*chat, at::kFloat, {}); }),
                       "a chat model solves no puzzles; got trm-chat"));
  const auto network = untrained_network();
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { Solver(*network, at::kFloat, {.slots = 0}); }),
      "got 0 puzzles at once"));
}
