// SPDX-License-Identifier: Apache-2.0
// Text helpers: human-readable sizes, numbers, joining and splitting, "did you mean", wrapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique {

/// "512 B", "1.5 KiB", "36.0 GiB"; powers of 1024.
std::string human_bytes(std::int64_t bytes);
/// Reads "36GiB", "8 GB", "512m", "1024": K, M, G and T are powers of 1024 with or without "iB",
/// and "GB" means 1e9.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// A decimal number as people write it: "3", "-2.5", ".5", "1e-5". Finite, whatever the locale.
std::optional<double> parse_number(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// Splits at each separator and trims blanks; empty parts are dropped.
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lowercase(std::string_view text);

/// Number of single-character edits (with swaps of neighbours) that turn one text into the other.
int edit_distance(std::string_view from, std::string_view to);
/// The candidate nearest to a misspelt word, if any is near enough to be worth naming.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);
/// " Did you mean 'x'?" or an empty text, to append to an error message.
std::string hint(std::string_view word, const std::vector<std::string>& candidates);

/// Number of terminal columns a UTF-8 text takes (one per code point; enough for our own output).
std::size_t display_width(std::string_view text);
/// Breaks a text into lines of at most width columns at blanks.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace ubique
