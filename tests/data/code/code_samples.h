// SPDX-License-Identifier: Apache-2.0
// Small tokenizers and documents for the tests of code data.
#pragma once

#include <string>
#include <vector>

#include "ubique/data/code/token_documents.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_bytes.h"
#include "ubique/io/text/tokenizer_trainer.h"

namespace ubique::test {

inline std::vector<std::string> code_special_tokens() {
  return {"<|endoftext|>", "<fim_prefix>", "<fim_middle>",    "<fim_suffix>", "<fim_pad>",
          "<filename>",    "<reponame>",   "<commit_before>", "<commit_msg>", "<commit_after>"};
}

/// One token per byte behind StarCoder's special tokens.
inline io::Tokenizer code_tokenizer(std::vector<std::string> special = code_special_tokens()) {
  const auto size = static_cast<std::int64_t>(special.size()) + 256;
  io::TokenizerTrainer trainer({.size = size,
                                .special = std::move(special),
                                .split = {io::SplitStep::EachNumber, io::SplitStep::Words}});
  return io::Tokenizer(trainer.train());
}

/// Documents of the given texts.
inline data::CodeDocuments code_documents(const io::Tokenizer& tokenizer,
                                          const std::vector<std::string>& texts) {
  data::CodeDocuments documents(tokenizer, tokenizer.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    documents.add({tokenizer.encode(texts[i]), 0, {"file" + std::to_string(i), "", "text"}});
  }
  return documents;
}

}  // namespace ubique::test
