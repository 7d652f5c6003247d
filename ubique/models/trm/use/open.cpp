// SPDX-License-Identifier: Apache-2.0
// Opening a TRM for inference, and the layout of its puzzles.
#include "ubique/models/trm/use/open.h"

#include <algorithm>
#include <cmath>

#include "ubique/data/puzzles/sudoku/sudoku.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

/// On a CPU larger batches are no faster.
constexpr std::int64_t kSlotsOnCpu = 32;

int side_of(std::int64_t cells) {
  const auto side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(cells))));
  return std::int64_t{side} * side == cells ? side : 0;
}

}  // namespace

std::unique_ptr<TrmModel> open_trm(const fs::path& path) {
  auto opened = engine::open_model(path, "trm");
  auto& model = dynamic_cast<TrmModel&>(*opened);
  (void)opened.release();
  return std::unique_ptr<TrmModel>(&model);
}

engine::Session open_model_session(TrmModel& model, const engine::Request& request) {
  auto session = engine::open_run_session(request, model.needs());
  model.network().to(session.torch_device());
  return session;
}

std::function<bool()> continue_until_stopped(const engine::Request& request) {
  if (!request.stop_requested) return {};
  return [stops = request.stop_requested] { return !stops(); };
}

SolverOptions solver_options(const plan::Plan& plan, std::int64_t count) {
  const bool on_cpu = plan.compute_threads.value > 0 && !plan.micro_batch_asked;
  SolverOptions options;
  options.slots = on_cpu ? std::min(plan.micro_batch.value, kSlotsOnCpu) : plan.micro_batch.value;
  options.slots = std::clamp<std::int64_t>(options.slots, 1, std::max<std::int64_t>(1, count));
  options.record = plan.graph_capture.value;
  return options;
}

data::PuzzleLayout layout_of(const TrmConfig& config) {
  const auto side = side_of(config.seq_len);
  if (config.kind == data::to_string(data::PuzzleKind::Sudoku) &&
      (side == 4 || side == 6 || side == 9)) {
    return data::layout_of(data::sudoku_shape(side));
  }
  const auto rows = config.rows > 0 ? static_cast<int>(config.rows) : side;
  const auto cols = config.cols > 0 ? static_cast<int>(config.cols) : side;
  for (const auto kind : {data::PuzzleKind::Maze, data::PuzzleKind::Arc}) {
    if (config.kind == data::to_string(kind)) return {kind, rows, cols};
  }
  return data::infer_layout(config.seq_len, config.vocab_size);
}

}  // namespace ubique::trm
