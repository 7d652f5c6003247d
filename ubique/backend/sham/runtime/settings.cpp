// SPDX-License-Identifier: Apache-2.0
// Parses the settings and holds the current ones.
#include "settings.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>

#include "mutations.h"
#include "op_names.h"
#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/numbers/dtype.h"
#include "ubique/base/text/text.h"

namespace ubique::backend::sham {
namespace {

using Words = std::vector<std::string>;
using Sections = std::map<std::string, Words>;

const Words kListKeys = {"refuse", "wrong", "fallback"};
const Words kValueKeys = {"memory", "max_buffer", "delay", "ledger"};
const Words kKeys = {"refuse", "wrong", "fallback", "memory", "max_buffer", "delay", "ledger"};

c10::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return c10::ScalarType::Bool;
    case DType::U8:
      return c10::ScalarType::Byte;
    case DType::I8:
      return c10::ScalarType::Char;
    case DType::U16:
      return c10::ScalarType::UInt16;
    case DType::I16:
      return c10::ScalarType::Short;
    case DType::U32:
      return c10::ScalarType::UInt32;
    case DType::I32:
      return c10::ScalarType::Int;
    case DType::U64:
      return c10::ScalarType::UInt64;
    case DType::I64:
      return c10::ScalarType::Long;
    case DType::F8E4M3:
      return c10::ScalarType::Float8_e4m3fn;
    case DType::F8E5M2:
      return c10::ScalarType::Float8_e5m2;
    case DType::F16:
      return c10::ScalarType::Half;
    case DType::BF16:
      return c10::ScalarType::BFloat16;
    case DType::F64:
      return c10::ScalarType::Double;
    case DType::C64:
      return c10::ScalarType::ComplexFloat;
    case DType::F32:
      break;
  }
  return c10::ScalarType::Float;
}

std::string parse_op(const std::string& key, const std::string& word) {
  auto op = full_op_name(word);
  const auto names = known_ops();
  check(std::binary_search(names.begin(), names.end(), op), ErrorKind::Usage,
        "[{}.settings] {} names an unknown op; got '{}', expected one of LibTorch's.{}",
        UBIQUE_BACKEND_NAME, key, word, hint(op, names));
  return op;
}

void read_refusals(const Words& words, Settings& settings) {
  for (const auto& word : words) {
    if (word.starts_with("op:")) {
      settings.refused_ops.insert(parse_op("refuse", word.substr(3)));
      continue;
    }
    const auto dtype = parse_dtype(word);
    check(
        dtype.has_value(), ErrorKind::Usage,
        "[{}.settings] refuse names an unknown thing; got '{}', expected a dtype (bf16, f16, i64) "
        "or op:NAME.{}",
        UBIQUE_BACKEND_NAME, word, hint(word, {"bf16", "fp16", "f16", "i64", "op:"}));
    settings.refused_dtypes.insert(scalar_type(*dtype));
  }
}

void read_wrongs(const Words& words, Settings& settings) {
  Words names;
  for (const auto& mutation : mutations()) names.emplace_back(mutation.name);
  for (const auto& word : words) {
    if (word.starts_with("op:")) {
      const auto op = parse_op("wrong", word.substr(3));
      check(reaches_device(op), ErrorKind::Usage,
            "[{}.settings] wrong=op:{} would change nothing: it is made of other ops or computes "
            "nothing, expected one "
            "that runs on the device itself. The ledger names those that ran.",
            UBIQUE_BACKEND_NAME, op);
      settings.wrong_ops.insert(op);
      settings.mutations.emplace(op, &bent_result());
      continue;
    }
    const auto found = std::find_if(mutations().begin(), mutations().end(),
                                    [&](const Mutation& m) { return m.name == word; });
    check(found != mutations().end(), ErrorKind::Usage,
          "[{}.settings] wrong names an unknown behaviour; got '{}', expected op:NAME or one of "
          "{}.{}",
          UBIQUE_BACKEND_NAME, word, join(names, ", "), hint(word, names));
    if (!settings.wrong.insert(word).second) continue;
    for (const auto op : found->ops) settings.mutations.emplace(std::string(op), &*found);
  }
}

const std::string& single_word(const std::string& key, const Words& words) {
  check(words.size() == 1, ErrorKind::Usage, "[{}.settings] {} takes one value; got {}.",
        UBIQUE_BACKEND_NAME, key, words.size());
  return words.front();
}

std::int64_t read_bytes(const std::string& key, const Words& words) {
  const auto& word = single_word(key, words);
  const auto bytes = parse_bytes(word);
  check(bytes.has_value() && *bytes > 0, ErrorKind::Usage,
        "[{}.settings] {} is no size; got '{}', expected for example 2GiB.", UBIQUE_BACKEND_NAME,
        key, word);
  return *bytes;
}

std::chrono::microseconds read_duration(const std::string& key, const Words& words) {
  const auto& word = single_word(key, words);
  std::int64_t value = 0;
  const auto end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, value);
  const auto unit = trim(std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)));
  const std::int64_t scale = unit == "us" ? 1 : unit == "ms" ? 1000 : unit == "s" ? 1000000 : 0;
  check(
      parsed.ec == std::errc() && scale > 0 && value >= 0 && value <= 60000000 / scale,
      ErrorKind::Usage,
      "[{}.settings] {} is no duration up to a minute; got '{}', expected for example 50us or 2ms.",
      UBIQUE_BACKEND_NAME, key, word);
  return std::chrono::microseconds(value * scale);
}

Sections sections_of_text(const std::string& text) {
  Sections sections;
  for (const auto& section : split(text, ';')) {
    const auto equals = section.find('=');
    const std::string key(trim(std::string_view(section).substr(0, equals)));
    check(equals != std::string::npos, ErrorKind::Usage,
          "[{}.settings] {} holds '{}', expected KEY=VALUES with a key of {}.{}",
          UBIQUE_BACKEND_NAME, settings_variable(), section, join(kKeys, ", "), hint(key, kKeys));
    auto& words = sections[key];
    for (auto& word : split(section.substr(equals + 1), ',')) words.push_back(std::move(word));
  }
  return sections;
}

Sections sections_of_file(const std::string& path) {
  auto config = Config::from_file(path);
  config.set_environment({});  // UBIQUE_MEMORY and the like configure the plan, not this device
  Sections sections;
  for (const auto& key : kListKeys) {
    if (auto words = config.find<Words>(key)) sections[key] = std::move(*words);
  }
  for (const auto& key : kValueKeys) {
    if (auto word = config.find<std::string>(key)) sections[key] = {std::move(*word)};
  }
  config.finish();
  return sections;
}

bool is_file_name(const std::string& text) {
  return text.starts_with('@') || text.ends_with(".yaml") || text.ends_with(".yml");
}

std::atomic<const Settings*>& current() {
  static std::atomic<const Settings*> settings{new Settings(parse_settings(""))};
  return settings;
}

}  // namespace

Settings parse_settings(const std::string& text) {
  const std::string trimmed(trim(text));
  const auto sections = is_file_name(trimmed)
                            ? sections_of_file(trimmed.substr(trimmed.starts_with('@') ? 1 : 0))
                            : sections_of_text(trimmed);
  Settings settings;
  settings.fallback_ops = ops_missing_on_metal();
  for (const auto& [key, words] : sections) {
    if (key == "refuse") {
      read_refusals(words, settings);
    } else if (key == "wrong") {
      read_wrongs(words, settings);
    } else if (key == "fallback") {
      settings.fallback_ops.clear();
      for (const auto& word : words) {
        settings.fallback_ops.insert(parse_op(key, word.substr(word.starts_with("op:") ? 3 : 0)));
      }
    } else if (key == "memory") {
      settings.memory = read_bytes(key, words);
    } else if (key == "max_buffer") {
      settings.max_buffer = read_bytes(key, words);
    } else if (key == "delay") {
      settings.delay = read_duration(key, words);
    } else if (key == "ledger") {
      settings.ledger = single_word(key, words);
    } else {
      fail(ErrorKind::Usage, "[{}.settings] unknown key in {}; got '{}', expected one of {}.{}",
           UBIQUE_BACKEND_NAME, settings_variable(), key, join(kKeys, ", "), hint(key, kKeys));
    }
  }
  return settings;
}

std::string settings_variable() {
  std::string name = std::string("ubique_") + UBIQUE_BACKEND_NAME;
  for (auto& c : name)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

const Settings& settings() { return *current().load(std::memory_order_acquire); }

void set_settings(Settings next) { current().store(new Settings(std::move(next))); }

}  // namespace ubique::backend::sham
