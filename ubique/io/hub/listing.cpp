// SPDX-License-Identifier: Apache-2.0
// Reads the hub's JSON, checks it, and picks files.
#include "ubique/io/hub/listing.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/hub/name.h"

namespace ubique::io {
namespace {

constexpr std::int64_t kLargestFile = std::int64_t{1} << 46U;  // 64 TiB
constexpr std::size_t kMostFiles = 100000;

/// A member of an object, or null.
const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_member(const Json& object, const char* key) {
  const auto& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// The licence in the model card, else in the tags ("license:mit").
std::string license_of(const Json& model) {
  const auto& card = member(model, "cardData");
  const auto& named = member(card, "license");
  if (named.is_array() && !named.empty() && named[0].is_string()) return named[0];
  auto license = text_member(card, "license");
  if (license == "other" && !text_member(card, "license_name").empty()) {
    license = text_member(card, "license_name");
  }
  if (!license.empty()) return license;
  for (const auto& tag : member(model, "tags")) {
    constexpr std::string_view kTag = "license:";
    if (!tag.is_string()) continue;
    const auto text = tag.get<std::string>();
    if (text.starts_with(kTag)) return text.substr(kTag.size());
  }
  return {};
}

HubFile parse_hub_file(const Json& entry, const std::string& where) {
  HubFile file;
  file.path = text_member(entry, "path");
  check(is_safe_path(file.path), ErrorKind::Input,
        "[io.hub] {} lists a file with the name '{}'; expected a path below the model's folder. "
        "Nothing was downloaded.",
        where, printable(file.path));
  const auto& lfs = member(entry, "lfs");
  const auto& size = member(lfs.is_object() ? lfs : entry, "size");
  file.kind = lfs.is_object() ? ShaKind::Sha256 : ShaKind::Sha1;
  file.digest = text_member(lfs.is_object() ? lfs : entry, "oid");
  constexpr std::string_view kAlgorithm = "sha256:";
  if (file.digest.starts_with(kAlgorithm)) file.digest.erase(0, kAlgorithm.size());
  check(size.is_number_integer() && size.get<double>() >= 0 &&
            size.get<double>() <= static_cast<double>(kLargestFile),
        ErrorKind::Input, "[io.hub] {}: the size of {} is {}; expected a number of bytes.", where,
        printable(file.path), printable(json_text(size)));
  file.bytes = size.get<std::int64_t>();
  check(is_hex(file.digest, file.kind == ShaKind::Sha256 ? 64 : 40), ErrorKind::Input,
        "[io.hub] {}: the digest of {} is '{}'; expected {} hexadecimal digits.", where,
        printable(file.path), printable(file.digest), file.kind == ShaKind::Sha256 ? 64 : 40);
  return file;
}

bool matches_any(const std::vector<std::string>& globs, const std::string& path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0 ||
           ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace

HubModel parse_hub_model(std::string_view text, const std::string& where) {
  const auto json = parse_json(text, where);
  HubModel model;
  model.commit = text_member(json, "sha");
  check(is_hex(model.commit), ErrorKind::Input,
        "[io.hub] {}: the commit is '{}'; expected 40 hexadecimal digits.", where,
        printable(model.commit));
  model.license = printable(license_of(json), 80);
  const auto& gated = member(json, "gated");
  model.gated = gated.is_string() || (gated.is_boolean() && gated.get<bool>());
  return model;
}

void parse_hub_tree(std::string_view text, const std::string& where, std::vector<HubFile>& files) {
  const auto json = parse_json(text, where);
  check(json.is_array(), ErrorKind::Input, "[io.hub] {} is {}; expected a list of files.", where,
        json.type_name());
  for (const auto& entry : json) {
    if (text_member(entry, "type") == "directory") continue;
    files.push_back(parse_hub_file(entry, where));
    check(files.size() <= kMostFiles, ErrorKind::Input,
          "[io.hub] {} lists more than {} files; expected a model.", where, kMostFiles);
  }
}

void check_hub_files(const std::vector<HubFile>& files, const std::string& where) {
  std::set<std::string> names, folders;
  for (const auto& file : files) {
    // Some file systems take upper and lower case for the same.
    const auto path = lowercase(file.path);
    check(names.insert(path).second, ErrorKind::Input,
          "[io.hub] {} lists {} twice, or with other capitals; expected each name once.", where,
          printable(file.path));
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      folders.insert(path.substr(0, slash));
    }
  }
  for (const auto& folder : folders) {
    check(!names.contains(folder), ErrorKind::Input,
          "[io.hub] {} lists {} as a file and as a folder; expected one of them.", where,
          printable(folder));
  }
}

bool is_wanted_kind(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEndings{".safetensors", ".json",  ".txt",
                                                     ".md",          ".jinja", ".yaml"};
  constexpr std::array<std::string_view, 4> kNames{"license", "licence", "notice", "use_policy"};
  const auto name = lowercase(path.substr(path.rfind('/') + 1));
  return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); }) ||
         std::ranges::find(kNames, name) != kNames.end();
}

std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const FileChoice& choice,
                                  std::int64_t& left_out) {
  std::vector<HubFile> chosen;
  for (const auto& file : files) {
    if (is_wanted_kind(file.path) &&
        (choice.include.empty() || matches_any(choice.include, file.path)) &&
        !matches_any(choice.exclude, file.path)) {
      chosen.push_back(file);
    } else {
      ++left_out;
    }
  }
  return chosen;
}

Sha begin_digest(const HubFile& file) {
  Sha sha(file.kind);
  if (file.kind == ShaKind::Sha1) {
    sha.add(fmt::format("blob {}", file.bytes));
    sha.add(std::string_view("\0", 1));
  }
  return sha;
}

}  // namespace ubique::io
