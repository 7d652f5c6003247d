// SPDX-License-Identifier: Apache-2.0
// Learns a byte-level BPE vocabulary from texts: the commonest pair merges first, of equals the one
// with the lower ids. Nothing else decides, so the same texts give the same file on every machine,
// whatever order they come in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

struct TrainerOptions {
  std::int64_t size = 4096;               ///< tokens in all: special ones, 256 bytes, merges
  std::vector<std::string> special = {};  ///< take the first ids
  std::int64_t least_count = 2;           ///< pairs seen less often do not merge
  WordSplit split = {SplitStep::Words};
};

class TokenizerTrainer {
 public:
  /// Usage error for a size that has no room for the special tokens and the bytes.
  explicit TokenizerTrainer(TrainerOptions options);

  void add(std::string_view text);
  /// Fewer tokens than asked for if the texts have no more pairs.
  TokenizerModel train() const;

 private:
  TrainerOptions options_;
  std::unordered_map<std::string, std::int64_t> words_;  // how often each was seen
};

}  // namespace ubique::io
