// SPDX-License-Identifier: Apache-2.0
// Looks for the parts, parses their configurations, and compares headers with them.
#include "ubique/models/acestep/files/model_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFile = "config.json";
constexpr std::int64_t kLargestConfig = 1 << 20;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Input error with the cure if a part or one of its files is not there.
void check_present(const fs::path& model, Part part) {
  const auto folder = model / folder_name(part);
  std::error_code ignored;
  check_readable(model);
  check(fs::is_directory(folder, ignored), ErrorKind::Input,
        "[acestep.open] {} lacks the {}; expected the folder {}. A model has four folders: {}, {}, "
        "{} and {}; download the missing one again.",
        model.string(), to_string(part), folder_name(part), folder_name(Part::Transformer),
        folder_name(Part::Dcae), folder_name(Part::Vocoder), folder_name(Part::TextEncoder));
  for (const auto& file : {kConfigFile, weights_name(part)}) {
    check_readable(folder / file);
    check(is_file(folder / file), ErrorKind::Input,
          "[acestep.open] {} lacks {}; expected {} and {} in it. Download the folder again.",
          folder.string(), file, kConfigFile, weights_name(part));
  }
}

template <typename Parse>
auto parse_part(const fs::path& model, Part part, const Parse& parse) {
  check_present(model, part);
  const auto path = model / folder_name(part) / kConfigFile;
  return parse(parse_json(read_file(path, kLargestConfig), path.string()), path.string());
}

/// Compares one file's header with what the configuration implies.
class StoredShapes {
 public:
  explicit StoredShapes(const fs::path& path) : file_(path) {}

  bool has(const std::string& name) const { return file_.find(name) != nullptr; }

  /// Stored as it is, or as direction and length (weight norm).
  void expect(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (const auto* whole = file_.find(name)) return compare(*whole, shape);
    const auto *direction = file_.find(name + "_v"), *length = file_.find(name + "_g");
    check(direction != nullptr && length != nullptr, ErrorKind::Input,
          "[acestep.open] {}: the tensor {} is missing; expected it of shape ({}), as {} says. "
          "Download the file again.",
          file_.name(), name, fmt::join(shape, ", "), kConfigFile);
    compare(*direction, shape);
    std::int64_t lengths = 1;
    for (const auto extent : length->shape) lengths *= extent;
    check(lengths == shape.at(0), ErrorKind::Input,
          "[acestep.open] {}: {} has {} values, expected {}: one for each row.", file_.name(),
          length->name, lengths, shape.at(0));
    known_.insert(length->name);
  }

  /// May be there; then of this shape.
  void allow(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (const auto* info = file_.find(name)) compare(*info, shape);
  }

  void finish() const {
    for (const auto& info : file_.tensors()) {
      check(known_.contains(info.name), ErrorKind::Input,
            "[acestep.open] {}: the tensor {} belongs to no part of the network that {} describes; "
            "expected the two files of one model.",
            file_.name(), printable(info.name), kConfigFile);
    }
  }

 private:
  void compare(const io::TensorInfo& info, const std::vector<std::int64_t>& shape) {
    check(info.shape == shape, ErrorKind::Input,
          "[acestep.open] {}: the tensor {} has shape ({}), expected ({}), as {} says.",
          file_.name(), printable(info.name), fmt::join(info.shape, ", "), fmt::join(shape, ", "),
          kConfigFile);
    known_.insert(info.name);
  }

  io::SafetensorsFile file_;
  std::set<std::string> known_;
};

void check_part(const ModelFolder& folder, Part part) {
  StoredShapes stored(folder.weights(part));
  for (const auto& [name, shape] : needed_shapes(folder.networks, part)) {
    stored.expect(name, shape);
  }
  for (const auto& [name, shape] : unused_shapes(folder.networks, part)) stored.allow(name, shape);
  stored.finish();
}

/// The projectors are there for training alone; smaller files leave them out.
bool has_projectors(const ModelFolder& folder) {
  return StoredShapes(folder.weights(Part::Transformer)).has("projectors.0.0.weight");
}

fs::path find_lyric_vocabulary(const fs::path& folder, const fs::path& given) {
  if (!given.empty()) {
    check_readable(given);
    check(is_file(given), ErrorKind::Input,
          "[acestep.open] there is no vocabulary of lyrics at {}; expected ACE-Step's vocab.json.",
          given.string());
    return given;
  }
  for (const auto* name : {"lyric_vocab.json", "vocab.json"}) {
    if (is_file(folder / name)) return folder / name;
  }
  return {};
}

/// What the networks hand to each other.
void check_fit(const ModelFolder& folder) {
  const auto& [text, transformer, dcae, vocoder] = folder.networks;
  const auto same = [&](std::int64_t got, std::int64_t expected, const char* what) {
    check(got == expected, ErrorKind::Input,
          "[acestep.open] {}: the parts are of different models: {}; got {}, expected {}.",
          folder.path.string(), what, got, expected);
  };
  same(transformer.text_size, text.hidden, "text_embedding_dim of the transformer");
  same(transformer.in_channels, dcae.latent_channels, "in_channels of the transformer");
  same(transformer.out_channels, transformer.in_channels, "out_channels of the transformer");
  same(dcae.in_channels, 2, "in_channels of the autoencoder, left and right");
  same(vocoder.mels, 8 * transformer.patch_height, "input_channels of the vocoder");
}

}  // namespace

std::string_view to_string(Part part) {
  switch (part) {
    case Part::TextEncoder:
      return "text encoder";
    case Part::Transformer:
      return "transformer";
    case Part::Dcae:
      return "autoencoder";
    case Part::Vocoder:
      break;
  }
  return "vocoder";
}

std::string_view folder_name(Part part) {
  switch (part) {
    case Part::TextEncoder:
      return "umt5-base";
    case Part::Transformer:
      return "ace_step_transformer";
    case Part::Dcae:
      return "music_dcae_f8c8";
    case Part::Vocoder:
      break;
  }
  return "music_vocoder";
}

std::string_view weights_name(Part part) {
  return part == Part::TextEncoder ? "model.safetensors" : "diffusion_pytorch_model.safetensors";
}

fs::path ModelFolder::weights(Part part) const {
  return path / folder_name(part) / weights_name(part);
}

fs::path ModelFolder::tokenizer() const { return path / folder_name(Part::TextEncoder); }

nn::NamedShapes needed_shapes(const NetworkConfigs& networks, Part part) {
  switch (part) {
    case Part::TextEncoder:
      return parameter_shapes(networks.text);
    case Part::Transformer:
      return parameter_shapes(networks.transformer);
    case Part::Dcae:
      return parameter_shapes(networks.dcae);
    case Part::Vocoder:
      break;
  }
  return parameter_shapes(networks.vocoder);
}

nn::NamedShapes unused_shapes(const NetworkConfigs& networks, Part part) {
  if (part == Part::Transformer) return unused_shapes(networks.transformer);
  if (part == Part::Vocoder) return unused_shapes(networks.vocoder);
  return {};
}

bool looks_like_model_folder(const fs::path& path) {
  return is_file(path / folder_name(Part::Transformer) / kConfigFile);
}

ModelFolder read_model_folder(const fs::path& path, const fs::path& lyric_vocabulary) {
  ModelFolder folder{.path = path};
  auto& networks = folder.networks;
  networks.transformer = parse_part(path, Part::Transformer, parse_dit_config);
  networks.dcae = parse_part(path, Part::Dcae, parse_dcae_config);
  networks.vocoder = parse_part(path, Part::Vocoder, parse_vocoder_config);
  networks.text = parse_part(path, Part::TextEncoder, parse_umt5_config);
  check_fit(folder);
  networks.transformer.projectors = has_projectors(folder);
  for (const auto part : kParts) check_part(folder, part);
  check(is_file(folder.tokenizer() / "tokenizer.json"), ErrorKind::Input,
        "[acestep.open] {} lacks tokenizer.json; expected it beside the text encoder's weights.",
        folder.tokenizer().string());
  folder.lyric_vocabulary = find_lyric_vocabulary(path, lyric_vocabulary);
  return folder;
}

const fs::path& require_lyric_vocabulary(const ModelFolder& folder) {
  check(!folder.lyric_vocabulary.empty(), ErrorKind::Input,
        "[acestep.open] {} has no vocabulary of lyrics; expected lyric_vocab.json or vocab.json in "
        "it. It does not come with the weights but with ACE-Step's source, as "
        "acestep/models/lyrics_utils/vocab.json: copy it there, or name it with "
        "--lyric-vocabulary.",
        folder.path.string());
  return folder.lyric_vocabulary;
}

}  // namespace ubique::acestep
