// SPDX-License-Identifier: Apache-2.0
// Guesses what a file is from its first bytes, for error messages: "this is a zip, not a
// safetensors file" helps more than "bad header". The one table of file signatures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ubique::io {

/// How much of a file's start tells its format.
inline constexpr std::size_t kTellingBytes = 512;

/// "a gzip file", "a Git LFS pointer: ..."; empty if no signature matches.
std::string_view looks_like(std::span<const std::byte> start);

/// The same for "it looks like {}": "an empty file" or "something unknown" if nothing matches.
std::string_view looks_like_or_unknown(std::span<const std::byte> start);

/// A clause with its full stop: "this looks like a gzip file." or "got other bytes at its start."
std::string looks_like_clause(std::span<const std::byte> start);

/// The longest header that readers of safetensors accept, in bytes.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// Whether the file begins with a header length and the brace of its JSON, whatever its name.
bool starts_like_safetensors(std::span<const std::byte> start);

}  // namespace ubique::io
