// SPDX-License-Identifier: Apache-2.0
// `ubique run toy`: filters samples and says how far off the network is.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "tests/house/models/toy/commands/commands.h"
#include "tests/house/models/toy/train/task.h"
#include "ubique/engine/session/session.h"
#include "ubique/engine/walk/open_model.h"

namespace ubique::toy {
namespace {

engine::Outcome run_toy(const engine::Request& request) {
  const auto count = request.config.get<std::int64_t>("count", 4);
  const auto opened = engine::open_model(request.model, "toy");
  auto& model = dynamic_cast<ToyModel&>(*opened);
  const auto session = engine::open_run_session(request, model.needs());
  model.network().to(session.torch_device());
  const at::NoGradGuard no_gradients;
  engine::Outcome outcome;
  outcome.json = json_document("toy_run", 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sample = make_sample(1000 + i);
    const auto output =
        model.toy().forward(sample.image.unsqueeze(0).to(session.torch_device())).cpu();
    const auto error = (output[0] - sample.filtered).abs().max().item<double>();
    outcome.text += fmt::format("sample {}: off by {:.1f} at most\n", i, error);
    outcome.json["errors"].push_back(error);
  }
  return outcome;
}

}  // namespace

engine::Command run_command() {
  return {.verb = "run",
          .summary = "filter noise",
          .needs_model = true,
          .options = {{"--count", "count", "N", "samples (4)"}},
          .run = run_toy};
}

}  // namespace ubique::toy
