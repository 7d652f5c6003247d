// SPDX-License-Identifier: Apache-2.0
// Settings and names of both forms.
#include "ubique/models/codelm/files/adapter_files.h"

#include <ATen/ATen.h>

#include <set>

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/codelm/net/config_fields.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr const char* kPeftWeights = "adapter_model.safetensors";
constexpr const char* kMlxWeights = "adapters.safetensors";

bool has_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

AdapterOptions peft_options(const ConfigFields& fields, const Json& json) {
  check(fields.text("peft_type", "LORA") == "LORA", ErrorKind::Input,
        "[codelm.adapter] {}: peft_type is '{}', expected LORA.", fields.where(),
        printable(fields.text("peft_type", "")));
  const bool plain = !fields.flag("use_dora", false) && !fields.flag("fan_in_fan_out", false) &&
                     fields.text("bias", "none") == "none";
  check(plain, ErrorKind::Input,
        "[codelm.adapter] {}: DoRA, fan_in_fan_out and trained biases are not supported.",
        fields.where());
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save"}) {
    const auto found = json.find(key);
    check(found == json.end() || found->empty(), ErrorKind::Input,
          "[codelm.adapter] {}: {} is not supported; expected none.", fields.where(), key);
  }
  AdapterOptions options;
  options.rank = fields.size("r", 8);
  options.alpha = fields.number("lora_alpha", 8);
  options.dropout = fields.number("lora_dropout", 0);
  options.rank_stabilized = fields.flag("use_rslora", false);
  const auto targets = json.find("target_modules");
  const bool one = targets != json.end() && targets->is_string();
  options.targets = one ? std::vector{targets->get<std::string>()} : fields.words("target_modules");
  return options;
}

AdapterOptions mlx_options(const ConfigFields& fields) {
  check(fields.text("fine_tune_type", "lora") == "lora", ErrorKind::Input,
        "[codelm.adapter] {}: fine_tune_type is '{}', expected lora.", fields.where(),
        printable(fields.text("fine_tune_type", "")));
  const auto lora = fields.section("lora_parameters");
  AdapterOptions options;
  options.rank = lora.size("rank", 8);
  options.alpha = lora.number("scale", 20) * static_cast<double>(options.rank);
  options.dropout = lora.number("dropout", 0);
  options.targets = lora.words("keys");
  return options;
}

/// "X.lora_a" of mlx-lm as PEFT's "base_model.model.X.lora_A.weight".
std::string peft_name(const std::string& name) {
  if (name.ends_with(".lora_a")) return kPeftPrefix + name.substr(0, name.size() - 1) + "A.weight";
  if (name.ends_with(".lora_b")) return kPeftPrefix + name.substr(0, name.size() - 1) + "B.weight";
  return name;
}

std::string mlx_name(const std::string& name) {
  auto plain = name.substr(std::string_view(kPeftPrefix).size());
  plain.resize(plain.size() - std::string_view("A.weight").size());
  return plain + (name.ends_with("A.weight") ? "a" : "b");
}

engine::NamedTensors read_adapter_tensors(const fs::path& path, bool mlx) {
  const io::SafetensorsFile file(path);
  engine::NamedTensors tensors;
  for (const auto& info : file.tensors()) {
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file.read(info, engine::writable_bytes_of(tensor));
    check(tensor.dim() == 2, ErrorKind::Input,
          "[codelm.adapter] {}: the tensor {} has {} dimensions, expected 2.", path.string(),
          printable(info.name), tensor.dim());
    tensors.emplace_back(mlx ? peft_name(info.name) : info.name,
                         mlx ? tensor.t().contiguous() : tensor);
  }
  return tensors;
}

Json peft_config(const CodelmModel& model, const AdapterOptions& options) {
  return {{"peft_type", "LORA"},
          {"task_type", "CAUSAL_LM"},
          {"base_model_name_or_path", model.config().value("base", "")},
          {"r", options.rank},
          {"lora_alpha", options.alpha},
          {"lora_dropout", options.dropout},
          {"target_modules", options.targets},
          {"bias", "none"},
          {"fan_in_fan_out", false},
          {"inference_mode", true},
          {"init_lora_weights", true},
          {"modules_to_save", nullptr},
          {"rank_pattern", Json::object()},
          {"alpha_pattern", Json::object()},
          {"use_rslora", options.rank_stabilized},
          {"use_dora", false},
          {"layers_to_transform", nullptr}};
}

/// mlx-lm names layers within a block: "attn.c_attn".
Json mlx_config(CodelmModel& model, const AdapterOptions& options) {
  std::set<std::string> keys;
  const auto names = tensor_names(model.settings());
  for (const auto& layer : target_layers(model.settings(), options.targets)) {
    const auto number_end = layer.find('.', names.layer.size());
    keys.insert(layer.substr(number_end + 1));
  }
  return {{"fine_tune_type", "lora"},
          {"model", model.config().value("base", "")},
          {"num_layers", model.settings().layers},
          {"lora_parameters",
           {{"rank", options.rank},
            {"scale", options.scale()},
            {"dropout", options.dropout},
            {"keys", keys}}}};
}

void write_adapter_folder(CodelmModel& model, const fs::path& folder, AdapterForm form) {
  const bool mlx = form == AdapterForm::Mlx;
  fs::create_directories(folder);
  engine::NamedTensors tensors;
  for (const auto& [name, tensor] : engine::state_dict(*model.adapters())) {
    const auto value = tensor.detach().to(at::kFloat);
    tensors.emplace_back(mlx ? mlx_name(name) : name,
                         engine::to_host(mlx ? value.t().contiguous() : value));
  }
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  io::write_safetensors(folder / (mlx ? kMlxWeights : kPeftWeights), data, {{"format", "pt"}});
  const auto& options = model.adapter_options();
  const auto config = mlx ? mlx_config(model, options) : peft_config(model, options);
  write_file(folder / kAdapterConfig, json_text(config, 2) + "\n");
}

}  // namespace

bool looks_like_adapter(const fs::path& path) {
  return has_file(path, kAdapterConfig) &&
         (has_file(path, kPeftWeights) || has_file(path, kMlxWeights));
}

void read_adapter(CodelmModel& model, const fs::path& folder, const fs::path& base) {
  check(looks_like_adapter(folder), ErrorKind::Input,
        "[codelm.adapter] {} holds no adapter; expected {} with {} (PEFT) or {} (mlx-lm).",
        folder.string(), kAdapterConfig, kPeftWeights, kMlxWeights);
  const bool mlx = !has_file(folder, kPeftWeights);
  const auto where = (folder / kAdapterConfig).string();
  const auto json = parse_json(read_file(folder / kAdapterConfig), where);
  const ConfigFields fields(json, where);
  const auto tensors = read_adapter_tensors(folder / (mlx ? kMlxWeights : kPeftWeights), mlx);
  model.add_adapters(mlx ? mlx_options(fields) : peft_options(fields, json), base);
  engine::load_state(*model.adapters(), tensors, folder.string());
}

void write_adapter(CodelmModel& model, const fs::path& folder, AdapterForm form) {
  check(model.adapters() != nullptr, ErrorKind::Usage,
        "[codelm.export] this model has no adapters; expected one trained with --lora. --format "
        "huggingface writes whole models.");
  engine::write_checked(folder, "codelm.export", [&] {
    write_adapter_folder(model, folder, form);
    const bool mlx = form == AdapterForm::Mlx;
    const auto read = read_adapter_tensors(folder / (mlx ? kMlxWeights : kPeftWeights), mlx);
    engine::check_same_tensors(engine::state_dict(*model.adapters()), read, "codelm.export");
  });
}

}  // namespace ubique::codelm
