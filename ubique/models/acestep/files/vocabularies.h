// SPDX-License-Identifier: Apache-2.0
// Small vocabularies of our own for models that are trained on synthetic music, in the files' forms
// of the large ones.
#pragma once

#include <cstdint>

#include "ubique/base/text/json_fwd.h"

namespace ubique::acestep {

/// tokenizer.json of a Unigram model: words of tags, and letters for all other text.
Json text_vocabulary();
/// tokenizer.json of a BPE model as the lyric encoder's: languages, song parts, syllables, letters.
Json lyric_vocabulary();
/// Number of tokens of either.
std::int64_t vocabulary_size(const Json& tokenizer);

}  // namespace ubique::acestep
