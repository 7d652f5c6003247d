// SPDX-License-Identifier: Apache-2.0
// Times MSI-Net at 240x320 through the same code that train and run use: the family's plan, the
// engine's learner, the predictor. Times the network alone: pictures and maps stay on the device.
// One JSON line per case.
//   bench_msinet DEVICE train|run BATCH [ROUNDS] [DTYPE] [PIECES]
// PIECES calls are timed between two synchronisations. PROFILE=1 and TRACE=FILE.json: see
// measure.h.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdio>

#include "bench/updates.h"
#include "ubique/models/msinet/train/task.h"
#include "ubique/models/msinet/use/predictor.h"
#include "ubique/plan/report.h"

namespace {

using namespace ubique;
using bench::measure, bench::Measured;

struct Case {
  std::string device, mode;
  std::int64_t batch = 1;
  int rounds = 5, pieces = 1;
  std::string dtype;
};

engine::Session session_of(const Case& wanted, const plan::Needs& needs) {
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = wanted.mode == "train" ? plan::Mode::Train : plan::Mode::Run;
  wishes.batch = wanted.batch;
  if (!wanted.dtype.empty()) wishes.dtype = parse_dtype(wanted.dtype);
  return engine::Session(needs, wishes);
}

/// Pictures and maps of noise.
engine::Batch noise_batch(const msinet::MsiNetConfig& config, std::int64_t count) {
  const auto noise = [&](at::IntArrayRef sizes) {
    auto values = at::empty(sizes, at::kFloat);
    Random(7).fill_uniform(
        {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    return values.mul_(255).to(at::kByte);
  };
  engine::Batch batch;
  batch.samples = count;
  batch.weight = static_cast<double>(count);
  batch.tensors = {{"image", noise({count, 3, config.size[0], config.size[1]})},
                   {"map", noise({count, config.size[0], config.size[1]})}};
  return batch;
}

Measured time_training(const Case& wanted, const engine::Session& session,
                       const msinet::MsiNetConfig& config) {
  bench::UpdateTask<msinet::MsiNetModel> task(config, msinet::original_recipe());
  return bench::time_updates(task, session, noise_batch(config, wanted.batch), wanted.rounds,
                             wanted.pieces);
}

Measured time_inference(const Case& wanted, const engine::Session& session,
                        const msinet::MsiNetConfig& config) {
  const auto device = session.torch_device();
  msinet::MsiNetModel model(config);
  model.initialize(Random(1));
  const auto images = noise_batch(config, wanted.batch).tensors.at("image").to(device);
  device::reset_peak(device);
  msinet::Predictor predictor(model.file(), session.plan(), device);
  return measure([&] { predictor.maps_on_device(images); }, device, wanted.rounds, wanted.pieces);
}

int run(const Case& wanted) {
  const msinet::MsiNetConfig config;
  const auto session = session_of(wanted, msinet::needs_of(config, config.size));
  const auto measured = wanted.mode == "train" ? time_training(wanted, session, config)
                                               : time_inference(wanted, session, config);
  const auto& plan = session.plan();
  const Json line = {{"program", "ubique"},
                     {"device", session.facts().label()},
                     {"mode", wanted.mode},
                     {"batch", wanted.batch},
                     {"dtype", to_string(plan.dtype.value)},
                     {"layout", to_string(plan.memory_format.value)},
                     {"median_ms", measured.ms},
                     {"best_ms", measured.best_ms},
                     {"predicted_bytes", plan.memory.total},
                     {"measured_bytes", measured.peak}};
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("bench_msinet DEVICE train|run BATCH [ROUNDS] [DTYPE] [PIECES]\n", stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], std::atoll(argv[3]), 5, 1, {}};
  if (argc > 4) wanted.rounds = std::atoi(argv[4]);
  if (argc > 5) wanted.dtype = argv[5];
  if (argc > 6) wanted.pieces = std::atoi(argv[6]);
  try {
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_msinet: %s\n", error.what());
    return 1;
  }
}
