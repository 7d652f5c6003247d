// SPDX-License-Identifier: Apache-2.0
// Python pickles (protocols 2 to 5) as a tree of plain values. A stack machine that imports nothing
// and calls nothing: a name from a short list becomes a Global, a call of it a Call, and what they
// mean is the reader's business. Any other name is refused. Knows no torch and no NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

using PickleId = std::uint32_t;  ///< place of a node in Pickle::nodes

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
  Persistent,  ///< something kept outside of the pickle; items: what it is known by
};

struct PickleNode {
  PickleKind kind = PickleKind::None;
  std::int64_t integer = 0;  ///< Bool, Int; the bits of Unsigned
  double number = 0;         ///< Float
  std::string text = {};     ///< Text, Bytes, Global; Call: the Global's
  /// Tuple, List, Set; Dict: key, value, key, value, ...; Call: the same pairs, set on its result.
  std::vector<PickleId> items = {};
  PickleId arguments = 0;              ///< Call: a Tuple
  std::optional<PickleId> state = {};  ///< Call: what the result was given by BUILD
};

struct Pickle {
  std::vector<PickleNode> nodes;
  PickleId root = 0;

  const PickleNode& operator[](PickleId id) const { return nodes[id]; }
};

/// Nodes may be shared, and a list may hold itself: who walks the tree limits depth and work. Input
/// error for a name that is not in `allowed` ("module.name"), for opcodes that these protocols'
/// plain values do not need, and for anything cut short or inconsistent. `file` stands for the file
/// in messages.
Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& file,
                    std::span<const std::string_view> allowed);
/// The pickle that `bytes` begin with; they are left with what follows it.
Pickle parse_first_pickle(std::span<const std::byte>& bytes, const std::string& file,
                          std::span<const std::string_view> allowed);

}  // namespace ubique::io
