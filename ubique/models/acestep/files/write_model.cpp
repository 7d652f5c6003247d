// SPDX-License-Identifier: Apache-2.0
// Tensors in the order of the network's own list.
#include "ubique/models/acestep/files/write_model.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/vocabularies.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/net/config/config_json.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/init.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

/// The tensors of one parameter: weight norm has two.
engine::NamedTensors stored_tensors(const std::string& name, const at::Tensor& value, Part part) {
  const bool normed =
      part == Part::Vocoder && name.starts_with("head.") && name.ends_with(".weight");
  if (!normed) return {{name, value}};
  const auto length = value.flatten(1).norm(2, {1}).reshape({-1, 1, 1});
  return {{name + "_g", length}, {name + "_v", value}};
}

template <typename Net, typename Config>
void write_fresh(const Config& config, const Random& random, Part part, const fs::path& folder,
                 c10::ScalarType dtype) {
  Net network(config);
  initialize(network, random.fork(static_cast<std::uint64_t>(part)));
  write_part(network, config_json(config), part, folder / folder_name(part), dtype);
}

}  // namespace

c10::ScalarType named_dtype(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "bfloat16") return at::kBFloat16;
  check(
      name == "float16", ErrorKind::Usage,
      "[acestep.export] unknown --weights-dtype; got '{}', expected float32, bfloat16 or float16.",
      printable(name, 40));
  return at::kHalf;
}

void write_part(nn::Network& network, const Json& config, Part part, const fs::path& folder,
                c10::ScalarType dtype) {
  const at::NoGradGuard no_gradients;
  make_folder(folder);
  engine::NamedTensors tensors;
  for (const auto& item : network.named_parameters()) {
    for (const auto& [name, value] : stored_tensors(item.key(), item.value().detach(), part)) {
      tensors.emplace_back(name, engine::to_host(value.to(dtype)));
    }
  }
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  write_file(folder / "config.json", json_text(config, 2) + "\n");
  io::write_safetensors(folder / weights_name(part), data, {{"format", "pt"}});
}

void write_new_model(const fs::path& folder, NetworkConfigs networks, std::uint64_t seed,
                     c10::ScalarType dtype) {
  const auto text = text_vocabulary(), lyrics = lyric_vocabulary();
  networks.text.vocabulary = vocabulary_size(text);
  networks.transformer.lyric.vocabulary = vocabulary_size(lyrics);
  networks.transformer.projectors = false;
  const Random random(seed);
  engine::write_checked(folder, "acestep.new", [&] {
    write_fresh<Umt5>(networks.text, random, Part::TextEncoder, folder, dtype);
    write_fresh<Dit>(networks.transformer, random, Part::Transformer, folder, dtype);
    write_fresh<Dcae>(networks.dcae, random, Part::Dcae, folder, dtype);
    write_fresh<Vocoder>(networks.vocoder, random, Part::Vocoder, folder, dtype);
    write_file(folder / folder_name(Part::TextEncoder) / "tokenizer.json",
               json_text(text, 1) + "\n");
    write_file(folder / "lyric_vocab.json", json_text(lyrics, 1) + "\n");
    read_model_folder(folder);
  });
}

}  // namespace ubique::acestep
