// SPDX-License-Identifier: Apache-2.0
// Text attributes and links of HDF5 objects. Links (the members of a group) are read in both
// generations of the format; texts of variable length come from the file's heap.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/hdf5_object.h"

namespace ubique::io {

/// Nothing for an attribute that is not text.
std::optional<Hdf5Attribute> hdf5_attribute(const Hdf5Source& source, const std::string& owner,
                                            std::span<const std::byte> message);

using Hdf5Link = std::pair<std::string, std::uint64_t>;  ///< name, address of the object

/// Reads the links of groups. Each part of the file may be entered once, which excludes cycles.
class Hdf5Links {
 public:
  explicit Hdf5Links(const Hdf5Source& source) : source_(source) {}

  /// Sorted by name. Soft and external links are skipped.
  std::vector<Hdf5Link> of(const std::vector<Hdf5Part>& parts);
  /// Input error if this address was entered before.
  void enter(std::uint64_t address);

 private:
  void add_table(std::span<const std::byte> message);
  void add_tree(std::uint64_t address, std::uint64_t above, std::span<const std::byte> names);
  void add_node(std::uint64_t address, std::span<const std::byte> names);
  void add_link(std::span<const std::byte> message);
  void add(std::string name, std::uint64_t address);

  const Hdf5Source& source_;
  std::set<std::uint64_t> entered_;
  std::vector<Hdf5Link> links_;
};

}  // namespace ubique::io
