// SPDX-License-Identifier: Apache-2.0
// Completion of a prompt, token by token: sampling, stop texts and stop tokens. Prints nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/text/tokenizer.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/decode/sampling.h"
#include "ubique/nn/decode/text_stream.h"

namespace ubique::nn {

struct GenerateOptions {
  SamplingOptions sampling = {};
  LogitChanges changes = {};
  std::int64_t max_new_tokens = 128;
  std::uint64_t seed = 0;
  std::vector<std::string> stop_texts = {};    ///< the text ends before the first of these
  std::vector<std::int32_t> stop_tokens = {};  ///< beside the special tokens
  /// False: only stop_tokens end the text, as a chat template says; other special tokens belong to
  /// it without being shown.
  bool special_ends = true;
  std::int64_t likeliest = -1;  ///< report each token's logprob and those of so many; -1: neither
  /// Most tokens guessed ahead by look-up in the text (lookup.h), which one pass confirms; 0 =
  /// none. Changes the speed, never the text.
  std::int64_t lookup = 0;
};

/// Why a completion ended.
enum class CompletionEnd { Token, Text, Length, Window, Stopped };
std::string_view to_string(CompletionEnd end);  ///< "token", "text", "length", "window", "stopped"

struct Completion {
  std::string text;
  std::vector<std::int32_t> tokens;
  CompletionEnd end = CompletionEnd::Length;
  std::int64_t passes = 0;  ///< of the network, the prompt's included
};

/// Usage error for impossible values.
void validate(const GenerateOptions& options);

/// Continues `prompt` until a special or stop token, a stop text, or a limit. `show` receives the
/// text as it is certain: never a part of a stop text. Input error for a prompt that leaves no room
/// in the decoder's context.
Completion generate(Decoder& decoder, std::span<const std::int32_t> prompt,
                    const io::Tokenizer& tokenizer, const GenerateOptions& options,
                    const ShowText& show = {});

}  // namespace ubique::nn
