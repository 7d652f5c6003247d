// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level BPE vocabulary: the most frequent pair merges first, among equals the one
// with the lower ids. Deterministic: the same texts give the same file on every machine, in any
// order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

struct TrainerOptions {
  std::int64_t size = 4096;               ///< vocabulary size: special tokens, 256 bytes and merges
  std::vector<std::string> special = {};  ///< special tokens; they get the first ids
  std::int64_t min_count = 2;             ///< rarer pairs do not merge
  WordSplit split = {SplitStep::Words};
};

class TokenizerTrainer {
 public:
  /// Usage error for a size below the number of special tokens and bytes.
  explicit TokenizerTrainer(TrainerOptions options);

  void add(std::string_view text);
  /// Gives fewer tokens than asked for if no pairs are left.
  TokenizerModel train() const;

 private:
  TrainerOptions options_;
  std::unordered_map<std::string, std::int64_t> words_;  // frequency of each word
};

}  // namespace ubique::io
