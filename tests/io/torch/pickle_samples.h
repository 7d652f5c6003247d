// SPDX-License-Identifier: Apache-2.0
// Pickles written opcode by opcode and PyTorch archives made of them, so that the tests of the
// readers do not depend on the writers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/io/archive/zip_samples.h"

namespace ubique::test::pickled {

inline std::string whole(const std::string& body) { return "\x80\x02" + body + "."; }

inline std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }
inline std::string integer(std::int64_t value) {
  return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const auto& item : items) out += item;
  return out + "t";
}
inline std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const auto& item : items) out += item;
  return out + "e";
}
using Pairs = std::vector<std::pair<std::string, std::string>>;
inline std::string set_items(const Pairs& pairs) {
  std::string out = "(";
  for (const auto& [key, value] : pairs) out += key + value;
  return out + "u";
}
inline std::string dict(const Pairs& pairs) { return "}" + set_items(pairs); }
inline std::string call(const std::string& callee, const std::vector<std::string>& arguments) {
  return callee + tuple(arguments) + "R";
}
inline std::string ordered_dict(const Pairs& pairs = {}) {
  const auto empty = global("collections", "OrderedDict") + ")R";
  return pairs.empty() ? empty : empty + set_items(pairs);
}

inline std::string storage(const std::string& type, const std::string& key, std::int64_t elements,
                           const std::string& device = "cpu") {
  return tuple(
             {text("storage"), global("torch", type), text(key), text(device), integer(elements)}) +
         "Q";
}

inline std::string counts(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const auto value : values) items.push_back(integer(value));
  return tuple(items);
}

inline std::string tensor(const std::string& storage, std::int64_t offset,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              {storage, integer(offset), counts(shape), counts(strides), "\x89", ordered_dict()});
}

/// The bytes of a storage.
inline std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// An archive like torch.save's, of a pickle and its storages ("0" is the first).
inline std::string archive(const std::string& body, const std::vector<std::string>& storages = {},
                           const std::vector<SampleEntry>& more = {}) {
  std::vector<SampleEntry> entries = {{"archive/data.pkl", whole(body)},
                                      {"archive/byteorder", "little"}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    entries.push_back({"archive/data/" + std::to_string(i), storages[i], {}, 8});
  }
  entries.push_back({"archive/version", "3\n"});
  entries.insert(entries.end(), more.begin(), more.end());
  return zip_of(entries);
}

/// The format before PyTorch 1.6: pickles in a row, then storages, each as element count and
/// values.
struct LegacyStorage {
  std::int64_t elements = 0;
  std::string bytes;
};
struct LegacyParts {
  std::string version = whole(integer(1001));
  std::string facts = whole(dict({{text("protocol_version"), integer(1001)},
                                  {text("little_endian"), "\x88"},
                                  {text("type_sizes"), dict({{text("int"), integer(4)}})}}));
  std::string keys = {};  ///< empty: "0", "1", ...
};
inline std::string legacy(const std::string& body, const std::vector<LegacyStorage>& storages,
                          const LegacyParts& parts = {}) {
  std::vector<std::string> keys;
  std::string values;
  for (const auto& storage : storages) {
    keys.push_back(text(std::to_string(keys.size())));
    values += little(static_cast<std::uint64_t>(storage.elements), 8) + storage.bytes;
  }
  const std::string magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  return magic + parts.version + parts.facts + whole(body) +
         (parts.keys.empty() ? whole(list(keys)) : parts.keys) + values;
}
/// The identity of a storage in that format: with a sixth value.
inline std::string legacy_storage(const std::string& type, const std::string& key,
                                  std::int64_t elements, const std::string& part = "N") {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(elements),
                part}) +
         "Q";
}

}  // namespace ubique::test::pickled
