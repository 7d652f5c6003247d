// SPDX-License-Identifier: Apache-2.0
// Reads Python pickles (protocols 2 to 5) into a tree of plain values, by a stack machine that
// imports and calls nothing: an allowed name becomes a Global node, a call of it a Call node, and
// the caller gives them a meaning. Any other name is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

using PickleId = std::uint32_t;  ///< index into Pickle::nodes

enum class PickleKind {
  None,
  Bool,
  Int,       ///< fits std::int64_t
  Unsigned,  ///< from 2^63 to 2^64-1; larger ones are Text, "0x..."
  Float,
  Text,  ///< UTF-8
  Bytes,
  Tuple,
  List,
  Set,
  Dict,
  Global,      ///< text: "module.name"
  Call,        ///< of a Global
  Persistent,  ///< an object outside the pickle; items: its identity
};

struct PickleNode {
  PickleKind kind = PickleKind::None;
  std::int64_t integer = 0;  ///< Bool, Int; the bits of Unsigned
  double number = 0;         ///< Float
  std::string text = {};     ///< Text, Bytes, Global; Call: the Global's
  /// Tuple, List, Set; Dict: key, value, key, value, ...; Call: such pairs, set on its result.
  std::vector<PickleId> items = {};
  PickleId arguments = 0;              ///< Call: a Tuple
  std::optional<PickleId> state = {};  ///< Call: the state that BUILD sets
};

struct Pickle {
  std::vector<PickleNode> nodes;
  PickleId root = 0;

  const PickleNode& operator[](PickleId id) const { return nodes[id]; }
};

/// Nodes may be shared, and a list may contain itself: the caller must limit depth and work. Input
/// error for a name that is not in `allowed` ("module.name"), for opcodes that plain values do not
/// need, and for bytes that are cut short or inconsistent. Error messages call the file `file`.
Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& file,
                    std::span<const std::string_view> allowed);
/// Parses the pickle at the start of `bytes` and removes it from them.
Pickle parse_first_pickle(std::span<const std::byte>& bytes, const std::string& file,
                          std::span<const std::string_view> allowed);

}  // namespace ubique::io
