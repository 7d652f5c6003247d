// SPDX-License-Identifier: Apache-2.0
// What data must know of the tokenizer it was made with: a hash of its content, its end-of-text
// token, and that no id lies outside the vocabulary.
#pragma once

#include <cstdint>
#include <string>

#include "ubique/data/code/token_documents.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

/// 16 hexadecimal digits. Depends on tokens and their ids, merges in order, added tokens and the
/// split into words: two files that encode every text alike agree, however they are written.
std::string tokenizer_hash(const io::Tokenizer& tokenizer);

/// The token that ends a document: <|endoftext|>, <|end_of_text|>, </s> or <eos>, the first that
/// exists. Input error if there is none.
std::int32_t end_of_text(const io::Tokenizer& tokenizer);

/// Input error that names the first id outside 0 .. vocabulary - 1, its place in the document and
/// the document; and for a prompt longer than the document.
void check_token_ids(const EncodedDocument& document, std::int64_t vocabulary);

}  // namespace ubique::data
