// SPDX-License-Identifier: Apache-2.0
// Reads and writes dataset.json.
#include <fmt/format.h>

#include "ubique/base/files/digest.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/data/code/code_set.h"

namespace ubique::data {
namespace {

constexpr int kCodeSetVersion = 1;
constexpr const char* kCodeSetSchema = "ubique.code_set";
constexpr std::int64_t kMostTokens = std::int64_t{1} << 48;

CodeSetHeader::Split read_split(JsonFields& fields, const std::string& name,
                                const std::string& where) {
  CodeSetHeader::Split split;
  JsonFields part(fields.take_json(name), "data.code", where + ": " + name);
  part.take("documents", split.documents);
  part.take("tokens", split.tokens);
  part.take("digest", split.digest);
  part.finish();
  check(split.documents >= 0 && split.documents < kMostTokens && split.tokens >= 0 &&
            split.tokens < kMostTokens,
        ErrorKind::Input, "[data.code] {}: {} has {} documents and {} tokens.", where, name,
        split.documents, split.tokens);
  return split;
}

Json split_json(const CodeSetHeader::Split& split) {
  return {{"documents", split.documents}, {"tokens", split.tokens}, {"digest", split.digest}};
}

Json object_field(JsonFields& fields, const std::string& key, const std::string& where) {
  auto json = fields.take_json(key);
  if (json.is_null()) json = Json::object();
  check(json.is_object(), ErrorKind::Input, "[data.code] {}: '{}' is {}, expected an object.",
        where, key, json.type_name());
  return json;
}

}  // namespace

bool is_code_set(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / "dataset.json", ignored)) return false;
  constexpr std::size_t kStart = 256;  // the schema is the first key
  return read_start(folder / "dataset.json", kStart).find(kCodeSetSchema) != std::string::npos;
}

CodeSetHeader read_code_set_header(const std::filesystem::path& folder) {
  const auto path = folder / "dataset.json";
  const auto where = path.string();
  std::error_code ignored;
  check(std::filesystem::exists(path, ignored), ErrorKind::Input,
        "[data.code] {} holds no data set: there is no dataset.json. Make one with 'ubique data "
        "codelm git' or 'ubique data codelm import'.",
        folder.string());
  JsonFields fields(parse_json(read_file(path), where), "data.code", where);
  std::string schema;
  int version = 0;
  std::int64_t width = 0;
  fields.take("schema", schema);
  fields.take("schema_version", version);
  check(schema == kCodeSetSchema, ErrorKind::Input,
        "[data.code] {} describes other data; got '{}', expected '{}'.", where, schema,
        kCodeSetSchema);
  check(version == kCodeSetVersion, ErrorKind::Input,
        "[data.code] {} has version {}; expected {}. A newer program made it.", where, version,
        kCodeSetVersion);
  CodeSetHeader header;
  fields.take("tokenizer_hash", header.tokenizer_hash);
  fields.take("vocabulary", header.vocabulary);
  fields.take("end_of_text", header.end_of_text);
  fields.take("bytes_per_token", width);
  header.train = read_split(fields, kTrainSplit, where);
  header.val = read_split(fields, kValSplit, where);
  header.source = object_field(fields, "source", where);
  header.options = object_field(fields, "options", where);
  header.dropped = object_field(fields, "dropped", where);
  header.state = object_field(fields, "state", where);
  fields.finish();
  check(header.vocabulary > 0 && header.vocabulary <= std::int64_t{1} << 31 &&
            header.end_of_text >= 0 && header.end_of_text < header.vocabulary &&
            width == static_cast<std::int64_t>(token_width(header.vocabulary)),
        ErrorKind::Input,
        "[data.code] {}: a vocabulary of {} with end of text {} and {} bytes per token cannot be.",
        where, header.vocabulary, header.end_of_text, width);
  return header;
}

std::string code_set_json(const CodeSetHeader& header) {
  auto json = json_document("code_set", kCodeSetVersion);
  json["tokenizer_hash"] = header.tokenizer_hash;
  json["vocabulary"] = header.vocabulary;
  json["end_of_text"] = header.end_of_text;
  json["bytes_per_token"] = token_width(header.vocabulary);
  json[kTrainSplit] = split_json(header.train);
  json[kValSplit] = split_json(header.val);
  json["source"] = header.source;
  json["options"] = header.options;
  json["dropped"] = header.dropped;
  json["state"] = header.state;
  return json_text(json, 2) + "\n";
}

std::string split_digest(std::span<const std::byte> ids, std::span<const std::byte> index) {
  return digest_of(digest_of(ids) + digest_of(index));
}

}  // namespace ubique::data
