// SPDX-License-Identifier: Apache-2.0
// Text attributes of HDF5 objects: of fixed length in place, of any length in the file's heap.
// What a group of an HDF5 file holds: names and places, of both generations of the format.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/hdf5_object.h"

namespace ubique::io {

/// Nothing for an attribute that is no text.
std::optional<Hdf5Attribute> hdf5_attribute(const Hdf5Source& source, const std::string& owner,
                                            std::span<const std::byte> message);

using Hdf5Link = std::pair<std::string, std::uint64_t>;  ///< name, place of the object

/// Follows the trees and lists of groups; each part of a file is entered once, so that no file can
/// lead in circles.
class Hdf5Links {
 public:
  explicit Hdf5Links(const Hdf5Source& source) : source_(source) {}

  /// In order of the names. Links to other names and other files are passed over.
  std::vector<Hdf5Link> of(const std::vector<Hdf5Part>& parts);
  /// Damaged if this place was entered before.
  void enter(std::uint64_t place);

 private:
  void add_table(std::span<const std::byte> message);
  void add_tree(std::uint64_t place, std::uint64_t above, std::span<const std::byte> names);
  void add_node(std::uint64_t place, std::span<const std::byte> names);
  void add_link(std::span<const std::byte> message);
  void add(std::string name, std::uint64_t place);

  const Hdf5Source& source_;
  std::set<std::uint64_t> entered_;
  std::vector<Hdf5Link> links_;
};

}  // namespace ubique::io
