// SPDX-License-Identifier: Apache-2.0
// The folder of a whole model as the original downloads it: four folders with a config.json and
// weights each, and the two vocabularies. Everything is checked by the files' headers before memory
// is taken for any of them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

enum class Part { TextEncoder, Transformer, Dcae, Vocoder };

inline constexpr std::array kParts = {Part::TextEncoder, Part::Transformer, Part::Dcae,
                                      Part::Vocoder};

std::string_view to_string(Part part);  ///< "text encoder", for messages
/// The part's folder, such as "ace_step_transformer", and its file of weights in it.
std::string_view folder_name(Part part);
std::string_view weights_name(Part part);

struct ModelFolder {
  std::filesystem::path path;
  NetworkConfigs networks = {};
  std::filesystem::path lyric_vocabulary = {};  ///< empty if it was not found

  std::filesystem::path weights(Part part) const;
  std::filesystem::path tokenizer() const;  ///< of the text encoder, a folder
};

/// Parses the four configurations and compares the name and shape of every stored tensor with what
/// they imply; no weights are read. `lyric_vocabulary` is a file, or empty: lyric_vocab.json or
/// vocab.json in the folder, if there. Input error that names the missing part, file or tensor.
ModelFolder read_model_folder(const std::filesystem::path& path,
                              const std::filesystem::path& lyric_vocabulary = {});

/// Are the parts of a model in this folder? Looks only.
bool looks_like_model_folder(const std::filesystem::path& path);

/// The vocabulary of lyrics. Input error that says where it comes from if there is none.
const std::filesystem::path& require_lyric_vocabulary(const ModelFolder& folder);

/// Names and shapes of a part's parameters.
nn::NamedShapes needed_shapes(const NetworkConfigs& networks, Part part);
/// Those of tensors that the part's file may have and that no pass reads.
nn::NamedShapes unused_shapes(const NetworkConfigs& networks, Part part);

}  // namespace ubique::acestep
