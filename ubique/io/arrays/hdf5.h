// SPDX-License-Identifier: Apache-2.0
// HDF5 files as Keras keeps weights in: groups, tensors and text attributes, read and written. Not
// the whole format: no compression, no compound types; what a file has of those is named.
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

/// A text, or a list of them, that hangs on a group (or on a tensor).
struct Hdf5Attribute {
  std::string owner;  ///< path without slash at either end; empty for the file itself
  std::string name;
  std::vector<std::string> texts;
  bool list = false;  ///< false: one text
};

/// All that one file holds. Tensors are named by their paths: "layers/conv2d/vars/0".
struct Hdf5Content {
  std::vector<TensorInfo> tensors;  ///< begin and end are counted from the start of the file
  std::vector<bool> swapped;        ///< of each tensor: the other byte order than this machine's
  std::vector<std::string> groups;  ///< paths, each before those below it
  std::vector<Hdf5Attribute> attributes;
};

/// Checks everything before it is believed. Input error, which says what to do, for files that are
/// damaged or cut short and for compressed, chunked or external tensors. Attributes that are no
/// texts and tensors of texts are passed over.
Hdf5Content parse_hdf5(std::span<const std::byte> file, const std::string& name);

class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  /// In the order of the paths.
  const std::vector<TensorInfo>& tensors() const { return content_.tensors; }
  const std::vector<std::string>& groups() const { return content_.groups; }
  const std::vector<Hdf5Attribute>& attributes() const { return content_.attributes; }
  /// nullptr if there is none of that path.
  const TensorInfo* find(std::string_view path) const;
  /// Empty if there is none. A list that Keras cut into pieces (name0, name1, ...) is put together.
  std::vector<std::string> texts(std::string_view owner, std::string_view name) const;

  /// One of tensors(), with its values.
  HostTensor read(const TensorInfo& tensor) const;

 private:
  MappedFile file_;
  Hdf5Content content_;
};

/// A file that h5py, Keras and HDF5's own tools read. Groups are made from the tensors' paths and
/// the attributes' owners. Atomic. Internal error for paths given twice, a tensor's path used as a
/// group's, and types that HDF5 lacks; Input error for an attribute beyond 60 KiB.
void write_hdf5(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                std::span<const Hdf5Attribute> attributes = {});
std::string hdf5_bytes(std::span<const HostTensor> tensors,
                       std::span<const Hdf5Attribute> attributes = {});

}  // namespace ubique::io
