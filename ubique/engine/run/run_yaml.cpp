// SPDX-License-Identifier: Apache-2.0
// Settings as nested YAML with comments, and the comparison of two such texts.
#include "ubique/engine/run/run_yaml.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/yaml.h"

namespace ubique::engine {
namespace {

std::string yaml_value(const std::string& text) {
  const bool list = text.starts_with('[') && text.ends_with(']');
  const bool plain = !text.empty() && text.find_first_of(":#{}\"'&*!|>%@`\n") == std::string::npos;
  if (list || (plain && text.front() != '-' && text.front() != ' ' && text.back() != ' ')) {
    return text;
  }
  return parse_number(text) ? text : json_text(text);
}

/// A setting, or a section of settings in the order in which they were read.
struct YamlEntry {
  std::string name, text;  // text: "value  # source"
  std::vector<YamlEntry> inside = {};

  YamlEntry& child(const std::string& key) {
    for (auto& entry : inside) {
      if (entry.name == key) return entry;
    }
    return inside.emplace_back(YamlEntry{key, {}});
  }
};

/// Here the model's folder, in other trainers' files a section: both are kept, what is inside the
/// section under dotted names.
constexpr std::string_view kValueAndSection = "model";

/// Single settings first, then sections; any other name that is both is a section.
std::string yaml_lines(const YamlEntry& section, std::size_t indent) {
  std::string settings, sections;
  for (const auto& entry : section.inside) {
    if (entry.inside.empty() || (!entry.text.empty() && entry.name == kValueAndSection)) {
      settings += fmt::format("{:{}}{}: {}\n", "", indent, entry.name, entry.text);
      YamlEntry dotted;
      for (auto inside : entry.inside) {
        inside.name = entry.name + '.' + inside.name;
        dotted.inside.push_back(std::move(inside));
      }
      settings += yaml_lines(dotted, indent);
    } else {
      sections +=
          fmt::format("{:{}}{}:\n{}", "", indent, entry.name, yaml_lines(entry, indent + 2));
    }
  }
  return settings + sections;
}

/// Maps "lr" or "arch.hidden_size" to its value.
void collect_settings(const YamlNode& node, const std::string& path,
                      std::map<std::string, std::string>& settings) {
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto key = path.empty() ? node.keys[i] : path + '.' + node.keys[i];
    collect_settings(node.items[i], key, settings);
  }
  if (node.kind == YamlNode::Kind::Scalar) settings[path] = node.text;
  if (node.kind != YamlNode::Kind::List) return;
  std::vector<std::string> texts;
  for (const auto& item : node.items) texts.push_back(item.text);
  settings[path] = '[' + join(texts, ", ") + ']';
}

std::map<std::string, std::string> settings_of(const std::string& yaml) {
  std::map<std::string, std::string> settings;
  collect_settings(parse_yaml(yaml, "run.yaml"), "", settings);
  return settings;
}

}  // namespace

std::vector<std::string> changed_settings(const std::string& before, const std::string& now) {
  // These affect how and where a run executes, not its result.
  const std::set<std::string> ignored = {
      "resume", "resume_from", "log_every",    "dry_run",          "model", "max_steps", "device",
      "memory", "threads",     "accumulation", "prefetch_threads", "batch", "keep",      "watch",
      "mode",   "patience",    "data_paths",   "checkpoint_every", "fp16"};
  const auto old = settings_of(before), fresh = settings_of(now);
  std::vector<std::string> changes;
  for (const auto& [key, value] : fresh) {
    const auto found = old.find(key);
    const auto was = found == old.end() ? "not given" : found->second;
    if (was != value && !ignored.contains(key)) {
      changes.push_back(fmt::format("{} is {}, was {}", key, value, was));
    }
  }
  for (const auto& [key, value] : old) {
    if (!fresh.contains(key) && !ignored.contains(key)) {
      changes.push_back(fmt::format("{} is not given, was {}", key, value));
    }
  }
  return changes;
}

std::string run_yaml(const std::vector<ResolvedValue>& values) {
  YamlEntry top;
  for (const auto& [key, value, source] : values) {
    // Not given: nothing to read back.
    if (source == "default" && (value.empty() || value == "null")) continue;
    auto* entry = &top;
    for (const auto& part : split(key, '.')) entry = &entry->child(part);
    entry->text = fmt::format("{}  # {}", yaml_value(value), source);
  }
  return "# Every setting of this run; ubique train FAMILY --config run.yaml repeats it.\n" +
         yaml_lines(top, 0);
}

}  // namespace ubique::engine
