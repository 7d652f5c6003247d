// SPDX-License-Identifier: Apache-2.0
// Names in files and in the network, weights in and out.
#include "ubique/models/codelm/files/huggingface.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <map>
#include <set>

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = "config.json";
constexpr std::uint64_t kShardBytes = std::uint64_t{5} << 30;
constexpr std::array kTokenizerFiles = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json",
    "merges.txt",     "added_tokens.json",     "chat_template.jinja",     "generation_config.json"};

fs::path folder_of(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path : path.parent_path();
}

/// Buffers of older files that are computed, not learned.
bool is_dead_buffer(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
         name.ends_with("rotary_emb.inv_freq");
}

/// Names as the network has them: some files leave the first part out.
std::string network_name(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) || name.starts_with("lm_head.") ? name : prefix + name;
}

/// Where each parameter of the network lies in the files; checks names and shapes.
std::map<std::string, const io::TensorInfo*> find_parameters(const io::SafetensorsSet& set,
                                                             const CodelmConfig& config,
                                                             const std::string& where) {
  const auto prefix = config.architecture == Architecture::GptBigCode ? "transformer." : "model.";
  std::map<std::string, const io::TensorInfo*> found;
  for (const auto& info : set.tensors()) {
    const auto name = network_name(info.name, prefix);
    const bool tied_head = config.tied && name.starts_with("lm_head.");
    if (!is_dead_buffer(name) && !tied_head) found[name] = &info;
  }
  std::set<std::string> expected;
  for (const auto& [name, shape] : parameter_shapes(config)) {
    expected.insert(name);
    const auto tensor = found.find(name);
    check(tensor != found.end(), ErrorKind::Input,
          "[codelm.import] {}: the tensor {} is missing; expected it of shape ({}), as {} says.",
          where, name, fmt::join(shape, ", "), kConfigName);
    check(tensor->second->shape == shape, ErrorKind::Input,
          "[codelm.import] {}: the tensor {} has shape ({}), expected ({}), as {} says.", where,
          name, fmt::join(tensor->second->shape, ", "), fmt::join(shape, ", "), kConfigName);
  }
  for (const auto& [name, info] : found) {
    check(expected.contains(name), ErrorKind::Input,
          "[codelm.import] {}: the tensor {} belongs to no part of a {}; was {} changed?", where,
          printable(name), to_string(config.architecture), kConfigName);
  }
  return found;
}

at::Tensor read_tensor(const io::SafetensorsSet& set, const io::TensorInfo& info) {
  auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
  set.read(info, engine::writable_bytes_of(tensor));
  return tensor;
}

Json read_config_json(const fs::path& folder) {
  const auto path = folder / kConfigName;
  std::error_code ignored;
  check(fs::is_regular_file(path, ignored), ErrorKind::Input,
        "[codelm.import] {} has no config.json; expected a folder as transformers saves it: "
        "config.json, model.safetensors, tokenizer.json.",
        folder.string());
  return parse_json(read_file(path), path.string());
}

at::ScalarType file_dtype(const std::string& name) {
  if (name == "bfloat16") return at::kBFloat16;
  if (name == "float16") return at::kHalf;
  check(name == "float32", ErrorKind::Usage,
        "[codelm.export] unknown dtype; got '{}', expected float32, bfloat16 or float16.",
        printable(name));
  return at::kFloat;
}

/// Writes config.json with the dtype of the files, then the weights.
void write_folder(CodelmModel& model, const fs::path& folder, const std::string& dtype) {
  auto json = config_json(model.settings());
  json[json.contains("dtype") ? "dtype" : "torch_dtype"] = dtype;
  fs::create_directories(folder);
  engine::NamedTensors tensors;
  for (const auto& [name, tensor] : engine::state_dict(model.codelm())) {
    tensors.emplace_back(name, engine::to_host(tensor.detach().to(file_dtype(dtype))));
  }
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  io::write_sharded_safetensors(folder, data, kShardBytes, {{"format", "pt"}});
  write_file(folder / kConfigName, json_text(json, 2) + "\n");
}

void check_folder(CodelmModel& model, const fs::path& folder, const std::string& dtype) {
  engine::NamedTensors expected;
  for (const auto& [name, tensor] : engine::state_dict(model.codelm())) {
    const auto stored = engine::to_host(tensor.detach()).to(file_dtype(dtype));
    expected.emplace_back(name, stored.to(at::kFloat));
  }
  const auto read = read_huggingface(folder);
  engine::check_same_tensors(expected, engine::state_dict(read->codelm()), "codelm.export");
}

}  // namespace

bool looks_like_huggingface(const fs::path& path) {
  std::error_code ignored;
  const auto file = folder_of(path) / kConfigName;
  if (!fs::is_regular_file(file, ignored)) return false;
  try {
    const auto json = parse_json(read_file(file), file.string());
    return json.is_object() && json.contains("model_type");
  } catch (const Error&) {
    return false;
  }
}

CodelmConfig read_network_config(const fs::path& path) {
  const auto folder = folder_of(path);
  return parse_config(read_config_json(folder), (folder / kConfigName).string());
}

std::unique_ptr<CodelmModel> read_huggingface(const fs::path& path, bool keep_dtype) {
  const auto folder = folder_of(path);
  const auto config = read_network_config(path);
  const io::SafetensorsSet set(path);
  const auto tensors = find_parameters(set, config, path.string());
  auto network = std::make_shared<Codelm>(config);
  {
    const at::NoGradGuard no_gradients;
    for (auto& item : network->named_parameters()) {
      const auto value = read_tensor(set, *tensors.at(item.key()));
      check(value.is_floating_point(), ErrorKind::Input,
            "[codelm.import] {}: the tensor {} holds {}, expected f32, f16 or bf16.", path.string(),
            item.key(), c10::toString(value.scalar_type()));
      item.value().set_data(keep_dtype ? value : value.to(at::kFloat));
    }
  }
  network->refresh();
  auto model = std::make_unique<CodelmModel>(network);
  model->set_origin(folder);
  model->set_initialized();
  return model;
}

void copy_tokenizer_files(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (from.empty() || fs::equivalent(from, to, ignored)) return;
  fs::create_directories(to);
  if (fs::is_regular_file(from, ignored)) return write_file(to / "tokenizer.json", read_file(from));
  for (const auto* name : kTokenizerFiles) {
    if (fs::is_regular_file(from / name, ignored)) write_file(to / name, read_file(from / name));
  }
}

void write_huggingface(CodelmModel& model, const fs::path& folder, const std::string& dtype,
                       const fs::path& tokenizer) {
  const auto stored = dtype.empty() ? model.settings().dtype : dtype;
  file_dtype(stored);
  model.merge_adapters();
  engine::write_checked(folder, "codelm.export", [&] {
    write_folder(model, folder, stored);
    copy_tokenizer_files(tokenizer, folder);
    check_folder(model, folder, stored);
  });
}

}  // namespace ubique::codelm
