// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/use/solver.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/step/autocast.h"

namespace ubique::trm {
namespace {

/// What the host reads of a row, before its tokens: did it halt, steps so far, the wish to halt.
/// One tensor, so that it waits once; tokens are exact in f32 up to 2^24 of them.
constexpr std::int64_t kToldFirst = 3;

at::Tensor told_of(const at::Tensor& halted, const at::Tensor& steps, const Answer& answer) {
  const auto column = [](const at::Tensor& values) { return values.to(at::kFloat).unsqueeze(1); };
  return at::cat({column(halted), column(steps), column(answer.halt.select(1, 0)),
                  answer.logits.argmax(-1).to(at::kFloat)},
                 1);  // (B, 3 + S)
}

Solved solved_of(const float* told, std::int64_t length) {
  Solved solved;
  solved.steps = static_cast<std::int64_t>(told[1]);
  solved.halt = told[2];
  const auto* tokens = told + kToldFirst;
  std::transform(tokens, tokens + length, std::back_inserter(solved.tokens),
                 [](float token) { return static_cast<std::int32_t>(token); });
  return solved;
}

/// Puzzles on the host, on their way.
Arrivals empty_arrivals(std::int64_t rows, std::int64_t length, c10::Device device) {
  const auto numbers = at::TensorOptions(at::kInt).device(device);
  return {at::zeros({rows, length}, numbers), {}, at::zeros({rows}, numbers)};
}

void place(Arrivals& arrivals, std::int64_t row, std::int64_t puzzle,
           const Solver::Puzzles& puzzles) {
  const auto length = arrivals.inputs.size(1);
  auto* tokens = arrivals.inputs.mutable_data_ptr<std::int32_t>() + row * length;
  arrivals.ids.mutable_data_ptr<std::int32_t>()[row] =
      puzzles(puzzle, {tokens, static_cast<std::size_t>(length)});
}

void send(const Arrivals& from, Arrivals& to) {
  to.inputs.copy_(from.inputs);
  to.ids.copy_(from.ids);
}

}  // namespace

struct Solver::Desk {
  Slots slots;
  Arrivals arrivals;
  at::Tensor least;  // (B) i32: the first step may be the last
  at::Tensor told;   // (B, 3 + S) f32
  std::unique_ptr<device::Recording> recording;

  std::int64_t size() const { return least.size(0); }
};

struct Solver::Bench {
  Arrivals puzzles;
  at::Tensor told;  // (B, 3 + S) f32
  std::unique_ptr<device::Recording> recording;

  std::int64_t size() const { return told.size(0); }
};

struct Solver::Seating {
  std::vector<std::int64_t> puzzles;  // in each slot; -1 is nobody
  std::int64_t next = 0;              // to be seated

  std::int64_t seated() const {
    return std::ranges::count_if(puzzles, [](std::int64_t puzzle) { return puzzle >= 0; });
  }

  /// Puzzles for empty slots; did any come?
  bool seat(std::int64_t count, const Puzzles& source, Arrivals& host) {
    const auto before = next;
    for (std::size_t slot = 0; slot < puzzles.size() && next < count; ++slot) {
      if (puzzles[slot] >= 0) continue;
      puzzles[slot] = next++;
      place(host, static_cast<std::int64_t>(slot), puzzles[slot], source);
    }
    return next > before;
  }

  /// Answers of a step handed on, their slots empty; false once somebody has had enough.
  bool hand_on(const at::Tensor& told, const Take& take, const Take& watch) {
    const auto width = told.size(1);
    const auto* row = told.const_data_ptr<float>();
    for (std::size_t slot = 0; slot < puzzles.size(); ++slot, row += width) {
      const bool done = row[0] > 0;
      if (puzzles[slot] < 0 || !(done || watch)) continue;
      const auto solved = solved_of(row, width - kToldFirst);
      if (watch && !watch(puzzles[slot], solved)) return false;
      if (!done) continue;
      if (!take(puzzles[slot], solved)) return false;
      puzzles[slot] = -1;
    }
    return true;
  }
};

Solver::Solver(const Trm& network, at::ScalarType dtype, const SolverOptions& options)
    : network_(network), options_(options) {
  const auto& config = network_.config();
  check(!config.causal, ErrorKind::Input,
        "[trm.solve] this model speaks and solves no puzzles; got {}, expected one that was "
        "trained on puzzles. `ubique run trm --chat` talks with it.",
        config.name());
  check(options_.slots >= 1 && options_.steps >= 0, ErrorKind::Usage,
        "[trm.solve] got {} puzzles at once and {} steps, expected at least 1 and 0 (as trained).",
        options_.slots, options_.steps);
  most_ = options_.steps > 0 ? options_.steps : config.halt_max_steps;
  const at::NoGradGuard no_gradients;
  weights_ = network_.cast(dtype);
}

Solver::~Solver() = default;

at::Tensor Solver::embed(const Arrivals& puzzles) const {
  return network_.embed(weights_, puzzles.inputs, network_.puzzle_rows(puzzles.ids));  // (B, L, H)
}

Solver::Desk Solver::make_desk(std::int64_t slots) const {
  const auto device = weights_.high_start.device();
  const auto length = network_.config().seq_len;
  Desk desk;
  desk.slots = Slots::empty(network_, slots, weights_.dtype, device, false);
  desk.arrivals = empty_arrivals(slots, length, device);
  desk.least = at::ones({slots}, at::TensorOptions(at::kInt).device(device));
  desk.told = at::zeros({slots, kToldFirst + length}, at::TensorOptions(at::kFloat).device(device));
  return desk;
}

void Solver::step(Desk& desk) const {
  auto next = desk.slots.refilled(weights_, desk.arrivals);
  const auto answer = network_.step(weights_, embed(next.puzzles), next.latents);
  next.count_step(answer, most_, options_.early ? desk.least : at::Tensor());
  desk.told.copy_(told_of(next.halted, next.steps, answer));
  const auto kept = desk.slots.named(), values = next.named();
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i].second.copy_(values[i].second);
}

/// Those who sit at it closer together, launched one by one: towards the end there are few.
Solver::Desk Solver::smaller_desk(const Desk& desk, const Seating& seating) const {
  std::vector<std::int64_t> taken;
  for (std::size_t i = 0; i < seating.puzzles.size(); ++i) {
    if (seating.puzzles[i] >= 0) taken.push_back(static_cast<std::int64_t>(i));
  }
  const auto rows = at::tensor(taken, at::kLong).to(desk.least.device());
  auto smaller = make_desk(static_cast<std::int64_t>(taken.size()));
  const auto kept = smaller.slots.named(), values = desk.slots.named();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i].second.copy_(values[i].second.index_select(0, rows));
  }
  smaller.arrivals = {
      desk.arrivals.inputs.index_select(0, rows), {}, desk.arrivals.ids.index_select(0, rows)};
  return smaller;
}

Solver::Desk& Solver::desk_for(std::int64_t count) {
  if (const auto size = std::min(options_.slots, count); !desk_ || desk_->size() != size) {
    desk_ = std::make_unique<Desk>(make_desk(size));
    if (options_.record) {
      desk_->recording = device::record(desk_->least.device(), [this] { step(*desk_); });
    }
  }
  desk_->slots.halted.fill_(true);  // also after a recording's rehearsals
  return *desk_;
}

bool Solver::solve_stepwise(std::int64_t count, const Puzzles& puzzles, const Take& take,
                            const Take& watch) {
  auto* desk = &desk_for(count);
  Desk small;
  Seating seating{std::vector<std::int64_t>(static_cast<std::size_t>(desk->size()), -1)};
  auto host = empty_arrivals(desk->size(), network_.config().seq_len, c10::kCPU);
  for (;;) {
    if (seating.seat(count, puzzles, host)) send(host, desk->arrivals);
    const auto seated = seating.seated();
    if (seated == 0) return true;
    if (!goes_on()) return false;
    if (2 * seated <= desk->size() && seating.next == count) {
      small = smaller_desk(*desk, seating);
      desk = &small;
      std::erase(seating.puzzles, -1);
    }
    desk->recording ? desk->recording->replay() : step(*desk);
    // Here the host waits.
    if (!seating.hand_on(desk->told.cpu(), take, watch)) return false;
  }
}

Solver::Bench Solver::make_bench(std::int64_t rows) const {
  const auto device = weights_.high_start.device();
  const auto length = network_.config().seq_len;
  return {empty_arrivals(rows, length, device),
          at::zeros({rows, kToldFirst + length}, at::TensorOptions(at::kFloat).device(device)),
          nullptr};
}

bool Solver::all_steps(Bench& bench, const std::function<bool()>& goes_on) const {
  const auto x = embed(bench.puzzles);
  auto latents = network_.start(weights_, bench.size());
  Answer answer;
  for (std::int64_t step = 0; step < most_; ++step) {
    if (goes_on && !goes_on()) return false;
    answer = network_.step(weights_, x, latents);
  }
  const auto steps = at::full({bench.size()}, static_cast<double>(most_), bench.told.options());
  bench.told.copy_(told_of(steps, steps, answer));
  return true;
}

Solver::Bench& Solver::bench_for(std::int64_t rows) {
  // A recording takes the last, smaller batch as well: what else stands there is not looked at.
  const bool serves =
      bench_ && (bench_->size() == rows || (bench_->recording != nullptr && bench_->size() > rows));
  if (serves) return *bench_;
  bench_ = std::make_unique<Bench>(make_bench(rows));
  if (options_.record) {
    bench_->recording = device::record(bench_->told.device(), [this] { all_steps(*bench_, {}); });
  }
  return *bench_;
}

bool Solver::solve_whole(std::int64_t count, const Puzzles& puzzles, const Take& take) {
  const auto length = network_.config().seq_len;
  for (std::int64_t first = 0; first < count; first += options_.slots) {
    const auto rows = std::min(options_.slots, count - first);
    auto& bench = bench_for(rows);
    auto host = empty_arrivals(bench.size(), length, c10::kCPU);
    for (std::int64_t row = 0; row < rows; ++row) place(host, row, first + row, puzzles);
    send(host, bench.puzzles);
    if (bench.recording) {
      if (!goes_on()) return false;
      bench.recording->replay();
    } else if (!all_steps(bench, options_.goes_on)) {
      return false;
    }
    const auto told = bench.told.cpu();
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto* values = told.const_data_ptr<float>() + row * told.size(1);
      if (!take(first + row, solved_of(values, length))) return false;
    }
  }
  return true;
}

bool Solver::solve(std::int64_t count, const Puzzles& puzzles, const Take& take,
                   const Take& watch) {
  const at::NoGradGuard no_gradients;
  const engine::Autocast plain(weights_.high_start.device().type(), {});
  return options_.early || watch ? solve_stepwise(count, puzzles, take, watch)
                                 : solve_whole(count, puzzles, take);
}

}  // namespace ubique::trm
