// SPDX-License-Identifier: Apache-2.0
// Checkpoints with and without adapters.
#include "ubique/models/codelm/files/open.h"

#include <ATen/ATen.h>

#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/walk/chat.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/models/codelm/files/adapter_files.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/net/config_fields.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "the checkpoint";

std::unique_ptr<CodelmModel> cast_model(std::unique_ptr<engine::Model> model) {
  auto* codelm = dynamic_cast<CodelmModel*>(model.get());
  check(codelm != nullptr, ErrorKind::Internal, "[codelm.open] the model is of another family.");
  (void)model.release();
  return std::unique_ptr<CodelmModel>(codelm);
}

std::unique_ptr<CodelmModel> open_base(const std::string& base, const CodelmConfig& config) {
  std::error_code ignored;
  check(!base.empty() && fs::exists(base, ignored), ErrorKind::Input,
        "[codelm.open] the adapter's base model is missing; expected it in {}. --base names where "
        "it is now.",
        base.empty() ? "the folder that the checkpoint should name" : base);
  auto model = open_codelm(base);
  const auto have = parameter_shapes(model->settings()), want = parameter_shapes(config);
  check(have == want, ErrorKind::Input,
        "[codelm.open] the base in {} is another model than the adapter's; got a {}, expected a "
        "{}.",
        base, model->settings().name(), config.name());
  return model;
}

/// Numbers that adapters of a rank have for all linear layers, at most.
std::int64_t adapter_numbers(Codelm& network, const AdapterOptions& options) {
  std::int64_t numbers = 0;
  for (const auto& layer : target_layers(network.config(), options.targets)) {
    for (const auto& [name, weights] : network.linear_layers()) {
      if (name == layer)
        numbers += options.rank * (weights->weight.size(0) + weights->weight.size(1));
    }
  }
  return numbers;
}

}  // namespace

std::unique_ptr<CodelmModel> build_model(const Json& config, const engine::NamedTensors& weights) {
  const std::string where = kCheckpoint;
  const ConfigFields fields(config, where);
  const auto found = config.find("model");
  check(found != config.end(), ErrorKind::Input, "[codelm.open] {} has no model in its header.",
        where);
  const auto settings = parse_config(*found, where);
  if (!fields.has("adapter")) {
    engine::check_shapes(weights, parameter_shapes(settings), where);
    return std::make_unique<CodelmModel>(std::make_shared<Codelm>(settings));
  }
  const auto base = fields.text("base", "");
  const auto options = adapter_options(config.at("adapter"), where);
  auto model = open_base(base, settings);
  engine::check_stored_size(adapter_numbers(model->codelm(), options), weights, where);
  model->add_adapters(options, base);
  return model;
}

fs::path tokenizer_of(const CodelmModel& model, const std::string& given) {
  return engine::find_tokenizer(model.origin(), given);
}

std::unique_ptr<CodelmModel> open_codelm(const fs::path& path) {
  if (!looks_like_adapter(path)) return cast_model(engine::open_model(path, "codelm"));
  const auto where = (path / "adapter_config.json").string();
  const auto json = parse_json(read_file(path / "adapter_config.json"), where);
  const ConfigFields fields(json, where);
  const auto named = fields.text("base_model_name_or_path", fields.text("model", ""));
  const auto beside = path / named;
  std::error_code ignored;
  const auto base = fs::exists(beside, ignored) ? beside : fs::path(named);
  check(!named.empty() && fs::exists(base, ignored), ErrorKind::Input,
        "[codelm.open] {} is an adapter for '{}', which is not here; expected the folder of its "
        "base model. Give --model BASE --adapter {}.",
        path.string(), named, path.string());
  auto model = open_codelm(base);
  read_adapter(*model, path, base);  // the base has the tokenizer
  return model;
}

}  // namespace ubique::codelm
