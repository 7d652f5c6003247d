// SPDX-License-Identifier: Apache-2.0
// Metadata keys of both files; JSON values with non-finite numbers spelt out.
#include "ubique/engine/checkpoint/checkpoint_header.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"

namespace ubique::engine {
namespace {

constexpr const char* kFloatKey = "$float";  // {"$float": "inf"}: JSON has no such numbers

std::string float_name(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double float_named(const std::string& name) {
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return (name == "-inf" ? -1 : 1) * std::numeric_limits<double>::infinity();
}

/// Replaces non-finite numbers by objects, at any depth.
Json spell_floats(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return {{kFloatKey, float_name(value.get<double>())}};
  }
  if (!value.is_structured()) return value;
  Json spelt = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      spelt.push_back(spell_floats(item));
    } else {
      spelt[key] = spell_floats(item);
    }
  }
  return spelt;
}

/// The inverse of spell_floats, in place.
void read_floats(Json& value) {
  if (value.is_object() && value.size() == 1 && value.contains(kFloatKey) &&
      value[kFloatKey].is_string()) {
    value = float_named(value[kFloatKey].get<std::string>());
  } else if (value.is_structured()) {
    for (auto& item : value) read_floats(item);
  }
}

std::string text_of(const Json& value) { return json_text(spell_floats(value)); }

Json scores_json(const Scores& scores) {
  auto json = Json::object();
  for (const auto& [name, value] : scores) json[name] = value;
  return json;
}

/// Reads typed values from a file's metadata; Input errors name the file and the key.
class MetadataReader {
 public:
  MetadataReader(const io::Metadata& metadata, const std::string& file)
      : metadata_(metadata), file_(file) {}

  const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    check(found != metadata_.end(), ErrorKind::Input,
          "[engine.checkpoint] {} lacks '{}' in its header; expected a checkpoint of ours.", file_,
          key);
    return found->second;
  }

  Json json(const std::string& key) const {
    auto value = parse_json(text(key), fmt::format("{} ('{}' in its header)", file_, key));
    read_floats(value);
    return value;
  }

  std::int64_t integer(const std::string& key) const {
    const auto& digits = text(key);
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    check(error == std::errc() && rest == end, ErrorKind::Input,
          "[engine.checkpoint] {} has '{}' in its header; got '{}', expected a whole number.",
          file_, key, digits);
    return value;
  }

 private:
  const io::Metadata& metadata_;
  const std::string& file_;
};

}  // namespace

std::string program_version() { return "ubique " UBIQUE_VERSION; }

bool is_ours(const io::Metadata& metadata) {
  const auto version = metadata.find("version");
  return version != metadata.end() && version->second.starts_with("ubique ") &&
         metadata.count("family") == 1;
}

io::Metadata model_metadata(const Checkpoint& checkpoint) {
  return {{"format", "pt"},  // some Python loaders require it
          {"version", program_version()},
          {"family", checkpoint.family},
          {"config", text_of(checkpoint.config)},
          {"story", text_of(checkpoint.provenance)},
          {"epoch", std::to_string(checkpoint.epoch)},
          {"step", std::to_string(checkpoint.step)},
          {"scores", text_of(scores_json(checkpoint.scores))}};
}

void read_model_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out) {
  check(is_ours(metadata), ErrorKind::Input,
        "[engine.checkpoint] {} is not a checkpoint of ours; got a safetensors file without our "
        "header. If a family can read it, import it with convert.",
        file);
  const MetadataReader reader(metadata, file);
  try {
    out.family = reader.text("family");
    out.config = reader.json("config");
    out.provenance = reader.json("story");  // the key in files since the first version
    out.epoch = reader.integer("epoch");
    out.step = reader.integer("step");
    const auto scores = reader.json("scores");
    for (const auto& [name, value] : scores.items()) {
      out.scores.emplace_back(name, value.get<double>());
    }
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[engine.checkpoint] {} has values of the wrong kind in its header.",
         file);
  }
}

io::Metadata trainer_metadata(const Checkpoint& checkpoint) {
  io::Metadata metadata = {{"version", program_version()}};
  if (!checkpoint.trainer_state.is_null()) metadata["state"] = text_of(checkpoint.trainer_state);
  return metadata;
}

void read_trainer_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out) {
  if (metadata.count("state") == 0) return;
  try {
    out.trainer_state = MetadataReader(metadata, file).json("state");
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[engine.checkpoint] {} has values of the wrong kind in its header.",
         file);
  }
}

}  // namespace ubique::engine
