// SPDX-License-Identifier: Apache-2.0
// Grapheme clusters: characters that are seen as one, such as a letter with its accents.
#pragma once

#include <cstddef>
#include <string_view>

namespace ubique::io {

/// The end of the cluster that begins at byte `at`, by UAX 29 without its rules for flags, emoji
/// sequences and Indic conjuncts: clusters of up to five bytes, which is what SentencePiece's
/// normalisation looks at, never need those.
std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace ubique::io
