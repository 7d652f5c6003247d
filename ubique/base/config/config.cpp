// SPDX-License-Identifier: Apache-2.0
// Merging and bookkeeping: which layer a key comes from and which keys were read. Parsing YAML is
// yaml.cpp, typed values are config_values.cpp.
#include "ubique/base/config/config.h"

#include <cstdlib>
#include <set>

#include "ubique/base/config/config_values.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/yaml.h"

namespace ubique {
namespace {

std::string dotted(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string variable_name(const std::string& key) {
  std::string name = "UBIQUE_";
  for (const char c : key) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += lower ? static_cast<char>(c - 'a' + 'A') : (plain ? c : '_');
  }
  return name;
}

bool is_null_word(std::string_view text) { return text == "~" || lowercase(text) == "null"; }

RawValue one_line_value(const std::string& text, std::string source) {
  RawValue raw;
  raw.node.kind = is_null_word(text) ? YamlNode::Kind::Null : YamlNode::Kind::Scalar;
  raw.node.text = text;
  raw.source = std::move(source);
  raw.one_line = true;
  return raw;
}

struct UnknownKey {
  std::string place, key, hint;
};

}  // namespace

struct Config::View {
  const YamlNode* node = nullptr;  // owned by the document; nullptr if the file has no such mapping
  std::string path;                // dotted, with [i] for the items of a list; empty at the top
  int line = 0;
};

/// What all views share: the file, the layers above it, and the record of the keys that were read.
struct Config::Document {
  std::string name;  // of the file; empty without one
  YamlNode root;
  std::map<std::string, std::string> flags;
  std::optional<std::map<std::string, std::string>> environment;  // none: the process's own
  std::map<std::string, std::string> foreign_variables;           // full key -> variable
  std::map<std::string, RawValue> implied;                        // by full key
  std::map<std::string, std::set<std::string>> read_at;           // level -> keys read there
  std::set<std::string> read_values;                              // full keys of single values
  std::set<std::string> expected;                                 // full keys of expect()
  std::set<std::string> ignored;                                  // full keys of anything
  std::vector<ResolvedValue> records;
  std::map<std::string, std::size_t> record_of;

  std::string place(int line) const {
    if (name.empty()) return "configuration";
    return line > 0 ? fmt::format("{}:{}", name, line) : name;
  }

  /// The variable that sets a key, and its text.
  std::optional<std::pair<std::string, std::string>> variable_of(const std::string& key) const {
    std::vector<std::string> names = {variable_name(key)};
    const auto foreign = foreign_variables.find(key);
    if (foreign != foreign_variables.end()) names.push_back(foreign->second);
    for (const auto& name : names) {
      if (auto text = variable(name)) return std::pair(name, std::move(*text));
    }
    return std::nullopt;
  }

  std::optional<std::string> variable(const std::string& variable) const {
    std::string text;
    if (environment) {
      const auto found = environment->find(variable);
      if (found != environment->end()) text = found->second;
    } else if (const char* value = std::getenv(variable.c_str())) {
      text = value;
    }
    return text.empty() ? std::nullopt : std::optional(text);
  }

  void record(ResolvedValue value) {
    const auto [known, is_new] = record_of.emplace(value.key, records.size());
    if (is_new) {
      records.push_back(std::move(value));
    } else {
      records[known->second] = std::move(value);
    }
  }

  const YamlNode* find_node(const View& view, std::string_view key);
  std::optional<RawValue> find_raw(const View& view, std::string_view key);
  template <typename T>
  std::optional<T> resolve(const View& view, std::string_view key, const T* fallback);

  [[noreturn]] void fail_shape(const YamlNode& node, const std::string& key,
                               const char* what) const;
  std::string unknown_hint(const std::string& level, const std::string& key) const;
  void collect_unknown(const YamlNode& node, const std::string& path,
                       std::vector<UnknownKey>& unknown) const;
};

void Config::Document::fail_shape(const YamlNode& node, const std::string& key,
                                  const char* what) const {
  fail(ErrorKind::Usage, "[base.config] {}: {} must be {}; got {}, expected {}.", place(node.line),
       key, what, node.describe(),
       std::string_view(what) == "a mapping" ? "'key: value' lines under it"
                                             : "'- key: value' lines under it");
}

/// The node of a key below a view; "a.b" is searched literally first, then as b in a.
const YamlNode* Config::Document::find_node(const View& view, std::string_view key) {
  const YamlNode* node = view.node;
  std::string path = view.path;
  while (true) {
    if (node != nullptr) {
      if (const auto* found = node->find(key)) {
        read_at[path].emplace(key);
        return found;
      }
    }
    const auto dot = key.find('.');
    const auto head = key.substr(0, dot);
    read_at[path].emplace(head);
    if (dot == std::string_view::npos) return nullptr;
    path = dotted(path, head);
    if (node != nullptr) node = node->find(head);
    if (node != nullptr && node->kind == YamlNode::Kind::Null) node = nullptr;
    if (node != nullptr && node->kind != YamlNode::Kind::Mapping) {
      if (expected.contains(path)) return nullptr;  // a value here, a section in other files
      fail_shape(*node, path, "a mapping");
    }
    key.remove_prefix(dot + 1);
  }
}

/// The value of the highest layer that has one. A null there means "not given": lower layers are
/// hidden by it, so that a flag can undo what the file says.
std::optional<RawValue> Config::Document::find_raw(const View& view, std::string_view key) {
  const auto full = dotted(view.path, key);
  read_values.insert(full);
  const auto* node = find_node(view, key);
  RawValue raw;
  if (const auto flag = flags.find(full); flag != flags.end()) {
    raw = one_line_value(flag->second, "flag");
  } else if (const auto variable = variable_of(full)) {
    raw = one_line_value(variable->second, "environment " + variable->first);
  } else if (const auto other = implied.find(full);
             other != implied.end() && (node == nullptr || node->kind == YamlNode::Kind::Mapping)) {
    raw = other->second;
  } else if (node != nullptr) {
    raw = {*node, place(node->line), false};
  }
  return raw.node.kind == YamlNode::Kind::Null ? std::nullopt : std::optional(std::move(raw));
}

template <typename T>
std::optional<T> Config::Document::resolve(const View& view, std::string_view key,
                                           const T* fallback) {
  const auto full = dotted(view.path, key);
  std::optional<T> value;
  std::string source = "default";
  if (const auto raw = find_raw(view, key)) {
    value = convert_value<T>(*raw, full);
    source = raw->source;
  } else if (fallback != nullptr) {
    value = *fallback;
  }
  record({full, value ? value_text(*value) : "null", source});
  return value;
}

std::string Config::Document::unknown_hint(const std::string& level, const std::string& key) const {
  const auto known = read_at.find(level);
  std::vector<std::string> here;
  if (known != read_at.end()) here.assign(known->second.begin(), known->second.end());
  if (auto near = hint(key, here); !near.empty()) return near;
  for (const auto& [other, keys] : read_at) {
    if (keys.contains(key)) return fmt::format(" Did you mean '{}'?", dotted(other, key));
  }
  constexpr std::size_t kMostNamed = 12;
  if (here.empty() || here.size() > kMostNamed) return {};
  return fmt::format(" Known here: {}.", join(here, ", "));
}

void Config::Document::collect_unknown(const YamlNode& node, const std::string& path,
                                       std::vector<UnknownKey>& unknown) const {
  const auto level = read_at.find(path);
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const auto& item = node.items[i];
    if (node.kind == YamlNode::Kind::List) {
      collect_unknown(item, fmt::format("{}[{}]", path, i), unknown);
      continue;
    }
    const auto& key = node.keys[i];
    if (ignored.contains(dotted(path, key))) continue;
    if (level == read_at.end() || !level->second.contains(key)) {
      unknown.push_back({place(item.line), dotted(path, key), unknown_hint(path, key)});
    } else {
      collect_unknown(item, dotted(path, key), unknown);
    }
  }
}

Config::Config() : document_(std::make_shared<Document>()), view_(std::make_shared<View>()) {}

Config Config::from_file(const std::filesystem::path& path) {
  return from_text(read_file(path, 1LL << 24), path.string());
}

Config Config::from_text(std::string_view text, std::string name) {
  Config config;
  auto& document = *config.document_;
  document.root = parse_yaml(text, name);
  document.name = std::move(name);
  if (document.root.kind == YamlNode::Kind::Null) return config;
  if (document.root.kind != YamlNode::Kind::Mapping) {
    document.fail_shape(document.root, "the document", "a mapping");
  }
  config.view_->node = &document.root;
  return config;
}

void Config::set_flag(const std::string& dotted_key, const std::string& text) {
  document_->flags[dotted_key] = text;
}

void Config::set_environment(std::map<std::string, std::string> environment) {
  document_->environment = std::move(environment);
}

void Config::add_variable(const std::string& dotted_key, const std::string& variable) {
  document_->foreign_variables[dotted_key] = variable;
}

void Config::imply(const std::string& dotted_key, const std::string& text,
                   const std::string& source) {
  document_->implied.emplace(dotted_key, one_line_value(text, source));
}

bool Config::adopt(const std::string& dotted_key, std::string_view other) {
  auto raw = document_->find_raw(*view_, other);
  if (!raw) return false;
  document_->implied.emplace(dotted_key, std::move(*raw));
  return true;
}

template <typename T>
T Config::get(std::string_view key, T fallback) const {
  return *document_->resolve<T>(*view_, key, &fallback);
}

template <typename T>
std::optional<T> Config::find(std::string_view key) const {
  return document_->resolve<T>(*view_, key, nullptr);
}

template <typename T>
T Config::require(std::string_view key) const {
  auto value = find<T>(key);
  check(value.has_value(), ErrorKind::Usage, "[base.config] {}: {} is missing; expected {}.",
        where(""), dotted(view_->path, key), expected_value<T>());
  return std::move(*value);
}

std::int64_t Config::get_bytes(std::string_view key, std::int64_t fallback) const {
  const auto full = dotted(view_->path, key);
  const auto raw = document_->find_raw(*view_, key);
  const auto bytes = raw ? convert_bytes(*raw, full) : fallback;
  document_->record({full, value_text(bytes), raw ? raw->source : "default"});
  return bytes;
}

bool Config::has(std::string_view key) const {
  return document_->find_raw(*view_, key).has_value();
}

std::string Config::effective_name(const std::vector<std::string>& names) const {
  const auto strength = [](const std::string& source) {
    return source == "flag" ? 3 : source.starts_with("environment ") ? 2 : 1;
  };
  auto chosen = names.front();
  std::optional<RawValue> best;
  for (const auto& name : names) {
    auto raw = document_->find_raw(*view_, name);
    if (!raw || (best && strength(raw->source) < strength(best->source))) continue;
    check(!best || strength(raw->source) > strength(best->source) ||
              raw->node.text == best->node.text,
          ErrorKind::Usage,
          "[base.config] {}: {} and {} are one setting; got {} and {}, expected one of them.",
          raw->source, chosen, name, best ? best->node.text : "", raw->node.text);
    chosen = name;
    best = std::move(raw);
  }
  return chosen;
}

Config Config::section(std::string_view key) const {
  const auto* node = document_->find_node(*view_, key);
  const auto path = dotted(view_->path, key);
  Config section(*this);
  section.view_ = std::make_shared<View>(View{nullptr, path, view_->line});
  if (node == nullptr) return section;
  section.view_->line = node->line;
  if (node->kind == YamlNode::Kind::Null) return section;
  if (node->kind != YamlNode::Kind::Mapping) document_->fail_shape(*node, path, "a mapping");
  section.view_->node = node;
  return section;
}

std::vector<Config> Config::items(std::string_view key) const {
  const auto* node = document_->find_node(*view_, key);
  const auto path = dotted(view_->path, key);
  std::vector<Config> items;
  if (node == nullptr || node->kind == YamlNode::Kind::Null) return items;
  if (node->kind != YamlNode::Kind::List) document_->fail_shape(*node, path, "a list of mappings");
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const auto& item = node->items[i];
    const auto item_path = fmt::format("{}[{}]", path, i);
    if (item.kind != YamlNode::Kind::Mapping) document_->fail_shape(item, item_path, "a mapping");
    Config view(*this);
    view.view_ = std::make_shared<View>(View{&item, item_path, item.line});
    items.push_back(std::move(view));
  }
  return items;
}

std::vector<std::string> Config::keys() const {
  return view_->node != nullptr ? view_->node->keys : std::vector<std::string>();
}

void Config::ignore(std::string_view key) const {
  document_->ignored.insert(dotted(view_->path, key));
}

void Config::expect(std::string_view key) const {
  document_->expected.insert(dotted(view_->path, key));
  document_->find_raw(*view_, key);
}

void Config::finish() const {
  std::vector<UnknownKey> unknown;
  document_->collect_unknown(document_->root, "", unknown);
  const auto& read = document_->read_values;
  const std::vector<std::string> known(read.begin(), read.end());
  for (const auto& [key, text] : document_->flags) {
    if (!read.contains(key) && !document_->ignored.contains(key)) {
      unknown.push_back({"flag", key, hint(key, known)});
    }
  }
  if (unknown.empty()) return;
  std::vector<std::string> others;
  for (std::size_t i = 1; i < unknown.size(); ++i) {
    others.push_back(fmt::format("{} ({})", unknown[i].key, unknown[i].place));
  }
  fail(ErrorKind::Usage, "[base.config] {}: unknown key {}.{}{}", unknown[0].place, unknown[0].key,
       unknown[0].hint,
       others.empty() ? "" : fmt::format(" Also unknown: {}.", join(others, ", ")));
}

std::vector<ResolvedValue> Config::resolved() const { return document_->records; }

std::string Config::where(std::string_view key) const {
  if (key.empty()) return document_->place(view_->line);
  const auto raw = document_->find_raw(*view_, key);
  if (raw) return raw->source;
  return document_->place(view_->line);
}

#define UBIQUE_CONFIG_TYPE(T)                                        \
  template T Config::get<T>(std::string_view, T) const;              \
  template std::optional<T> Config::find<T>(std::string_view) const; \
  template T Config::require<T>(std::string_view) const;
UBIQUE_CONFIG_TYPE(bool)
UBIQUE_CONFIG_TYPE(int)
UBIQUE_CONFIG_TYPE(std::int64_t)
UBIQUE_CONFIG_TYPE(double)
UBIQUE_CONFIG_TYPE(std::string)
UBIQUE_CONFIG_TYPE(std::vector<std::string>)
UBIQUE_CONFIG_TYPE(std::vector<std::int64_t>)
UBIQUE_CONFIG_TYPE(std::vector<double>)
#undef UBIQUE_CONFIG_TYPE

}  // namespace ubique
