// SPDX-License-Identifier: Apache-2.0
// Every value is one word with its flag ("--tags=..."), so that no value can become a flag.
#include "ubique/serve/jobs/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr double kMostCards = 64;

struct OutputName {
  std::string_view verb, family, name;  // empty: any
  std::string_view path;
};

// Commands whose -o is a file; for the others it is a folder.
constexpr std::array<OutputName, 8> kOutputs = {{
    {"evaluate", "trm", "", "out/scores.json"},
    {"evaluate", "acestep", "", "out/scores.json"},
    {"run", "trm", "", "out/solved.json"},
    {"run", "codelm", "", ""},
    {"validate", "", "", "out/report.txt"},
    {"data", "codelm", "tokenizer", "out/tokenizer.json"},
    {"data", "meshnet", "splits", "out/splits.json"},
    {"data", "", "show", ""},
}};

// Formats of convert and export that are one file.
constexpr std::array<std::string_view, 6> kFileFormats = {"safetensors", "pt",  "onnx",
                                                          "gguf",        "npz", "pth"};

std::string exported_name(const JobRequest& request) {
  const auto format = request.options.value("format", Json());
  const auto name = format.is_string() ? format.get<std::string>() : std::string();
  if (name == "keras") return "out/model.weights.h5";
  const bool file = std::ranges::find(kFileFormats, name) != kFileFormats.end();
  return file ? "out/model." + name : "out/model";
}

/// Where the command writes, from the attempt's folder; empty: it has no output.
std::string output_of(const JobRequest& request) {
  if (request.verb == "doctor" || request.verb == "inspect" || request.verb == "pull") return {};
  if (request.verb == "export" || request.verb == "convert") return exported_name(request);
  for (const auto& row : kOutputs) {
    const bool suits = row.verb == request.verb &&
                       (row.family.empty() || row.family == request.family) &&
                       (row.name.empty() || row.name == request.name);
    if (suits) return std::string(row.path);
  }
  return "out";
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::string option_text(const OptionRow& option, const Json& value,
                        const ResolveReference& resolve) {
  std::vector<std::string> parts;
  for (const auto& item : value.is_array() ? value : Json::array({value})) {
    auto text = value_text(item);
    if (option.is_path()) {
      const auto [reference, weight] = weighted_reference(option, text);
      text = resolve(reference).string() + weight;
    }
    check(!option.is_path() || text.find(',') == std::string::npos, ErrorKind::Input,
          "[serve.job] option '{}' takes no file with a comma in its path.", option.key);
    parts.push_back(std::move(text));
  }
  return join(parts, ",");
}

/// "--x" or, for false, the "--no-x" of "--x,!--no-x"; nothing if there is no such form.
std::string switch_word(const OptionRow& option, bool on) {
  if (on) return option.long_flag();
  for (const auto& name : split(option.flag, ',')) {
    if (name.starts_with("!--")) return name.substr(1);
  }
  return {};
}

void add_options(std::vector<std::string>& words, const JobRequest& request, const CommandRow& row,
                 const ResolveReference& resolve) {
  for (const auto& [key, value] : request.options.items()) {
    const auto* option = row.find(key);
    check(option != nullptr, ErrorKind::Usage, "[serve.job] '{}' has no option '{}' any more.",
          row.words(), key);
    if (!option->is_switch()) {
      words.push_back(option->long_flag() + "=" + option_text(*option, value, resolve));
    } else if (auto word = switch_word(*option, value.get<bool>()); !word.empty()) {
      words.push_back(std::move(word));
    }
  }
}

std::string quoted_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_=./:,@+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text;
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + text + "'";
}

}  // namespace

std::vector<std::string> command_words(const JobRequest& request, const CommandRow& row,
                                       const ResolveReference& resolve, bool resume) {
  std::vector<std::string> words = {request.verb};
  if (!request.family.empty()) words.push_back(request.family);
  if (!request.name.empty()) words.push_back(request.name);
  for (const auto& input : request.inputs) {
    // "hf:OWNER/NAME" of pull is no file.
    words.push_back(request.verb == "pull" ? input : resolve(input).string());
  }
  if (!request.model.empty()) words.push_back("--model=" + resolve(request.model).string());
  add_options(words, request, row, resolve);
  if (const auto output = output_of(request); !output.empty()) {
    words.insert(words.end(), {"-o", output});
  }
  if (resume) words.emplace_back("--resume");
  words.emplace_back("--json");
  return words;
}

std::string shown_command(const JobRequest& request, const CommandRow& row) {
  const auto same = [](const std::string& reference) { return std::filesystem::path(reference); };
  std::string text = "ubique";
  for (const auto& word : command_words(request, row, same, false)) text += " " + quoted_word(word);
  return text;
}

std::string library_kind(const JobRequest& request) {
  const auto& verb = request.verb;
  if (verb == "run") {
    if (request.family == "acestep") return "song";
    if (request.family == "meshnet") return "scan";
    if (request.family == "msinet") return "saliency";
    if (request.family == "codelm") return "code";
    return request.family == "trm" ? "puzzle" : "export";
  }
  if (verb == "train") {
    const bool styles = request.family == "acestep" || request.family == "codelm";
    const bool lora = request.options.contains("lora") || request.options.contains("lora_rank") ||
                      request.options.contains("rank") || request.family == "acestep";
    return styles && lora ? "adapter" : "model";
  }
  if (verb == "demo" || verb == "experiment") return "model";
  if (verb == "data") return request.name == "show" ? "" : "data";
  if (verb == "export" || verb == "convert") return "export";
  return verb == "evaluate" || verb == "validate" ? "scores" : "";
}

std::string lane_of(const JobRequest& request, const CommandRow& row, const std::string& usual) {
  if (!row.needs_device) return "cpu";
  const auto found = request.options.find("device");
  const auto asked = found == request.options.end() ? std::string("auto") : value_text(*found);
  const auto device = lowercase(trim(asked));
  if (device == "auto" || device == "gpu" || device.empty()) return usual;
  if (device == "metal") return "mps";
  const auto colon = device.find(':');
  const auto kind = device.substr(0, colon);
  const bool counted = kind == "cuda" || kind == "xpu";
  const auto number = colon == std::string::npos ? "0" : device.substr(colon + 1);
  const auto index = parse_number(number);
  const bool known =
      counted ? index && *index >= 0 && *index < kMostCards && *index == std::floor(*index)
              : colon == std::string::npos && (kind == "cpu" || kind == "mps" || kind == "sham");
  check(known, ErrorKind::Usage,
        "[serve.job] no such device; got '{}', expected auto, cpu, cuda, cuda:N, metal or xpu.",
        printable(asked, 40));
  return counted ? fmt::format("{}:{}", kind, static_cast<int>(*index)) : kind;
}

}  // namespace ubique::serve
