// SPDX-License-Identifier: Apache-2.0
// Texts: tokenizers, YAML that commands take, JSON.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/text/yaml.h"
#include "ubique/cli/inspect/kinds.h"
#include "ubique/engine/contract/family.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

/// Top-level keys whose values are plain, as they are written; of the others only the names.
Json yaml_facts(const YamlNode& root) {
  auto facts = Json::object();
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    const auto& item = root.items[i];
    facts[root.keys[i]] = item.kind == YamlNode::Kind::Scalar ? item.text : item.describe();
  }
  return facts;
}

/// The family whose configurations lie in a folder of its name: configs/trm/chat.yaml.
std::string family_of_folder(const fs::path& path) {
  const auto folder = fs::absolute(path).parent_path().filename();
  for (const auto* family : engine::families()) {
    if (folder == family->name()) return family->name();
  }
  return "FAMILY";
}

}  // namespace

bool is_tokenizer(const Sight& sight) {
  if (sight.is_folder) {
    return sight.has("tokenizer.json") || (sight.has("vocab.json") && sight.has("merges.txt"));
  }
  return sight.path.filename() == "tokenizer.json";
}

void show_tokenizer(const Sight& sight, Finding& finding) {
  const auto tokenizer = io::read_tokenizer(sight.path);
  const auto& model = tokenizer.model();
  finding.facts.emplace_back("tokens", tokenizer.size());
  finding.facts.emplace_back("merges", model.merges.size());
  std::vector<std::string> special;
  for (const auto& token : model.added) {
    if (token.special) special.push_back(token.content);
  }
  finding.facts.emplace_back("special", special);
  if (tokenizer.lacks_bytes()) finding.facts.emplace_back("note", "some bytes have no token");
  finding.next = {fmt::format("ubique data trm chat CONVERSATIONS --tokenizer {} -o OUTPUT",
                              shell_word(sight.path))};
}

void show_yaml(const Sight& sight, Finding& finding) {
  constexpr std::int64_t kMostBytes = 1 << 20;
  const auto root = parse_yaml(read_file(sight.path, kMostBytes), sight.path.string());
  const auto word = shell_word(sight.path);
  if (root.find("parameters") != nullptr && root.find("activations") != nullptr) {
    finding.kind = "needs of a model (.yaml)";
    finding.next = {fmt::format("ubique plan --needs {}", word)};
  } else if (root.find("backend") != nullptr && root.find("total_bytes") != nullptr) {
    finding.kind = "profile of a machine (.yaml)";
    finding.next = {fmt::format("ubique plan FAMILY --on {}", word)};
  } else {
    finding.kind = "configuration (.yaml)";
    finding.next = {fmt::format("ubique train {} --config {}", family_of_folder(sight.path), word)};
  }
  finding.facts.emplace_back("keys", yaml_facts(root));
}

void show_json(const Sight& sight, Finding& finding) {
  const auto json = parse_json(read_file(sight.path), sight.path.string());
  if (json.is_array()) {
    finding.facts.emplace_back("items", json.size());
    return;
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  finding.facts.emplace_back("keys", keys);
}

}  // namespace ubique::cli
