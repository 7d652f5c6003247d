// SPDX-License-Identifier: Apache-2.0
// Batches on the device, the assignment of puzzles to slots, and the two solving loops.
#include "ubique/models/trm/use/solver.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/step/autocast.h"

namespace ubique::trm {
namespace {

/// Columns of a row of results before its tokens: halted, steps so far, halting logit. One tensor,
/// so that the host synchronises once; f32 holds token ids below 2^24 exactly.
constexpr std::int64_t kResultHeader = 3;

at::Tensor results_of(const at::Tensor& halted, const at::Tensor& steps, const Answer& answer) {
  const auto column = [](const at::Tensor& values) { return values.to(at::kFloat).unsqueeze(1); };
  return at::cat({column(halted), column(steps), column(answer.halt.select(1, 0)),
                  answer.logits.argmax(-1).to(at::kFloat)},
                 1);  // (B, 3 + S)
}

Solved solved_of(const float* results, std::int64_t length) {
  Solved solved;
  solved.steps = static_cast<std::int64_t>(results[1]);
  solved.halt = results[2];
  const auto* tokens = results + kResultHeader;
  std::transform(tokens, tokens + length, std::back_inserter(solved.tokens),
                 [](float token) { return static_cast<std::int32_t>(token); });
  return solved;
}

/// Zeroed puzzles without labels.
PuzzleBatch empty_puzzles(std::int64_t rows, std::int64_t length, c10::Device device) {
  const auto numbers = at::TensorOptions(at::kInt).device(device);
  return {at::zeros({rows, length}, numbers), {}, at::zeros({rows}, numbers)};
}

void write_puzzle(PuzzleBatch& incoming, std::int64_t row, std::int64_t puzzle,
                  const Solver::Puzzles& puzzles) {
  const auto length = incoming.inputs.size(1);
  auto* tokens = incoming.inputs.mutable_data_ptr<std::int32_t>() + row * length;
  incoming.ids.mutable_data_ptr<std::int32_t>()[row] =
      puzzles(puzzle, {tokens, static_cast<std::size_t>(length)});
}

void copy_puzzles(const PuzzleBatch& from, PuzzleBatch& to) {
  to.inputs.copy_(from.inputs);
  to.ids.copy_(from.ids);
}

}  // namespace

struct Solver::SlotBatch {
  Slots slots;
  PuzzleBatch incoming;
  at::Tensor min_steps;  // (B) i32, all 1: a puzzle may halt after its first step
  at::Tensor results;    // (B, 3 + S) f32
  std::unique_ptr<device::Recording> recording;

  std::int64_t size() const { return min_steps.size(0); }
};

struct Solver::FixedBatch {
  PuzzleBatch puzzles;
  at::Tensor results;  // (B, 3 + S) f32
  std::unique_ptr<device::Recording> recording;

  std::int64_t size() const { return results.size(0); }
};

struct Solver::SlotAssignment {
  std::vector<std::int64_t> puzzles;  // in each slot; -1 = empty
  std::int64_t next = 0;              // the next puzzle to assign

  std::int64_t assigned() const {
    return std::ranges::count_if(puzzles, [](std::int64_t puzzle) { return puzzle >= 0; });
  }

  /// Assigns the next puzzles to empty slots; true if there were any.
  bool assign(std::int64_t count, const Puzzles& source, PuzzleBatch& host) {
    const auto before = next;
    for (std::size_t slot = 0; slot < puzzles.size() && next < count; ++slot) {
      if (puzzles[slot] >= 0) continue;
      puzzles[slot] = next++;
      write_puzzle(host, static_cast<std::int64_t>(slot), puzzles[slot], source);
    }
    return next > before;
  }

  /// Passes the answers of a step to the callbacks and frees halted slots; false if one returns
  /// false.
  bool deliver(const at::Tensor& results, const Take& take, const Take& watch) {
    const auto width = results.size(1);
    const auto* row = results.const_data_ptr<float>();
    for (std::size_t slot = 0; slot < puzzles.size(); ++slot, row += width) {
      const bool done = row[0] > 0;
      if (puzzles[slot] < 0 || !(done || watch)) continue;
      const auto solved = solved_of(row, width - kResultHeader);
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
        "[trm.solve] a chat model solves no puzzles; got {}, expected one trained on "
        "puzzles. `ubique run trm --chat` chats with it.",
        config.name());
  check(options_.slots >= 1 && options_.steps >= 0, ErrorKind::Usage,
        "[trm.solve] got {} puzzles at once and {} steps, expected at least 1 and 0 (as trained).",
        options_.slots, options_.steps);
  most_ = options_.steps > 0 ? options_.steps : config.halt_max_steps;
  const at::NoGradGuard no_gradients;
  weights_ = network_.cast(dtype);
}

Solver::~Solver() = default;

at::Tensor Solver::embed(const PuzzleBatch& puzzles) const {
  return network_.embed(weights_, puzzles.inputs, network_.puzzle_rows(puzzles.ids));  // (B, L, H)
}

Solver::SlotBatch Solver::make_slot_batch(std::int64_t slots) const {
  const auto device = weights_.high_start.device();
  const auto length = network_.config().seq_len;
  SlotBatch batch;
  batch.slots = Slots::empty(network_, slots, weights_.dtype, device, false);
  batch.incoming = empty_puzzles(slots, length, device);
  batch.min_steps = at::ones({slots}, at::TensorOptions(at::kInt).device(device));
  batch.results =
      at::zeros({slots, kResultHeader + length}, at::TensorOptions(at::kFloat).device(device));
  return batch;
}

void Solver::step(SlotBatch& batch) const {
  auto next = batch.slots.refilled(weights_, batch.incoming);
  const auto answer = network_.step(weights_, embed(next.puzzles), next.latents);
  next.count_step(answer, most_, options_.early ? batch.min_steps : at::Tensor());
  batch.results.copy_(results_of(next.halted, next.steps, answer));
  const auto kept = batch.slots.named(), values = next.named();
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i].second.copy_(values[i].second);
}

/// The slots still in use as a smaller batch, without a recording: at the end few puzzles are left.
Solver::SlotBatch Solver::compacted(const SlotBatch& batch,
                                    const SlotAssignment& assignment) const {
  std::vector<std::int64_t> taken;
  for (std::size_t i = 0; i < assignment.puzzles.size(); ++i) {
    if (assignment.puzzles[i] >= 0) taken.push_back(static_cast<std::int64_t>(i));
  }
  const auto rows = at::tensor(taken, at::kLong).to(batch.min_steps.device());
  auto smaller = make_slot_batch(static_cast<std::int64_t>(taken.size()));
  const auto kept = smaller.slots.named(), values = batch.slots.named();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i].second.copy_(values[i].second.index_select(0, rows));
  }
  smaller.incoming = {
      batch.incoming.inputs.index_select(0, rows), {}, batch.incoming.ids.index_select(0, rows)};
  return smaller;
}

Solver::SlotBatch& Solver::slot_batch_for(std::int64_t count) {
  if (const auto size = std::min(options_.slots, count);
      !slot_batch_ || slot_batch_->size() != size) {
    slot_batch_ = std::make_unique<SlotBatch>(make_slot_batch(size));
    if (options_.record) {
      slot_batch_->recording =
          device::record(slot_batch_->min_steps.device(), "a step of TRM over puzzles that halt",
                         [this] { step(*slot_batch_); });
    }
  }
  slot_batch_->slots.halted.fill_(true);  // recording runs steps as well
  return *slot_batch_;
}

bool Solver::solve_stepwise(std::int64_t count, const Puzzles& puzzles, const Take& take,
                            const Take& watch) {
  auto* batch = &slot_batch_for(count);
  SlotBatch small;
  SlotAssignment assignment{std::vector<std::int64_t>(static_cast<std::size_t>(batch->size()), -1)};
  auto host = empty_puzzles(batch->size(), network_.config().seq_len, c10::kCPU);
  for (;;) {
    if (assignment.assign(count, puzzles, host)) copy_puzzles(host, batch->incoming);
    const auto assigned = assignment.assigned();
    if (assigned == 0) return true;
    if (!should_continue()) return false;
    if (2 * assigned <= batch->size() && assignment.next == count) {
      small = compacted(*batch, assignment);
      batch = &small;
      std::erase(assignment.puzzles, -1);
    }
    threads_.run([&] { batch->recording ? batch->recording->replay() : step(*batch); });
    // cpu() is the only host synchronisation of a step.
    if (!assignment.deliver(batch->results.cpu(), take, watch)) return false;
  }
}

Solver::FixedBatch Solver::make_fixed_batch(std::int64_t rows) const {
  const auto device = weights_.high_start.device();
  const auto length = network_.config().seq_len;
  return {empty_puzzles(rows, length, device),
          at::zeros({rows, kResultHeader + length}, at::TensorOptions(at::kFloat).device(device)),
          nullptr};
}

bool Solver::all_steps(FixedBatch& batch, const std::function<bool()>& should_continue) {
  const auto x = embed(batch.puzzles);
  auto latents = network_.start(weights_, batch.size());
  Answer answer;
  for (std::int64_t step = 0; step < most_; ++step) {
    if (should_continue && !should_continue()) return false;
    answer = threads_.run([&] { return network_.step(weights_, x, latents); });
  }
  const auto steps = at::full({batch.size()}, static_cast<double>(most_), batch.results.options());
  batch.results.copy_(results_of(steps, steps, answer));
  return true;
}

Solver::FixedBatch& Solver::fixed_batch_for(std::int64_t rows) {
  // A recorded batch also serves the last, smaller one: its other rows are ignored.
  const bool fits =
      fixed_batch_ && (fixed_batch_->size() == rows ||
                       (fixed_batch_->recording != nullptr && fixed_batch_->size() > rows));
  if (fits) return *fixed_batch_;
  fixed_batch_ = std::make_unique<FixedBatch>(make_fixed_batch(rows));
  if (options_.record) {
    fixed_batch_->recording = device::record(fixed_batch_->results.device(), "all steps of TRM",
                                             [this] { all_steps(*fixed_batch_, {}); });
  }
  return *fixed_batch_;
}

bool Solver::solve_whole(std::int64_t count, const Puzzles& puzzles, const Take& take) {
  const auto length = network_.config().seq_len;
  for (std::int64_t first = 0; first < count; first += options_.slots) {
    const auto rows = std::min(options_.slots, count - first);
    auto& batch = fixed_batch_for(rows);
    auto host = empty_puzzles(batch.size(), length, c10::kCPU);
    for (std::int64_t row = 0; row < rows; ++row) write_puzzle(host, row, first + row, puzzles);
    copy_puzzles(host, batch.puzzles);
    if (batch.recording) {
      if (!should_continue()) return false;
      batch.recording->replay();
    } else if (!all_steps(batch, options_.should_continue)) {
      return false;
    }
    const auto results = batch.results.cpu();
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto* values = results.const_data_ptr<float>() + row * results.size(1);
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
