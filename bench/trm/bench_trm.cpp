// SPDX-License-Identifier: Apache-2.0
// Raw network steps on a device, recorded.
//   bench_trm DEVICE train|run sudoku_mlp|sudoku_att|maze_att BATCH [ROUNDS] [PIECES]
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "bench/measure.h"
#include "ubique/device/recording.h"
#include "ubique/device/select.h"
#include "ubique/models/trm/loss.h"
#include "ubique/models/trm/network.h"

namespace {
using namespace ubique;

trm::TrmConfig config_of(const std::string& name) {
  trm::TrmConfig config;
  if (name == "sudoku_mlp") {
    config.mlp_t = true;
    config.positions = trm::Positions::None;
  }
  if (name == "maze_att") {
    config.seq_len = 900;
    config.vocab_size = 6;
    config.low_cycles = 4;
  }
  return config;
}

int run(const std::string& where, const std::string& mode, const std::string& name,
        std::int64_t batch, int rounds, int pieces) {
  const auto device = device::select(device::parse_request(where)).torch_device;
  const auto dtype = std::getenv("F32") ? at::kFloat : at::kBFloat16;
  trm::Trm network(config_of(name));
  trm::initialize(network, Random(1));
  network.to(device);
  if (std::getenv("WIDE")) network.keep(kernels::Kept::Wide, kernels::Kept::Wide);
  if (std::getenv("NARROW")) network.keep(kernels::Kept::Narrow, kernels::Kept::Narrow);
  const auto& config = network.config();
  const auto ints = at::TensorOptions(at::kInt).device(device);
  auto inputs = at::randint(0, config.vocab_size, {batch, config.seq_len}, ints);
  auto labels = at::randint(0, config.vocab_size, {batch, config.seq_len}, ints);
  auto rows = at::zeros({batch, config.puzzle_emb_ndim}, at::TensorOptions(at::kFloat).device(device));
  at::Tensor loss;
  device::reset_peak(device);
  auto held = network.start(network.cast(dtype), batch);
  const auto work = [&] {
    if (mode == "train") {
      network.zero_grad();
      auto leaf = rows.detach().set_requires_grad(true);
      const auto weights = network.cast(dtype);
      auto latents = trm::Latents{held.high, held.low};
      const auto answer = network.step(weights, network.embed(weights, inputs, leaf), latents);
      loss = trm::judge(answer, labels, config.loss).total() / batch;
      loss.backward();
      held.high.copy_(latents.high);
      held.low.copy_(latents.low);
    } else {
      const c10::NoGradGuard no_gradients;
      const auto weights = network.cast(dtype);
      const auto x = network.embed(weights, inputs, rows);
      auto latents = network.start(weights, batch);
      for (int i = 0; i < config.halt_max_steps; ++i) {
        const auto answer = network.step(weights, x, latents);
        loss = answer.logits.argmax(-1);
      }
    }
  };
  std::unique_ptr<device::Recording> recording;
  if (!std::getenv("EAGER")) recording = device::record(device, work);
  if (std::getenv("TRACE")) {
    namespace tp = torch::profiler::impl;
    std::set<tp::ActivityType> acts{tp::ActivityType::CUDA, tp::ActivityType::CPU};
    tp::ProfilerConfig cfg(tp::ProfilerState::KINETO, false, false, false, false, false);
    torch::autograd::profiler::prepareProfiler(cfg, acts);
    torch::autograd::profiler::enableProfiler(cfg, acts);
    for (int i = 0; i < 2; ++i) recording ? recording->replay() : work();
    device::synchronize(device);
    auto r = torch::autograd::profiler::disableProfiler();
    r->save(std::getenv("TRACE"));
  }
  const auto measured = bench::measure(
      [&] { recording ? recording->replay() : work(); }, device, rounds, pieces);
  fmt::print("{} {} {} recorded {} best {:.2f} median {:.2f} ms, {:.2f} GiB\n", mode, name, batch,
             recording != nullptr, measured.best_ms, measured.ms,
             static_cast<double>(measured.peak) / (1 << 30));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  try {
    return run(argv[1], argv[2], argv[3], std::atoll(argv[4]), argc > 5 ? std::atoi(argv[5]) : 5,
               argc > 6 ? std::atoi(argv[6]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_trm: %s\n", error.what());
    return 1;
  }
}
