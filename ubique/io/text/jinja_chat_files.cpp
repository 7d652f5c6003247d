// SPDX-License-Identifier: Apache-2.0
// Finds the chat template of a model folder, its special tokens, and the tokens that end a reply.
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/text/jinja/parser.h"
#include "ubique/io/text/jinja_chat.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongestConfig = 1LL << 26;  // bytes; lists of special tokens are long

/// Null if there is no such file.
Json folder_json(const fs::path& folder, const char* name) {
  const auto path = folder / name;
  if (!fs::exists(path)) return {};
  return parse_json(read_file(path, kLongestConfig), path.string());
}

const Json* entry_in(const Json& object, const std::string& key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? nullptr : &*found;
}

/// The template named default of a list of {"name", "template"}.
std::string default_template(const Json& list, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& each : list) {
    const auto* name = entry_in(each, "name");
    const auto* text = entry_in(each, "template");
    const bool whole = name != nullptr && name->is_string() && text != nullptr && text->is_string();
    check(whole, ErrorKind::Input,
          "[io.chat] {}: an entry of chat_template lacks its name or template.", where);
    if (*name == "default") return text->get<std::string>();
    names.push_back("'" + printable(name->get<std::string>(), 40) + "'");
  }
  fail(ErrorKind::Input, "[io.chat] {} has no chat template named 'default'; got {}.", where,
       names.empty() ? "none" : join(names, ", "));
}

void read_source(const fs::path& folder, const Json& config, JinjaChat& chat) {
  const auto file = folder / "chat_template.jinja";
  const auto settings = (folder / "tokenizer_config.json").string();
  if (fs::exists(file)) {
    chat.where = file.string();
    chat.source = read_file(file, static_cast<std::int64_t>(jinja::kLongestTemplate));
    return;
  }
  const auto* entry = entry_in(config, "chat_template");
  const bool known = entry != nullptr && (entry->is_string() || entry->is_array());
  check(known, ErrorKind::Input,
        "[io.chat] {} has no chat template; expected chat_template.jinja, or chat_template in "
        "tokenizer_config.json. A model that was not trained on conversations has none: take its "
        "instruct version, or write a chat_template.jinja into the folder.",
        folder.string());
  chat.where = "chat_template of " + settings;
  chat.source = entry->is_string() ? entry->get<std::string>() : default_template(*entry, settings);
}

/// "<s>" or {"content": "<s>", ...}.
std::optional<std::string> token_text(const Json* entry) {
  if (entry != nullptr && entry->is_object()) entry = entry_in(*entry, "content");
  if (entry == nullptr || !entry->is_string()) return std::nullopt;
  return entry->get<std::string>();
}

void read_special(const Json& config, const Json& map, const Tokenizer& tokenizer,
                  JinjaChat& chat) {
  for (const auto* role : {"bos", "eos", "unk", "sep", "pad", "cls", "mask"}) {
    const auto name = std::string(role) + "_token";
    auto text = token_text(entry_in(config, name));
    if (!text) text = token_text(entry_in(map, name));
    if (!text) continue;
    chat.variables.emplace_back(name, *text);
    const auto id = tokenizer.find(*text);
    if (name == "eos_token" && id) chat.ends.push_back(*id);
  }
}

/// eos_token_id, one or several.
void read_ends(const Json& config, const Tokenizer& tokenizer, JinjaChat& chat) {
  const auto* entry = entry_in(config, "eos_token_id");
  if (entry == nullptr) return;
  for (const auto& id : entry->is_array() ? *entry : Json::array({*entry})) {
    const auto valid = id.is_number_integer() && id >= 0 && id < tokenizer.size();
    if (valid) chat.ends.push_back(id.get<std::int32_t>());
  }
}

}  // namespace

bool has_chat_template(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "chat_template.jinja", ignored)) return true;
  return entry_in(folder_json(folder, "tokenizer_config.json"), "chat_template") != nullptr;
}

std::unique_ptr<ChatTemplate> read_chat_template(const fs::path& folder,
                                                 const Tokenizer& tokenizer) {
  JinjaChat chat;
  const auto config = folder_json(folder, "tokenizer_config.json");
  read_source(folder, config, chat);
  read_special(config, folder_json(folder, "special_tokens_map.json"), tokenizer, chat);
  read_ends(folder_json(folder, "generation_config.json"), tokenizer, chat);
  return std::make_unique<JinjaTemplate>(tokenizer, chat);
}

}  // namespace ubique::io
