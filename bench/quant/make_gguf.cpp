// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files to compare with llama.cpp: make_gguf FOLDER|random OUT.gguf TYPE. FOLDER is a
// Hugging Face model; "random" is the GPT-BigCode of bench_quant with random weights.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/io/graphs/gguf_blocks.h"
#include "ubique/io/graphs/gguf_codelm.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/tensors/tensor_stats.h"

using namespace ubique;

namespace {

io::GgufType type_named(const std::string& name) {
  for (const auto type : {io::GgufType::F32, io::GgufType::F16, io::GgufType::BF16,
                          io::GgufType::Q8_0, io::GgufType::Q4_0}) {
    if (io::to_string(type) == name) return type;
  }
  fail(ErrorKind::Usage, "[bench.make_gguf] no type '{}'; expected F32, F16, BF16, Q8_0 or Q4_0.",
       name);
}

std::vector<std::byte> stored(const std::vector<float>& values, io::GgufType type,
                              const io::Shape& shape) {
  std::vector<std::byte> bytes(*io::gguf_byte_count(type, shape));
  if (type == io::GgufType::Q8_0) io::quantize_q8_0(values, bytes);
  if (type == io::GgufType::Q4_0) io::quantize_q4_0(values, bytes);
  if (type == io::GgufType::F32) std::memcpy(bytes.data(), values.data(), bytes.size());
  for (std::size_t i = 0; bytes.size() == 2 * values.size() && i < values.size(); ++i) {
    const auto bits =
        type == io::GgufType::F16 ? io::encode_f16(values[i]) : io::encode_bf16(values[i]);
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
  }
  return bytes;
}

/// The tensors of a file; it owns their bytes.
class Tensors {
 public:
  explicit Tensors(const io::GgufLanguageModel& model) : model_(model) {}

  void add(const std::string& name, const io::Shape& shape, const std::vector<float>& values) {
    const auto target = io::gguf_target(model_, name);
    if (!target) return;
    auto ordered = values;
    const auto row = values.size() / static_cast<std::size_t>(shape[0]);
    for (std::size_t i = 0; i < target->row_order.size(); ++i) {
      const auto from = static_cast<std::size_t>(target->row_order[i]);
      std::memcpy(ordered.data() + i * row, values.data() + from * row, row * sizeof(float));
    }
    const auto type = io::gguf_stored_type(model_, target->name, shape);
    bytes_.push_back(stored(ordered, type, shape));
    list_.push_back({target->name, type, shape, {}, {}});
  }

  std::span<const io::GgufTensorData> list() {
    for (std::size_t i = 0; i < list_.size(); ++i) list_[i].bytes = bytes_[i];
    return list_;
  }

 private:
  const io::GgufLanguageModel& model_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<io::GgufTensorData> list_;
};

std::int64_t first_of(const Json& config, std::initializer_list<const char*> keys,
                      std::int64_t otherwise) {
  for (const char* key : keys) {
    if (config.contains(key) && config[key].is_number()) return config[key].get<std::int64_t>();
  }
  return otherwise;
}

io::GgufLanguageModel model_of(const Json& config) {
  io::GgufLanguageModel model;
  const auto arch = io::gguf_arch_of(config.value("model_type", ""));
  check(arch.has_value(), ErrorKind::Input, "[bench.make_gguf] an unknown model type.");
  model.arch = *arch;
  model.context = first_of(config, {"n_positions", "max_position_embeddings"}, 0);
  model.width = first_of(config, {"n_embd", "hidden_size"}, 0);
  model.layers = first_of(config, {"n_layer", "num_hidden_layers"}, 0);
  model.inner = first_of(config, {"n_inner", "intermediate_size"}, 4 * model.width);
  model.vocabulary = first_of(config, {"vocab_size"}, 0);
  model.heads = first_of(config, {"n_head", "num_attention_heads"}, 0);
  const bool one = config.value("multi_query", false);
  model.kv_heads = one ? 1 : first_of(config, {"num_key_value_heads"}, model.heads);
  model.head_size = first_of(config, {"head_dim"}, 0);
  for (const char* key : {"layer_norm_epsilon", "norm_epsilon", "layer_norm_eps", "rms_norm_eps"}) {
    if (config.contains(key)) model.norm_epsilon = config[key].get<double>();
  }
  const auto rope = config.value("rope_parameters", Json::object());
  model.rope_theta = rope.value("rope_theta", config.value("rope_theta", 10000.0));
  const auto share =
      rope.value("partial_rotary_factor", config.value("partial_rotary_factor", 1.0));
  model.rotary_size =
      static_cast<std::int64_t>(share * static_cast<double>(model.width)) / model.heads;
  if (model.head_size > 0) model.rotary_size = model.head_size;
  model.tied_head = config.value("tie_word_embeddings", model.arch != io::GgufArch::Llama);
  return model;
}

std::vector<float> floats_of(const io::SafetensorsSet& files, const io::TensorInfo& info) {
  std::vector<std::byte> bytes(info.size());
  files.read(info, bytes);
  if (info.dtype == DType::F32) {
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  check(info.dtype == DType::BF16 || info.dtype == DType::F16, ErrorKind::Input,
        "[bench.make_gguf] expected f32, f16 or bf16.");
  std::vector<float> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    values[i] = info.dtype == DType::F16 ? io::decode_f16(bits) : io::decode_bf16(bits);
  }
  return values;
}

io::GgufTokenizer tokenizer_of(const std::filesystem::path& folder,
                               const io::GgufLanguageModel& model) {
  const auto json = parse_json(read_file(folder / "tokenizer.json"), "tokenizer.json");
  io::GgufTokenizer tokenizer;
  tokenizer.split = io::gguf_usual_split(model.arch);
  const auto size = static_cast<std::size_t>(model.vocabulary);
  tokenizer.types.assign(size, io::GgufTokenType::Unused);
  for (std::size_t i = 0; i < size; ++i) tokenizer.tokens.push_back(fmt::format("[PAD{}]", i));
  const auto set = [&](std::size_t id, const std::string& text, io::GgufTokenType type) {
    tokenizer.tokens.at(id) = text;
    tokenizer.types.at(id) = type;
  };
  for (const auto& [text, id] : json["model"]["vocab"].items()) {
    set(id.get<std::size_t>(), text, io::GgufTokenType::Normal);
  }
  for (const auto& token : json["added_tokens"]) {
    set(token["id"].get<std::size_t>(), token["content"].get<std::string>(),
        token.value("special", true) ? io::GgufTokenType::Control : io::GgufTokenType::UserDefined);
  }
  for (const auto& merge : json["model"]["merges"]) {
    tokenizer.merges.push_back(merge.is_string() ? merge.get<std::string>()
                                                 : merge[0].get<std::string>() + " " +
                                                       merge[1].get<std::string>());
  }
  tokenizer.bos = tokenizer.eos = 0;
  return tokenizer;
}

void add_random(Tensors& tensors, const io::GgufLanguageModel& model) {
  std::uint64_t seed = 0;
  const auto add = [&](const std::string& name, const io::Shape& shape, float mean) {
    std::vector<float> values(static_cast<std::size_t>(*io::element_count(shape)));
    Random(++seed).fill_normal(values, mean, 0.02F);
    tensors.add("transformer." + name, shape, values);
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in}, 0);
    add(name + ".bias", {out}, 0);
  };
  add("wte.weight", {model.vocabulary, model.width}, 0);
  add("wpe.weight", {model.context, model.width}, 0);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const auto block = fmt::format("h.{}.", layer);
    for (const char* norm : {"ln_1", "ln_2"}) {
      add(block + norm + ".weight", {model.width}, 1);
      add(block + norm + ".bias", {model.width}, 0);
    }
    linear(block + "attn.c_attn", model.width + 2 * model.width / model.heads, model.width);
    linear(block + "attn.c_proj", model.width, model.width);
    linear(block + "mlp.c_fc", model.inner, model.width);
    linear(block + "mlp.c_proj", model.width, model.inner);
  }
  add("ln_f.weight", {model.width}, 1);
  add("ln_f.bias", {model.width}, 0);
}

io::GgufTokenizer numbered_tokens(std::int64_t count) {
  io::GgufTokenizer tokenizer;
  tokenizer.split = "starcoder";
  tokenizer.tokens = {"<|endoftext|>"};
  tokenizer.types = {io::GgufTokenType::Control};
  for (std::int64_t i = 1; i < count; ++i) {
    tokenizer.tokens.push_back(fmt::format("t{}", i));
    tokenizer.types.push_back(io::GgufTokenType::Normal);
  }
  tokenizer.merges = {"t 1"};
  tokenizer.bos = tokenizer.eos = 0;
  return tokenizer;
}

void write_model(const std::string& source, const std::string& out, io::GgufType type) {
  const bool random = source == "random";
  io::GgufLanguageModel model{.context = 8192,
                              .width = 768,
                              .layers = 20,
                              .inner = 3072,
                              .vocabulary = 49152,
                              .heads = 12,
                              .kv_heads = 1,
                              .tied_head = true};
  if (!random) {
    model = model_of(parse_json(read_file(source + "/config.json"), "config.json"));
  }
  model.name = "compared";
  model.type = type;
  Tensors tensors(model);
  if (random) {
    add_random(tensors, model);
  } else {
    const io::SafetensorsSet files(source);
    for (const auto& info : files.tensors()) {
      tensors.add(info.name, info.shape, floats_of(files, info));
    }
  }
  auto metadata = io::gguf_metadata(model);
  const auto tokens = random ? numbered_tokens(model.vocabulary) : tokenizer_of(source, model);
  for (auto& entry : io::gguf_metadata(tokens)) metadata.push_back(std::move(entry));
  io::write_gguf(out, metadata, tensors.list());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fmt::print(stderr, "make_gguf FOLDER|random OUT.gguf TYPE\n"), 2;
  try {
    write_model(argv[1], argv[2], type_named(argv[3]));
  } catch (const std::exception& error) {
    return fmt::print(stderr, "{}\n", error.what()), 1;
  }
}
