// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a request.
#include "ubique/serve/jobs/request.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/hub/name.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kLongestText = 64 << 10U;
constexpr std::size_t kLongestFile = 1 << 20U;
constexpr std::size_t kMostInputs = 1000;

/// A text that becomes one word of a command line.
void check_word(const std::string& text, const std::string& what) {
  check(text.size() <= kLongestText, ErrorKind::Usage,
        "[serve.job] {} is too long; got {} bytes, expected {} at most.", what, text.size(),
        kLongestText);
  check(text.find('\0') == std::string::npos && is_utf8(text), ErrorKind::Usage,
        "[serve.job] {} is no text; got bytes that are not UTF-8, or a zero.", what);
}

bool is_short_text(const Json& json) { return json.is_object() && json.contains("text"); }

/// Short texts that are kept as files when everything has been checked.
struct TextFile {
  std::string name, text;
};

TextFile read_text_file(const Json& json) {
  JsonFields fields(json, "serve.job", "an input");
  TextFile file{.name = "input.txt", .text = {}};
  fields.take("text", file.text);
  fields.take("name", file.name);
  fields.finish();
  check(file.text.size() <= kLongestFile, ErrorKind::Usage,
        "[serve.job] an input's text is too long; got {} bytes, expected {} at most. Upload it.",
        file.text.size(), kLongestFile);
  return file;
}

class RequestReader {
 public:
  RequestReader(const Json& json, const CommandTable& table, const Keep& keep,
                const CheckReference& check_reference)
      : fields_(json, "serve.job", "the job"),
        table_(table),
        keep_(keep),
        check_reference_(check_reference) {}

  JobRequest read() {
    fields_.take("verb", request_.verb);
    fields_.take("family", request_.family);
    fields_.take("name", request_.name);
    fields_.take("title", request_.title);
    if (const auto json = fields_.take_json("priority"); !json.is_null()) {
      request_.priority = priority_of(json);
    }
    fields_.take("model", request_.model);
    auto inputs = fields_.take_json("inputs");
    auto options = fields_.take_json("options");
    fields_.finish();
    row_ = &table_.find(request_.verb, request_.family, request_.name);
    check_rest();
    read_inputs(inputs);
    read_model();
    read_options(options);
    keep_all();
    return std::move(request_);
  }

 private:
  void check_rest() const {
    check_word(request_.title, "the title");
    check(request_.title.size() <= 400, ErrorKind::Usage, "[serve.job] the title is too long.");
  }

  void take_reference(const std::string& reference) const {
    check_word(reference, "a reference");
    check_reference_(reference);
  }

  void read_inputs(const Json& inputs) {
    const bool none = inputs.is_null() || inputs.empty();
    check(!none || row_->inputs.empty() || row_->inputs.starts_with('['), ErrorKind::Usage,
          "[serve.job] '{}' needs inputs; expected {}.", row_->words(), row_->inputs);
    if (none) return;
    check(inputs.is_array() && inputs.size() <= kMostInputs, ErrorKind::Usage,
          "[serve.job] \"inputs\"; expected a list of at most {} references.", kMostInputs);
    check(!row_->inputs.empty(), ErrorKind::Usage, "[serve.job] '{}' takes no inputs; got {}.",
          row_->words(), inputs.size());
    check(inputs.size() <= 1 || row_->takes_several_inputs(), ErrorKind::Usage,
          "[serve.job] '{}' takes one input; got {}.", row_->words(), inputs.size());
    const bool names = request_.verb == "pull";
    for (const auto& input : inputs) {
      request_.inputs.push_back(names ? hub_name_of(input) : reference_of(input, "an input"));
    }
  }

  /// The name of a model on a hub, which is a word of the command line by itself.
  static std::string hub_name_of(const Json& json) {
    const auto name = json.is_string() ? json.get<std::string>() : std::string();
    check(name.starts_with("hf:") && io::parse_hub_name(name).has_value(), ErrorKind::Usage,
          "[serve.job] no model of a hub; got {}, expected \"hf:OWNER/NAME\".",
          printable(json_text(json), 80));
    return name;
  }

  std::string mark_of_text(const Json& json) {
    texts_.push_back(read_text_file(json));
    return fmt::format("{}{}", kTextMark, texts_.size() - 1);
  }

  /// Uploads and texts that shall lie beside each other.
  std::string mark_of_folder(const Json& json) {
    JsonFields fields(json, "serve.job", "a folder");
    const auto list = fields.take_json("folder");
    fields.finish();
    check(list.is_array() && !list.empty() && list.size() <= kMostInputs, ErrorKind::Usage,
          "[serve.job] \"folder\"; expected a list of 1 to {} uploads or texts.", kMostInputs);
    std::vector<std::string> parts;
    for (const auto& part : list) {
      const bool upload = part.is_string() && part.get<std::string>().starts_with("upload:");
      check(upload || is_short_text(part), ErrorKind::Usage,
            "[serve.job] a folder holds uploads and texts; got {}.",
            printable(json_text(part), 80));
      if (upload) take_reference(part.get<std::string>());
      parts.push_back(upload ? part.get<std::string>() : mark_of_text(part));
    }
    folders_.push_back(std::move(parts));
    return fmt::format("{}{}", kFolderMark, folders_.size() - 1);
  }

  /// A reference, or a mark for a text or a folder that is kept later.
  std::string reference_of(const Json& json, const std::string& what) {
    if (is_short_text(json)) return mark_of_text(json);
    if (json.is_object() && json.contains("folder")) return mark_of_folder(json);
    check(
        json.is_string(), ErrorKind::Usage,
        "[serve.job] {}; got {}, expected a reference such as \"upload:ID\" or {{\"text\": ...}}.",
        what, printable(json_text(json), 80));
    const auto reference = json.get<std::string>();
    take_reference(reference);
    return reference;
  }

  void read_model() {
    if (request_.model.empty()) {
      check(!row_->needs_model, ErrorKind::Usage, "[serve.job] '{}' needs a model.", row_->words());
      return;
    }
    check(row_->needs_model || row_->find("model") != nullptr, ErrorKind::Usage,
          "[serve.job] '{}' takes no model.", row_->words());
    take_reference(request_.model);
  }

  void read_options(const Json& options) {
    if (options.is_null()) return;
    check(options.is_object(), ErrorKind::Usage, "[serve.job] \"options\"; expected an object.");
    std::vector<std::string> known;
    for (const auto& option : row_->options) known.push_back(option.key);
    for (const auto& [key, value] : options.items()) {
      const auto* option = row_->find(key);
      check(option != nullptr, ErrorKind::Usage, "[serve.job] '{}' has no option '{}'.{}",
            row_->words(), printable(key, 60), hint(key, known));
      if (value.is_null()) continue;
      check(key != "model" || request_.model.empty(), ErrorKind::Usage,
            "[serve.job] the model is given twice.");
      request_.options[key] = option_value(*option, value);
    }
  }

  Json option_value(const OptionRow& option, const Json& value) {
    if (option.is_switch()) {
      check(value.is_boolean(), ErrorKind::Usage,
            "[serve.job] option '{}'; got {}, expected true or false.", option.key,
            printable(json_text(value), 60));
      return value;
    }
    if (value.is_array()) {
      auto list = Json::array();
      for (const auto& item : value) list.push_back(single_value(option, item));
      return list;
    }
    return single_value(option, value);
  }

  Json single_value(const OptionRow& option, const Json& value) {
    if (option.is_path() && value.is_string()) {
      take_reference(weighted_reference(option, value.get<std::string>()).reference);
      return value;
    }
    if (option.is_path()) return reference_of(value, "option '" + option.key + "'");
    check(value.is_string() || value.is_number() || value.is_boolean(), ErrorKind::Usage,
          "[serve.job] option '{}'; got {}, expected a number or a text.", option.key,
          printable(json_text(value), 60));
    if (value.is_string()) check_word(value.get<std::string>(), "option '" + option.key + "'");
    return value;
  }

  void keep_all() {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const auto mark = fmt::format("{}{}", kTextMark, i);
      const auto reference = keep_.text(texts_[i].name, texts_[i].text);
      for (auto& parts : folders_) std::ranges::replace(parts, mark, reference);
      replace_mark(mark, reference);
    }
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      replace_mark(fmt::format("{}{}", kFolderMark, i), keep_.folder(folders_[i]));
    }
  }

  void replace_mark(const std::string& mark, const std::string& reference) {
    std::ranges::replace(request_.inputs, mark, reference);
    for (auto& [key, value] : request_.options.items()) {
      if (value == mark) value = reference;
      if (!value.is_array()) continue;
      for (auto& item : value) {
        if (item == mark) item = reference;
      }
    }
  }

  // In no text that was checked.
  static constexpr std::string_view kTextMark = "\x01text:", kFolderMark =
                                                                 "\x01"
                                                                 "folder:";

  JsonFields fields_;
  const CommandTable& table_;
  const Keep& keep_;
  const CheckReference& check_reference_;
  const CommandRow* row_ = nullptr;
  JobRequest request_;
  std::vector<TextFile> texts_;
  std::vector<std::vector<std::string>> folders_;  // references, and marks of texts
};

}  // namespace

JobRequest read_request(const Json& json, const CommandTable& table, const Keep& keep,
                        const CheckReference& check_reference) {
  return RequestReader(json, table, keep, check_reference).read();
}

int priority_of(const Json& json) {
  const double number = json.is_number() ? json.get<double>() : 1e9;
  check(std::abs(number) <= 100 && std::floor(number) == number, ErrorKind::Usage,
        "[serve.job] the priority; got {}, expected a whole number of -100 to 100.",
        printable(json_text(json), 60));
  return static_cast<int>(number);
}

Json request_json(const JobRequest& request) {
  return {{"verb", request.verb},     {"family", request.family},    {"name", request.name},
          {"inputs", request.inputs}, {"model", request.model},      {"options", request.options},
          {"title", request.title},   {"priority", request.priority}};
}

JobRequest stored_request(const Json& json) {
  JobRequest request;
  request.verb = json.value("verb", "");
  request.family = json.value("family", "");
  request.name = json.value("name", "");
  request.inputs = json.value("inputs", std::vector<std::string>());
  request.model = json.value("model", "");
  request.options = json.value("options", Json::object());
  request.title = json.value("title", "");
  request.priority = json.value("priority", 0);
  return request;
}

std::vector<std::string> references_of(const JobRequest& request, const CommandTable& table) {
  auto references = request.inputs;
  if (!request.model.empty()) references.push_back(request.model);
  const auto& row = table.find(request.verb, request.family, request.name);
  for (const auto& [key, value] : request.options.items()) {
    const auto* option = row.find(key);
    if (option == nullptr || !option->is_path()) continue;
    for (const auto& item : value.is_array() ? value : Json::array({value})) {
      references.push_back(weighted_reference(*option, item.get<std::string>()).reference);
    }
  }
  return references;
}

std::string usual_title(const JobRequest& request) {
  if (!request.title.empty()) return request.title;
  auto words = request.verb;
  if (!request.family.empty()) words += " " + request.family;
  if (!request.name.empty()) words += " " + request.name;
  for (const auto* key : {"tags", "prompt", "preset", "data", "only"}) {
    const auto found = request.options.find(key);
    if (found == request.options.end() || !found->is_string()) continue;
    return words + ": " + printable(found->get<std::string>(), 80);
  }
  return words;
}

}  // namespace ubique::serve
