// SPDX-License-Identifier: Apache-2.0
// Adapters are merged, weights quantised and moved, in that order.
#include "ubique/models/codelm/use/place.h"

#include <ATen/ATen.h>

#include <utility>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/kernels/quant/quantized_linear.h"
#include "ubique/models/codelm/files/adapter_files.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::codelm {

std::vector<engine::Option> use_options() {
  return engine::in_group(
      engine::kModelGroup,
      {{"--adapter", "adapter", "PATH", "LoRA adapter of PEFT or mlx-lm"},
       {"--weights", "weights", "FORM", "int8, int4 or nf4: smaller and faster, less exact"},
       {"--tokenizer", "tokenizer", "PATH", "if it does not lie with the model"}});
}

UseSettings read_use_settings(const Config& config) {
  UseSettings settings;
  settings.adapter = config.get("adapter", std::string());
  settings.tokenizer = config.get("tokenizer", std::string());
  settings.weights = config.get("weights", std::string());
  check(settings.weights.empty() || kernels::parse_quant_format(settings.weights).has_value(),
        ErrorKind::Usage, "[codelm.run] unknown --weights; got '{}', expected int8, int4 or nf4.",
        printable(settings.weights));
  return settings;
}

std::unique_ptr<CodelmModel> open_for_use(const engine::Request& request,
                                          const UseSettings& settings) {
  const auto path = engine::model_path(request.model);
  auto model = open_codelm(path);
  if (!settings.adapter.empty()) read_adapter(*model, settings.adapter, path);
  return model;
}

PassOptions place_for_use(CodelmModel& model, const UseSettings& settings,
                          engine::Session& session) {
  session.start(model.needs());
  model.merge_adapters();
  auto& network = model.codelm();
  auto dtype = probe::to_torch(session.plan().dtype.value);
  if (const auto format = kernels::parse_quant_format(settings.weights)) {
    const auto planned =
        std::exchange(dtype, kernels::quantized_dtype(session.torch_device(), dtype));
    if (dtype != planned) {
      log::info("--weights {}: here its products take f32, so everything else is computed in f32",
                settings.weights);
    }
    network.quantize(*format, /*double_quantized=*/false,
                     /*with_head=*/*format != kernels::QuantFormat::Nf4);
  }
  network.to(session.torch_device(), dtype);
  network.move_quantized(session.torch_device());
  network.refresh();
  network.eval();
  return {.explicit_mask = session.plan().attention.value == plan::Attention::ExplicitMask};
}

}  // namespace ubique::codelm
