// SPDX-License-Identifier: Apache-2.0
// Shipped ones are small YAML files of keys and texts (configs/acestep/presets/KIND/ID.yaml).
#include "ubique/serve/library/presets.h"

#include <algorithm>
#include <filesystem>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/library.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/yaml.h"
#include "ubique/serve/http/message.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestPreset = 64 << 10U;

Json value_of(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::List) {
    auto list = Json::array();
    for (const auto& item : node.items) list.push_back(value_of(item));
    return list;
  }
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (const auto number = parse_number(node.text)) return *number;
  return node.text;
}

Json shipped_preset(const fs::path& path) {
  const auto node = parse_yaml(read_file(path), path.string());
  Json settings = Json::object();
  std::string label = path.stem().string();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i] == "label") {
      label = node.items[i].text;
    } else {
      settings[node.keys[i]] = value_of(node.items[i]);
    }
  }
  return {{"name", path.stem().string()},
          {"source", "shipped"},
          {"kind", path.parent_path().filename().string()},
          {"label", label},
          {"settings", std::move(settings)}};
}

std::vector<fs::path> shipped_files() {
  std::vector<fs::path> files;
  const auto folder = find_data(fs::path("configs") / "acestep" / "presets");
  if (folder.empty()) return files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

bool is_shipped(const std::string& name) {
  const auto files = shipped_files();
  return std::ranges::any_of(files, [&](const auto& path) { return path.stem() == name; });
}

}  // namespace

Json Presets::json() const {
  auto presets = Json::array();
  for (const auto& path : shipped_files()) {
    try {
      presets.push_back(shipped_preset(path));
    } catch (const Error& error) {
      log::warn_once("serve.presets", error.what());
    }
  }
  for (const auto& row :
       database_.rows("SELECT name, label, settings FROM presets ORDER BY name")) {
    presets.push_back({{"name", row.text("name")},
                       {"source", "own"},
                       {"kind", "own"},
                       {"label", row.text("label")},
                       {"settings", parse_json(row.text("settings"), "a stored preset")}});
  }
  return {{"presets", std::move(presets)}};
}

Json Presets::put(const std::string& name, const std::string& label, const Json& settings) {
  check(!name.empty() && name.size() <= 100, ErrorKind::Usage,
        "[serve.preset] the name; expected 1 to 100 bytes.");
  check(settings.is_object(), ErrorKind::Usage, "[serve.preset] \"settings\"; expected an object.");
  const auto text = json_text(settings);
  check(text.size() <= kLargestPreset, ErrorKind::Usage, "[serve.preset] the preset is too large.");
  if (is_shipped(name)) {
    refuse(409, "conflict", "[serve.preset] a preset of the program has this name; take another.");
  }
  const auto shown = label.empty() ? name : label;
  database_.run("INSERT OR REPLACE INTO presets (name, label, settings) VALUES (?, ?, ?)",
                {name, shown, text});
  return {
      {"name", name}, {"source", "own"}, {"kind", "own"}, {"label", shown}, {"settings", settings}};
}

void Presets::remove(const std::string& name) {
  if (is_shipped(name)) {
    refuse(409, "conflict", "[serve.preset] presets of the program cannot be removed.");
  }
  database_.run("DELETE FROM presets WHERE name = ?", {name});
  if (database_.changes() == 0) missing("preset", name);
}

}  // namespace ubique::serve
