// SPDX-License-Identifier: Apache-2.0
// Times whole updates and whole inferences of MeshNet through the same code that train and run use:
// the family's plan, the engine's learner, the segmenter. One JSON line per case.
//   bench_meshnet DEVICE train|run CHANNELS SIZE [REPEATS] [MEMORY] [DTYPE]
// PROFILE=1 and TRACE=FILE.json: see measure.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/updates.h"
#include "ubique/base/text/text.h"
#include "ubique/models/meshnet/net/needs.h"
#include "ubique/models/meshnet/train/task.h"
#include "ubique/models/meshnet/use/scan_segmenter.h"
#include "ubique/plan/report.h"

namespace {

using namespace ubique;
using bench::measure, bench::Measured;

struct Case {
  std::string device, mode;
  std::int64_t channels = 5, size = 64;
  int repeats = 5;
  std::string memory, dtype;
};

meshnet::MeshNetConfig network_of(const Case& wanted) {
  meshnet::MeshNetConfig config;
  config.channels = wanted.channels;
  config.preprocessing.shape = {wanted.size, wanted.size, wanted.size};
  return config;
}

engine::Session session_of(const Case& wanted, const plan::Needs& needs) {
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = wanted.mode == "train" ? plan::Mode::Train : plan::Mode::Run;
  if (!wanted.memory.empty()) wishes.memory = parse_bytes(wanted.memory).value();
  if (!wanted.dtype.empty()) wishes.dtype = parse_dtype(wanted.dtype);
  return engine::Session(needs, wishes);
}

/// A volume of noise with a block of lesion.
engine::Batch noise_batch(const meshnet::MeshNetConfig& config) {
  const auto size = config.preprocessing.shape[0];
  auto image = at::empty({1, 1, size, size, size}, at::kFloat);
  Random(7).fill_uniform(
      {image.mutable_data_ptr<float>(), static_cast<std::size_t>(image.numel())});
  auto mask = at::zeros({1, size, size, size}, at::kByte);
  mask.slice(1, 0, size / 4).fill_(1);
  engine::Batch batch;
  batch.samples = 1;
  batch.weight = meshnet::class_weight_sum(mask, {});
  batch.tensors = {{"image", image}, {"mask", mask}};
  return batch;
}

Measured time_training(const Case& wanted, const engine::Session& session,
                       const meshnet::MeshNetConfig& config) {
  bench::UpdateTask<meshnet::MeshNetModel> task(config, meshnet::paper_recipe());
  return bench::time_updates(task, session, noise_batch(config), wanted.repeats);
}

Measured time_inference(const Case& wanted, const engine::Session& session,
                        const meshnet::MeshNetConfig& config) {
  const auto device = session.torch_device();
  meshnet::MeshNetModel model(config);
  model.initialize(Random(1));
  const auto image = noise_batch(config).tensors.at("image").to(device);
  device::reset_peak(device);
  meshnet::Segmenter segmenter(model.file(), meshnet::segmenter_options(session.plan(), device));
  return measure([&] { segmenter.labels(image); }, device, wanted.repeats);
}

int run(const Case& wanted) {
  const auto config = network_of(wanted);
  const auto needs = meshnet::needs_of(config, config.preprocessing.shape);
  const auto session = session_of(wanted, needs);
  const auto measured = wanted.mode == "train" ? time_training(wanted, session, config)
                                               : time_inference(wanted, session, config);
  const auto& plan = session.plan();
  Json line = {{"program", "ubique"},
               {"device", session.facts().label()},
               {"mode", wanted.mode},
               {"channels", wanted.channels},
               {"size", wanted.size},
               {"dtype", to_string(plan.dtype.value)},
               {"layout", to_string(plan.memory_format.value)},
               {"padded", plan.pad_channels.value},
               {"segments", plan.segments},
               {"median_ms", measured.ms},
               {"predicted_bytes", plan.memory.total},
               {"measured_bytes", measured.peak},
               {"warm_bytes", measured.warm_peak},
               {"ratio", static_cast<double>(plan.memory.total) /
                             static_cast<double>(std::max<std::int64_t>(1, measured.peak))}};
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("bench_meshnet DEVICE train|run CHANNELS SIZE [REPEATS] [MEMORY] [DTYPE]\n", stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]), 5, {}, {}};
  if (argc > 5) wanted.repeats = std::atoi(argv[5]);
  if (argc > 6) wanted.memory = argv[6];
  if (argc > 7) wanted.dtype = argv[7];
  try {
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_meshnet: %s\n", error.what());
    return 1;
  }
}
