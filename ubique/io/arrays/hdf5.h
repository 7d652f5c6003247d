// SPDX-License-Identifier: Apache-2.0
// HDF5 files as Keras stores weights: groups, tensors and text attributes, read and written. Not
// the whole format: no compression, no compound types; the error names what is not supported.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

/// A text attribute, or a list of texts, of a group or tensor.
struct Hdf5Attribute {
  std::string owner;  ///< path without slash at either end; empty for the file itself
  std::string name;
  std::vector<std::string> texts;
  bool list = false;  ///< false: one text
};

/// The content of one file. Tensors are named by their paths: "layers/conv2d/vars/0".
struct Hdf5Content {
  std::vector<TensorInfo> tensors;  ///< begin and end count from the start of the file
  std::vector<bool> swapped;        ///< for each tensor: not this machine's byte order
  std::vector<std::string> groups;  ///< paths, parents first
  std::vector<Hdf5Attribute> attributes;
};

/// Input error, which says what to do, for files that are damaged or cut short and for compressed,
/// chunked or external tensors. Attributes that are not text and tensors of texts are skipped.
Hdf5Content parse_hdf5(std::span<const std::byte> file, const std::string& name);

class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  /// Sorted by path.
  const std::vector<TensorInfo>& tensors() const { return content_.tensors; }
  const std::vector<std::string>& groups() const { return content_.groups; }
  const std::vector<Hdf5Attribute>& attributes() const { return content_.attributes; }
  /// nullptr if there is no such tensor.
  const TensorInfo* find(std::string_view path) const;
  /// Empty if there is none. Joins a list that Keras split into pieces (name0, name1, ...).
  std::vector<std::string> texts(std::string_view owner, std::string_view name) const;

  /// One of tensors(), with its values.
  HostTensor read(const TensorInfo& tensor) const;

 private:
  MappedFile file_;
  Hdf5Content content_;
};

/// Writes a file for h5py, Keras and HDF5's own tools. Creates the groups that the tensors' paths
/// and the attributes' owners name. Atomic. Internal error for paths given twice, for a path that
/// is both tensor and group, and for types that HDF5 lacks; Input error for an attribute beyond 60
/// KiB.
void write_hdf5(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                std::span<const Hdf5Attribute> attributes = {});
std::string hdf5_bytes(std::span<const HostTensor> tensors,
                       std::span<const Hdf5Attribute> attributes = {});

}  // namespace ubique::io
