// SPDX-License-Identifier: Apache-2.0
// Metadata, tensors in the file's order of rows and block format, and the comparison after writing.
#include "ubique/models/codelm/files/gguf_file.h"

#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "ubique/base/files/digest.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/names.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/graphs/gguf_blocks.h"
#include "ubique/io/graphs/gguf_codelm.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

constexpr NameTable<io::GgufType, 5> kGgufTypes{{{io::GgufType::F32, "f32"},
                                                 {io::GgufType::F16, "f16"},
                                                 {io::GgufType::BF16, "bf16"},
                                                 {io::GgufType::Q8_0, "q8_0"},
                                                 {io::GgufType::Q4_0, "q4_0"}}};

/// llama.cpp knows no sliding windows in these architectures. Within the window's length a window
/// changes nothing, so that is the context of the file.
std::int64_t context_in_file(const CodelmConfig& config) {
  if (config.window == 0 || config.window >= config.context) return config.context;
  log::warn(
      "[codelm.gguf] llama.cpp has no sliding windows in a {}: the file's context is the window, "
      "{} tokens instead of {}.",
      to_string(config.architecture), config.window, config.context);
  return config.window;
}

/// Evenly, or by YaRN with the numbers that llama.cpp takes if none are said; Llama 3's way is a
/// tensor (frequency_divisors).
void set_stretching(const nn::RopeScaling& scaling, io::GgufLanguageModel& model) {
  using Kind = nn::RopeScaling::Kind;
  if (scaling.kind != Kind::Linear && scaling.kind != Kind::Yarn) return;
  model.rope_factor = scaling.factor;
  if (scaling.kind == Kind::Linear) return;
  model.rope_original = scaling.original_length;
  const nn::RopeScaling usual;
  const auto factor = nn::yarn_attention_factor(scaling.factor);
  check(scaling.fast_turns == usual.fast_turns && scaling.slow_turns == usual.slow_turns &&
            scaling.whole_places && std::abs(scaling.attention_factor - factor) < 1e-6,
        ErrorKind::Input,
        "[codelm.gguf] llama.cpp's files have no place for these positions of type yarn; got "
        "beta_fast {}, beta_slow {}, attention_factor {}, expected 32, 1, {:.4f}, and no "
        "\"truncate\": false. --format huggingface or onnx has them.",
        scaling.fast_turns, scaling.slow_turns, scaling.attention_factor, factor);
}

io::GgufLanguageModel describe(const CodelmConfig& config, io::GgufType type) {
  io::GgufLanguageModel model;
  const auto arch = io::gguf_arch_of(to_string(config.architecture));
  check(arch.has_value(), ErrorKind::Internal, "[codelm.gguf] no GGUF name for {}.",
        to_string(config.architecture));
  model.arch = *arch;
  model.name = config.name();
  model.context = context_in_file(config);
  model.width = config.hidden;
  model.layers = config.layers;
  model.inner = config.inner;
  model.vocabulary = config.vocabulary;
  model.heads = config.heads;
  model.kv_heads = config.kv_heads;
  model.head_size = config.head_size;
  model.norm_epsilon = config.norm_eps;
  model.rope_theta = config.rope_theta;
  model.rotary_size = config.rotary_size;
  set_stretching(config.rope_scaling, model);
  model.tied_head = config.tied;
  model.type = type;
  return model;
}

/// What Llama 3's stretching divides each frequency by: a tensor of the file, which llama.cpp reads
/// for Llama alone. Undefined if positions are not stretched so.
at::Tensor frequency_divisors(const CodelmConfig& config) {
  if (config.rope_scaling.kind != nn::RopeScaling::Kind::Llama3) return {};
  check(config.architecture == Architecture::Llama, ErrorKind::Input,
        "[codelm.gguf] llama.cpp reads positions stretched as Llama 3's for llama alone; got a {}. "
        "--format huggingface or onnx has them.",
        to_string(config.architecture));
  return nn::rope_frequencies(config.rotary_size, config.rope_theta) /
         nn::rope_frequencies(config.rotary_size, config.rope_theta, config.rope_scaling);
}

io::GgufTokenizer describe(const io::Tokenizer& tokenizer, const CodelmConfig& config) {
  io::GgufTokenizer made;
  const auto split = io::gguf_split_of(tokenizer.model().split);
  check(split.has_value(), ErrorKind::Input,
        "[codelm.gguf] the tokenizer splits words in a way that llama.cpp has no name for; "
        "expected that of GPT-2, StarCoder, Llama 3 or Qwen 2.");
  made.split = *split;
  std::vector<bool> exists(static_cast<std::size_t>(config.vocabulary), false);
  for (const auto& [token, id] : tokenizer.model().vocabulary) {
    exists.at(static_cast<std::size_t>(id)) = true;
  }
  for (const auto& added : tokenizer.model().added) {
    exists.at(static_cast<std::size_t>(added.id)) = true;
  }
  for (std::int32_t id = 0; id < config.vocabulary; ++id) {
    const bool known = exists[static_cast<std::size_t>(id)];
    made.tokens.push_back(known ? tokenizer.spelling(id) : fmt::format("[UNUSED{}]", id));
    made.types.push_back(!known                     ? io::GgufTokenType::Unused
                         : tokenizer.is_special(id) ? io::GgufTokenType::Control
                                                    : io::GgufTokenType::Normal);
  }
  for (const auto& [left, right] : tokenizer.model().merges) {
    made.merges.push_back(left + " " + right);
  }
  if (!config.end_tokens.empty()) made.bos = made.eos = config.end_tokens.front();
  made.add_bos = false;
  return made;
}

std::vector<std::byte> copy_bytes(const at::Tensor& tensor) {
  const auto bytes = engine::bytes_of(tensor);
  return {bytes.begin(), bytes.end()};
}

/// The bytes of a tensor in a type of the file; `rows` is f32, contiguous, on the host.
std::vector<std::byte> encoded(const at::Tensor& rows, io::GgufType type) {
  if (type == io::GgufType::F32) return copy_bytes(rows);
  if (type == io::GgufType::F16) return copy_bytes(rows.to(at::kHalf));
  if (type == io::GgufType::BF16) return copy_bytes(rows.to(at::kBFloat16));
  std::vector<std::byte> blocks(*io::gguf_byte_count(type, rows.sizes().vec()));
  const std::span values(rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.numel()));
  type == io::GgufType::Q8_0 ? io::quantize_q8_0(values, blocks)
                             : io::quantize_q4_0(values, blocks);
  return blocks;
}

/// f32 on the host, rows in the file's order.
at::Tensor ordered_rows(const at::Tensor& tensor, const io::GgufTarget& target) {
  const auto host = engine::to_host(tensor.detach().to(at::kFloat));
  if (target.row_order.empty()) return host;
  const auto order = at::tensor(at::ArrayRef<std::int64_t>(target.row_order), at::kLong);
  return host.index_select(0, order).contiguous();
}

void compare_with_file(const fs::path& path, const std::map<std::string, std::string>& digests) {
  const io::GgufFile file(path);
  for (const auto& tensor : file.tensors()) {
    const auto found = digests.find(tensor.name);
    check(found != digests.end() && digest_of(file.bytes(tensor)) == found->second,
          ErrorKind::Parity, "[codelm.gguf] {}: the tensor {} is not what was written.",
          path.string(), tensor.name);
  }
  check(file.tensors().size() == digests.size(), ErrorKind::Parity,
        "[codelm.gguf] {}: {} tensors were written, {} are there.", path.string(), digests.size(),
        file.tensors().size());
}

}  // namespace

void write_gguf_file(CodelmModel& model, const fs::path& path, const std::string& type,
                     const io::Tokenizer& tokenizer) {
  model.merge_adapters();
  const auto& config = model.settings();
  const auto described =
      describe(config, parse_name(kGgufTypes, "codelm.gguf", "type of weights", type));
  check(tokenizer.size() <= config.vocabulary, ErrorKind::Input,
        "[codelm.gguf] the tokenizer is not the model's; got {} tokens, expected at most {}.",
        tokenizer.size(), config.vocabulary);
  auto metadata = io::gguf_metadata(described);
  for (auto& entry : io::gguf_metadata(describe(tokenizer, config))) {
    metadata.push_back(std::move(entry));
  }
  std::vector<io::GgufTensorData> tensors;
  std::map<std::string, std::string> digests;
  for (const auto& [name, tensor] : engine::state_dict(model.codelm())) {
    const auto target = io::gguf_target(described, name);
    if (!target) continue;
    const auto shape = tensor.sizes().vec();
    const auto stored = io::gguf_stored_type(described, target->name, shape);
    io::GgufTensorData data{.name = target->name, .type = stored, .shape = shape};
    data.stream = [tensor, target = *target, stored, &digests](const io::ByteSink& sink) {
      const auto bytes = encoded(ordered_rows(tensor, target), stored);
      digests[target.name] = digest_of(bytes);
      sink(bytes);
    };
    tensors.push_back(std::move(data));
  }
  if (const auto divisors = frequency_divisors(config); divisors.defined()) {
    tensors.push_back({.name = "rope_freqs.weight",
                       .type = io::GgufType::F32,
                       .shape = divisors.sizes().vec(),
                       .stream = [divisors, &digests](const io::ByteSink& sink) {
                         const auto bytes = copy_bytes(divisors);
                         digests["rope_freqs.weight"] = digest_of(bytes);
                         sink(bytes);
                       }});
  }
  engine::write_checked(path, "codelm.gguf", [&] {
    io::write_gguf(path, metadata, tensors);
    compare_with_file(path, digests);
  });
}

}  // namespace ubique::codelm
