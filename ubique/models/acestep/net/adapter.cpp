// SPDX-License-Identifier: Apache-2.0
// Options as JSON, and adapters of the transformer.
#include "ubique/models/acestep/net/adapter.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"

namespace ubique::acestep {

Json to_json(const AdapterOptions& options) {
  return {{"rank", options.rank},
          {"alpha", options.alpha},
          {"rank_stabilized", options.rank_stabilized},
          {"dropout", options.dropout},
          {"targets", options.targets}};
}

AdapterOptions parse_adapter_options(const Json& json, const std::string& where) {
  JsonFields fields(json, "acestep.adapter", where);
  AdapterOptions options;
  fields.take("rank", options.rank);
  fields.take("alpha", options.alpha);
  fields.take("rank_stabilized", options.rank_stabilized);
  fields.take("dropout", options.dropout);
  fields.take("targets", options.targets);
  fields.finish();
  try {
    validate(options);
  } catch (const Error& error) {
    fail(ErrorKind::Input, "[acestep.adapter] {}: {}", where, error.what());
  }
  return options;
}

void validate(const AdapterOptions& options) {
  constexpr std::int64_t kLargestRank = 4096;
  nn::validate(
      nn::LoraOptions{.rank = options.rank, .alpha = options.alpha, .dropout = options.dropout});
  check(options.rank <= kLargestRank, ErrorKind::Usage,
        "[acestep.adapter] rank is out of range; got {}, expected at most {}.", options.rank,
        kLargestRank);
  check(!options.targets.empty(), ErrorKind::Usage,
        "[acestep.adapter] no layer is adapted; expected targets such as to_q.");
}

std::unique_ptr<nn::LoraModule> make_adapter(Dit& dit, const AdapterOptions& options,
                                             bool attached) {
  return std::make_unique<nn::LoraModule>(dit, nn::LoraModuleOptions{.rank = options.rank,
                                                                     .scale = options.scale(),
                                                                     .dropout = options.dropout,
                                                                     .targets = options.targets,
                                                                     .attached = attached});
}

nn::NamedShapes adapter_shapes(const DitConfig& config, const AdapterOptions& options) {
  Dit dit(config, at::TensorOptions(at::kMeta));
  const auto adapter = make_adapter(dit, options);
  nn::NamedShapes shapes;
  for (const auto& item : adapter->named_parameters()) {
    shapes.emplace_back(item.key(), item.value().sizes().vec());
  }
  return shapes;
}

}  // namespace ubique::acestep
