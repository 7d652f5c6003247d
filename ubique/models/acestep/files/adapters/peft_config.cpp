// SPDX-License-Identifier: Apache-2.0
// Keys that other programs add are ignored, unless they change what the adapter computes.
#include "ubique/models/acestep/files/adapters/peft_config.h"

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

namespace ubique::acestep {
namespace {

/// Leaves the value alone where the key is absent or null.
template <typename T>
void take_value(const Json& json, const char* key, const std::string& where, T& value) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return;
  try {
    value = found->get<T>();
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[acestep.adapter] {}: '{}' cannot be read; got {}.", where, key,
         json_text(*found));
  }
}

void refuse_others(const Json& json, const std::string& where) {
  std::string type = "LORA", bias = "none";
  bool dora = false, turned = false;
  take_value(json, "peft_type", where, type);
  take_value(json, "bias", where, bias);
  take_value(json, "use_dora", where, dora);
  take_value(json, "fan_in_fan_out", where, turned);
  check(type == "LORA" && bias == "none" && !dora && !turned, ErrorKind::Input,
        "[acestep.adapter] {}: expected a plain LoRA adapter; got {}{}{}{}.", where, type,
        bias == "none" ? "" : " with trained biases", dora ? " with DoRA" : "",
        turned ? " with fan_in_fan_out" : "");
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save"}) {
    const auto found = json.find(key);
    check(found == json.end() || found->empty(), ErrorKind::Input,
          "[acestep.adapter] {}: {} is not supported; expected none.", where, key);
  }
}

}  // namespace

AdapterOptions read_peft_config(const std::filesystem::path& path) {
  constexpr std::int64_t kLargestConfig = 1 << 20;
  const auto where = path.string();
  const auto json = parse_json(read_file(path, kLargestConfig), where);
  check(json.is_object(), ErrorKind::Input, "[acestep.adapter] {} is no object; got {}.", where,
        json.type_name());
  refuse_others(json, where);
  AdapterOptions options;
  options.rank = 8;  // PEFT's defaults
  options.alpha = 8;
  take_value(json, "r", where, options.rank);
  take_value(json, "lora_alpha", where, options.alpha);
  take_value(json, "lora_dropout", where, options.dropout);
  take_value(json, "use_rslora", where, options.rank_stabilized);
  const auto targets = json.find("target_modules");
  check(targets == json.end() || targets->is_array() || targets->is_null(), ErrorKind::Input,
        "[acestep.adapter] {}: target_modules is no list; expected names such as to_q.", where);
  take_value(json, "target_modules", where, options.targets);
  try {
    validate(options);
  } catch (const Error& error) {
    fail(ErrorKind::Input, "[acestep.adapter] {}: {}", where, error.what());
  }
  return options;
}

Json peft_config_json(const AdapterOptions& options, const std::string& base) {
  return {{"peft_type", "LORA"},
          {"task_type", nullptr},
          {"base_model_name_or_path", base},
          {"r", options.rank},
          {"lora_alpha", options.alpha},
          {"lora_dropout", options.dropout},
          {"target_modules", options.targets},
          {"use_rslora", options.rank_stabilized},
          {"bias", "none"},
          {"fan_in_fan_out", false},
          {"inference_mode", true},
          {"init_lora_weights", true},
          {"modules_to_save", nullptr},
          {"rank_pattern", Json::object()},
          {"alpha_pattern", Json::object()},
          {"use_dora", false},
          {"layers_to_transform", nullptr}};
}

}  // namespace ubique::acestep
