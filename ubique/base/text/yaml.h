// SPDX-License-Identifier: Apache-2.0
// YAML text as a plain tree that keeps line numbers. Only yaml.cpp uses the YAML library; config.h
// turns scalars into typed values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ubique {

struct YamlNode {
  enum class Kind { Null, Scalar, List, Mapping };

  Kind kind = Kind::Null;
  int line = 0;                   ///< from 1; of the key for a value in a mapping
  std::string text;               ///< of a scalar, without quotes
  std::vector<YamlNode> items;    ///< of a list, or the values of a mapping
  std::vector<std::string> keys;  ///< of a mapping: keys[i] names items[i], in the file's order

  const YamlNode* find(std::string_view key) const;  ///< nullptr if absent
  std::string describe() const;                      ///< "'fast'", "a list": for messages
};

/// One document; an empty text is Null. Input error naming name:line for what is not YAML, and for
/// duplicate keys, keys that are not plain words, aliases, merge keys, several documents, control
/// characters, more than 64 levels or 1 MiB.
YamlNode parse_yaml(std::string_view text, const std::string& name);

}  // namespace ubique
