// SPDX-License-Identifier: Apache-2.0
// Language models' own files: token documents as `data codelm` writes them, and GGUF.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <type_traits>

#include "ubique/base/text/text.h"
#include "ubique/cli/inspect/kinds.h"
#include "ubique/data/code/code_set.h"
#include "ubique/io/graphs/gguf.h"

namespace ubique::cli {
namespace {

Json split_facts(const data::CodeSetHeader::Split& split) {
  return {{"documents", split.documents}, {"tokens", split.tokens}};
}

/// "llama.block_count" for "block_count": keys of a model begin with its architecture.
const io::GgufValue* model_value(const io::GgufMetadata& metadata, std::string_view key) {
  const auto* architecture = io::find_value(metadata, "general.architecture");
  const auto* name = architecture ? std::get_if<std::string>(architecture) : nullptr;
  return name ? io::find_value(metadata, fmt::format("{}.{}", *name, key)) : nullptr;
}

/// Numbers and texts; nothing for lists.
std::optional<Json> scalar(const io::GgufValue& value) {
  return std::visit(
      [](const auto& held) -> std::optional<Json> {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held> || std::is_same_v<Held, std::string>) return held;
        return std::nullopt;
      },
      value);
}

void add_value(Finding& finding, const char* name, const io::GgufValue* value) {
  if (const auto found = value ? scalar(*value) : std::nullopt) {
    finding.facts.emplace_back(name, *found);
  }
}

std::int64_t vocabulary_size(const io::GgufMetadata& metadata) {
  const auto* tokens = io::find_value(metadata, "tokenizer.ggml.tokens");
  const auto* texts = tokens ? std::get_if<std::vector<std::string>>(tokens) : nullptr;
  return texts ? static_cast<std::int64_t>(texts->size()) : 0;
}

}  // namespace

void show_code_set(const Sight& sight, Finding& finding) {
  const auto header = data::read_code_set_header(sight.path);
  finding.facts.emplace_back("train", split_facts(header.train));
  finding.facts.emplace_back("val", split_facts(header.val));
  finding.facts.emplace_back("vocabulary", header.vocabulary);
  finding.facts.emplace_back("tokenizer", header.tokenizer_hash);
  const auto kind = header.source.find("kind");
  if (kind != header.source.end()) finding.facts.emplace_back("made from", *kind);
  if (!header.dropped.empty()) finding.facts.emplace_back("left out", header.dropped);
  const auto word = shell_word(sight.path);
  finding.next = {fmt::format("ubique data codelm show {}", word),
                  fmt::format("ubique train codelm --model MODEL --lora -d {} -o OUTPUT", word)};
}

void show_gguf(const Sight& sight, Finding& finding) {
  const io::GgufFile file(sight.path);
  const auto& metadata = file.metadata();
  add_value(finding, "name", io::find_value(metadata, "general.name"));
  add_value(finding, "layout", io::find_value(metadata, "general.architecture"));
  add_value(finding, "blocks", model_value(metadata, "block_count"));
  add_value(finding, "width", model_value(metadata, "embedding_length"));
  add_value(finding, "context", model_value(metadata, "context_length"));
  finding.facts.emplace_back("vocabulary", vocabulary_size(metadata));
  std::map<std::string, std::int64_t> types;
  std::int64_t values = 0;
  for (const auto& tensor : file.tensors()) {
    ++types[std::string(io::to_string(tensor.type))];
    values += io::element_count(tensor.shape).value_or(0);
  }
  finding.facts.emplace_back("tensors", types);
  finding.facts.emplace_back("parameters", values);
  finding.facts.emplace_back("read by",
                             "llama.cpp and what is built on it; ubique writes this format");
}

}  // namespace ubique::cli
