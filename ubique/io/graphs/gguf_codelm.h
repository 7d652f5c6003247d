// SPDX-License-Identifier: Apache-2.0
// What llama.cpp expects of a language model in a GGUF file: metadata of its shape and tokenizer,
// and where each tensor of a Hugging Face model goes. Pure functions of plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/graphs/gguf.h"
#include "ubique/io/text/tokenizer_split.h"

namespace ubique::io {

enum class GgufArch {
  Starcoder,  ///< GPT-BigCode
  Starcoder2,
  Phi2,  ///< Phi-1, Phi-1.5 and Phi-2
  Llama,
  Qwen2,
  Qwen3,
};

std::string_view to_string(GgufArch arch);  ///< "starcoder", as files spell it
/// From Hugging Face's model_type ("gpt_bigcode", "phi").
std::optional<GgufArch> gguf_arch_of(std::string_view model_type);

struct GgufLanguageModel {
  GgufArch arch = GgufArch::Starcoder;
  std::string name = {};  ///< for people; may be empty
  std::int64_t context = 0, width = 0, layers = 0, inner = 0, vocabulary = 0;
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_size = 0;      ///< 0: width / heads
  double norm_epsilon = 1e-5;      ///< of LayerNorm or RMSNorm, whichever the architecture has
  double rope_theta = 10000;       ///< not for Starcoder, which has learned positions
  std::int64_t rotary_size = 0;    ///< values of a head that are rotated; 0: all
  double rope_factor = 1;          ///< positions are stretched by it: evenly, or
  std::int64_t rope_original = 0;  ///< by YaRN from this context
  bool tied_head = false;          ///< lm_head.weight is the embedding and not stored
  GgufType type = GgufType::F32;   ///< of the matrices
};

/// Everything but the tokenizer. Input error for sizes that do not fit together.
GgufMetadata gguf_metadata(const GgufLanguageModel& model);

/// Where a tensor goes.
struct GgufTarget {
  std::string name;
  /// Row i of the file is row row_order[i] of the model; empty: as it is. Llama's q and k have
  /// their rotary pairs side by side in files, and multi-head GPT-BigCode has q, k and v of all
  /// heads one after the other.
  std::vector<std::int64_t> row_order;
};

/// Nothing for what files do not have: masks, rotary tables, a tied head. Input error for a name
/// that the architecture does not have.
std::optional<GgufTarget> gguf_target(const GgufLanguageModel& model, std::string_view name);

/// How a tensor of that target name and shape is stored: matrices in the model's type, or in f16 if
/// their rows are no whole blocks; vectors and learned positions, as llama.cpp wants them, in f32.
GgufType gguf_stored_type(const GgufLanguageModel& model, std::string_view target,
                          const Shape& shape);

enum class GgufTokenType : std::int32_t { Normal = 1, Control = 3, UserDefined = 4, Unused = 5 };

/// A byte-level BPE tokenizer, tokens spelled as in tokenizer_bytes.h.
struct GgufTokenizer {
  std::string split = "default";    ///< llama.cpp's name of the rule that splits words: "starcoder"
  std::vector<std::string> tokens;  ///< by id
  std::vector<GgufTokenType> types;  ///< by id
  std::vector<std::string> merges;   ///< "left right"
  std::optional<std::int64_t> bos, eos, pad, unknown;
  std::optional<bool> add_bos;
  std::string chat_template;  ///< may be empty
};

/// llama.cpp's name for the usual rule of an architecture's tokenizer.
std::string_view gguf_usual_split(GgufArch arch);
/// Its name for these steps of a byte-level tokenizer; nothing if it has none.
std::optional<std::string_view> gguf_split_of(const WordSplit& steps);

/// Input error for ids that are no tokens, or a type missing.
GgufMetadata gguf_metadata(const GgufTokenizer& tokenizer);

}  // namespace ubique::io
