// SPDX-License-Identifier: Apache-2.0
// Prompts from flags and files, a place in a file, and lines of a prompt file.
#include "ubique/models/codelm/commands/run_prompts.h"

#include <algorithm>
#include <string_view>

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/fim.h"

namespace ubique::codelm {
namespace {

/// The file's text before and after LINE:COLUMN (both from 1).
void read_cursor(const Config& config, Prompt& prompt) {
  const auto file = config.get("file", std::string());
  const auto cursor = config.get("cursor", std::string());
  if (file.empty() && cursor.empty()) return;
  check(!file.empty() && !cursor.empty(), ErrorKind::Usage,
        "[codelm.run] --file and --cursor LINE:COLUMN belong together.");
  const auto text = read_file(file);
  const auto parts = split(cursor, ':');
  const auto line = parse_number(parts.front()), column = parse_number(parts.back());
  check(parts.size() == 2 && line && column && *line >= 1 && *column >= 1, ErrorKind::Usage,
        "[codelm.run] --cursor is '{}', expected LINE:COLUMN, both from 1.", printable(cursor));
  std::size_t at = 0;
  for (double i = 1; i < *line && at != std::string::npos; ++i) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  check(at != std::string::npos, ErrorKind::Usage, "[codelm.run] --cursor {}: {} has fewer lines.",
        cursor, file);
  const auto rest = std::min(text.find('\n', at), text.size()) - at;  // of the line
  check(*column - 1 <= static_cast<double>(rest), ErrorKind::Usage,
        "[codelm.run] --cursor {}: the line ends before; expected a column from 1 to {}.", cursor,
        rest + 1);
  at += static_cast<std::size_t>(*column) - 1;
  prompt.prefix = text.substr(0, at);
  prompt.suffix = text.substr(at);
  prompt.fills = true;
}

/// A JSON object, a JSON string, or the line itself as the text.
Prompt prompt_of_line(const std::string& line, const std::string& where) {
  if (!line.starts_with('{') && !line.starts_with('"')) return {.text = line};
  const auto json = parse_json(line, where);
  if (json.is_string()) return {.text = json.get<std::string>()};
  Prompt prompt;
  for (const auto& [key, value] : json.items()) {
    auto* part = key == "prompt"   ? &prompt.text
                 : key == "prefix" ? &prompt.prefix
                 : key == "suffix" ? &prompt.suffix
                                   : nullptr;
    check(part != nullptr && value.is_string(), ErrorKind::Input,
          "[codelm.run] {}: got the key '{}', expected texts \"prompt\", or \"prefix\" and "
          "\"suffix\".",
          where, printable(key));
    *part = value.get<std::string>();
  }
  prompt.fills = !json.contains("prompt");
  check(prompt.fills ? json.size() > 0 : json.size() == 1, ErrorKind::Input,
        "[codelm.run] {}: expected a \"prompt\", or a \"prefix\" and a \"suffix\".", where);
  return prompt;
}

std::vector<Prompt> prompts_of_file(const std::string& path) {
  const auto content = read_file(path);
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  for (const auto& line : split(content, '\n')) {
    ++number;
    const auto text = std::string(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    if (text.empty()) continue;
    prompts.push_back(prompt_of_line(text, fmt::format("{}:{}", path, number)));
  }
  check(!prompts.empty(), ErrorKind::Input, "[codelm.run] {}: there is no prompt in it.", path);
  return prompts;
}

}  // namespace

std::vector<engine::Option> prompt_options() {
  return engine::in_group(
      "Prompt", {{"--prompt", "prompt", "TEXT", "continue this; or give files"},
                 {"--prefix", "prefix", "TEXT", "fill in what follows this ..."},
                 {"--suffix", "suffix", "TEXT", "... and stands before this"},
                 {"--file", "file", "PATH", "fill in a place of this file"},
                 {"--cursor", "cursor", "LINE:COLUMN", "the place, both from 1"},
                 {"--prompts", "prompts", "FILE", "many: a text or JSON object in each line"},
                 {"--slots", "slots", "N", "so many of them at once (8)"},
                 {"--chat", "chat", "", "talk with a chat model; --prompt asks one question"},
                 {"--system", "system", "TEXT", "what every answer of a chat sees first"},
                 {"--worker", "worker", "", "for servers: stay, and answer JSON lines"}});
}

std::vector<Prompt> read_prompts(const engine::Request& request) {
  const auto& config = request.config;
  const auto many = config.get("prompts", std::string());
  Prompt one;
  one.text = config.get("prompt", std::string());
  one.prefix = config.get("prefix", std::string());
  one.suffix = config.get("suffix", std::string());
  one.fills = config.has("prefix") || config.has("suffix");
  read_cursor(config, one);
  for (const auto& file : request.inputs) one.text += read_file(file);
  const bool prompted = !one.text.empty();
  const auto kinds = (prompted ? 1 : 0) + (one.fills ? 1 : 0) + (many.empty() ? 0 : 1);
  check(kinds == 1, ErrorKind::Usage,
        "[codelm.run] what is to be completed? got {}; expected --prompt TEXT, a file, --prompts "
        "FILE, or --prefix and --suffix (or --file with --cursor) for what stands between.",
        kinds == 0 ? "nothing" : "several kinds of prompts");
  if (!many.empty()) return prompts_of_file(many);
  return {one};
}

std::vector<std::int32_t> prompt_tokens(const Prompt& prompt, const io::Tokenizer& tokenizer) {
  if (!prompt.fills) return tokenizer.encode(prompt.text);
  const auto fim = data::find_fim_tokens(tokenizer);
  check(fim.has_value(), ErrorKind::Input,
        "[codelm.run] this model cannot fill in the middle: its tokenizer lacks <fim_prefix>, "
        "<fim_suffix> and <fim_middle>. Use --prompt.");
  const data::FimParts parts{tokenizer.encode(prompt.prefix), {}, tokenizer.encode(prompt.suffix)};
  return data::arrange_fim(parts, data::FimOrder::Psm, *fim);
}

}  // namespace ubique::codelm
