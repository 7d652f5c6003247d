// SPDX-License-Identifier: Apache-2.0
// Matchers of credentials. A table of pairs of bytes keeps the pass fast: most pairs start nothing.
#include "ubique/data/code/filter/secrets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace ubique::data {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_digit(c) || is_upper(c) || is_lower(c) || c == '_'; }
bool is_upper_or_digit(char c) { return is_upper(c) || is_digit(c); }
bool is_token_letter(char c) { return is_word(c) || c == '-'; }
bool is_base64(char c) { return is_token_letter(c) || c == '+' || c == '/' || c == '='; }

template <typename Is>
std::size_t run_length(std::string_view text, std::size_t at, const Is& is) {
  auto end = at;
  while (end < text.size() && is(text[end])) ++end;
  return end - at;
}

/// Tokens that begin with fixed letters, followed by letters of one kind.
struct TokenForm {
  std::string_view kind, start;
  bool (*is)(char);
  std::size_t least, most;  // letters after the start
};

constexpr std::array<TokenForm, 19> kTokenForms = {{
    {"aws_key", "AKIA", is_upper_or_digit, 16, 16},
    {"aws_key", "ASIA", is_upper_or_digit, 16, 16},
    {"google_key", "AIza", is_token_letter, 35, 35},
    {"google_key", "ya29.", is_token_letter, 20, 2000},
    {"github_token", "ghp_", is_word, 36, 251},
    {"github_token", "gho_", is_word, 36, 251},
    {"github_token", "ghu_", is_word, 36, 251},
    {"github_token", "ghs_", is_word, 36, 251},
    {"github_token", "ghr_", is_word, 36, 251},
    {"github_token", "github_pat_", is_word, 22, 251},
    {"gitlab_token", "glpat-", is_token_letter, 20, 64},
    {"slack_token", "xoxb-", is_token_letter, 20, 250},
    {"slack_token", "xoxp-", is_token_letter, 20, 250},
    {"slack_token", "xoxa-", is_token_letter, 20, 250},
    {"slack_token", "xoxs-", is_token_letter, 20, 250},
    {"stripe_key", "sk_live_", is_word, 20, 250},
    {"openai_key", "sk-proj-", is_token_letter, 40, 250},
    {"npm_token", "npm_", is_word, 36, 36},
    {"huggingface_token", "hf_", is_word, 34, 34},
}};

std::optional<Secret> token_at(std::string_view text, std::size_t at) {
  if (at > 0 && is_word(text[at - 1])) return std::nullopt;
  for (const auto& form : kTokenForms) {
    if (!text.substr(at).starts_with(form.start)) continue;
    const auto letters = run_length(text.substr(0, std::min(text.size(), at + 4096)),
                                    at + form.start.size(), form.is);
    if (letters < form.least || letters > form.most) continue;
    return Secret{at, form.start.size() + letters, form.kind};
  }
  return std::nullopt;
}

/// Three parts of base64 joined by dots; the first is an encoded object and begins with eyJ.
std::optional<Secret> web_token_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return std::nullopt;
  if (at > 0 && is_word(text[at - 1])) return std::nullopt;
  const auto first = run_length(text, at, is_token_letter);
  if (first < 16 || at + first >= text.size() || text[at + first] != '.') return std::nullopt;
  const auto second_at = at + first + 1;
  const auto second = run_length(text, second_at, is_token_letter);
  if (second < 10 || second_at + second >= text.size() || text[second_at + second] != '.') {
    return std::nullopt;
  }
  const auto third = run_length(text, second_at + second + 1, is_token_letter);
  if (third < 16) return std::nullopt;
  return Secret{at, first + second + third + 2, "web_token"};
}

constexpr std::string_view kKeyBegin = "-----BEGIN ";

/// From "-----BEGIN ... PRIVATE KEY-----" to its end line, or as far as base64 lines go.
std::optional<Secret> private_key_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kEnd = "PRIVATE KEY", kClose = "-----END ";
  if (!text.substr(at).starts_with(kKeyBegin)) return std::nullopt;
  const auto line = text.substr(at, 80);
  const auto name = line.find(kEnd);
  if (name == std::string_view::npos || line.substr(0, name).find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::size_t kLongestKey = 16384;
  const auto body = text.substr(at, kLongestKey);
  const auto close = body.find(kClose);
  if (close != std::string_view::npos) {
    const auto end = body.find("-----", close + kClose.size());
    return Secret{at, end == std::string_view::npos ? body.size() : end + 5, "private_key"};
  }
  const auto start = name + kEnd.size();
  const auto letters = run_length(body, start, [](char c) {
    return is_base64(c) || c == '\n' || c == '\r' || c == ' ' || c == '\\' || c == '"';
  });
  return letters >= 64 ? std::optional(Secret{at, start + letters, "private_key"}) : std::nullopt;
}

/// The password of "scheme://user:password@host", at the colon of "://".
std::optional<Secret> url_password_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("://") || at == 0 || !is_word(text[at - 1])) return std::nullopt;
  const auto is_part = [](char c) {
    return c > ' ' && c != '/' && c != '@' && c != '"' && c != '\'' && c != '<' && c != '>' &&
           c != '`' && c != ')' && c != 0x7F;
  };
  const auto host = text.substr(at + 3, 256);
  const auto length = run_length(host, 0, is_part);
  if (length >= host.size() || host[length] != '@') return std::nullopt;
  const auto colon = host.substr(0, length).find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto password = host.substr(colon + 1, length - colon - 1);
  // "$PASSWORD", "{password}", "%s": a place for one, not one.
  if (password.size() < 3 || password.find_first_of("${}%*[]") != std::string_view::npos) {
    return std::nullopt;
  }
  return Secret{at + 3 + colon + 1, password.size(), "password_in_url"};
}

double entropy_of(std::string_view text) {
  std::array<int, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const auto count : counts) {
    if (count == 0) continue;
    const auto share = static_cast<double>(count) / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

bool names_a_secret(std::string_view name) {
  std::string lower(name);
  for (auto& c : lower) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
  for (const auto* word : {"secret", "token", "passw", "api_key", "apikey", "access_key",
                           "private_key", "auth_key", "credential", "client_key"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

bool looks_random(std::string_view value) {
  const bool digits = std::any_of(value.begin(), value.end(), is_digit);
  const bool letters =
      std::any_of(value.begin(), value.end(), [](char c) { return is_upper(c) || is_lower(c); });
  const bool hex = std::all_of(value.begin(), value.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  return digits && letters && entropy_of(value) >= (hex ? 3.0 : 3.5);
}

/// NAME = "value" at its '=' or ':'.
std::optional<Secret> assignment_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestName = 64, kLeast = 20, kMost = 200;
  auto end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  if (at - end > 4) return std::nullopt;
  auto begin = end;
  while (begin > 0 && end - begin < kLongestName && is_token_letter(text[begin - 1])) --begin;
  auto value = at + 1;
  while (value < text.size() && value - at < 8 &&
         (text[value] == ' ' || text[value] == '"' || text[value] == '\'' || text[value] == '=')) {
    ++value;
  }
  const auto length =
      run_length(text.substr(0, std::min(text.size(), value + kMost + 1)), value, is_base64);
  if (length < kLeast || length > kMost || begin == end) return std::nullopt;
  // A name that goes on is code: "token = some_function_call(".
  const auto after = value + length;
  if (after < text.size() && (text[after] == '(' || text[after] == '.' || text[after] == '[')) {
    return std::nullopt;
  }
  if (!names_a_secret(text.substr(begin, end - begin))) return std::nullopt;
  if (!looks_random(text.substr(value, length))) return std::nullopt;
  return Secret{value, length, "assigned_secret"};
}

/// What every secret begins with, or has at its trigger: two bytes. A value follows ':' and '='.
constexpr std::array kTriggers = {"AK", "AS", "AI", "ya", "gh", "gi", "gl", "xo",
                                  "sk", "np", "hf", "ey", "--", ":",  "="};

/// Of each pair of bytes, as a set of bits: whether it is a trigger. Most pairs in a text are none.
constexpr auto kTriggerPairs = [] {
  std::array<std::uint64_t, 1024> pairs{};
  for (const std::string_view trigger : kTriggers) {
    const auto first = static_cast<unsigned char>(trigger[0]) * 256U;
    for (unsigned second = 0; second < 256; ++second) {
      const bool is = trigger.size() == 1 || static_cast<unsigned char>(trigger[1]) == second;
      if (is) pairs[(first + second) / 64] |= std::uint64_t{1} << (second % 64);
    }
  }
  return pairs;
}();

bool is_trigger(std::string_view text, std::size_t at) {
  const auto pair =
      static_cast<unsigned char>(text[at]) * 256U + static_cast<unsigned char>(text[at + 1]);
  return (kTriggerPairs[pair / 64] >> (pair % 64) & 1U) != 0;
}

std::optional<Secret> secret_at(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '-':
      return private_key_at(text, at);
    case ':':
      if (const auto found = url_password_at(text, at)) return found;
      return assignment_at(text, at);
    case '=':
      return assignment_at(text, at);
    case 'e':
      return web_token_at(text, at);
    default:
      return token_at(text, at);
  }
}

}  // namespace

std::vector<Secret> find_secrets(std::string_view text) {
  std::vector<Secret> secrets;
  for (std::size_t at = 0; at + 1 < text.size();) {
    const auto found = is_trigger(text, at) ? secret_at(text, at) : std::nullopt;
    if (!found) {
      ++at;
      continue;
    }
    secrets.push_back(*found);
    at = found->first + found->length;
  }
  return secrets;
}

// Only a private key goes on behind its line; every other matcher stops at a line end, '<' or '>',
// and looks back no further than one.
bool may_begin_secret(std::string_view line) {
  return line.find(kKeyBegin) != std::string_view::npos || !find_secrets(line).empty();
}

}  // namespace ubique::data
