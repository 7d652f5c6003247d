// SPDX-License-Identifier: Apache-2.0
// Guesses what a file is from its first bytes, for error messages: "this is a zip, not a
// safetensors file" helps more than "bad header".
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ubique::io {

/// "a gzip file", "a Git LFS pointer (...)"; empty if nothing known matches.
std::string_view looks_like(std::span<const std::byte> start);

/// A header length and the brace of its JSON, as safetensors files begin, whatever their name.
bool starts_like_safetensors(std::span<const std::byte> start);

}  // namespace ubique::io
