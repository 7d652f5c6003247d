// SPDX-License-Identifier: Apache-2.0
// Conformed scans on disk, made on first use and shared by all folds, runs and processes: one
// safetensors file per scan and way of preparing it, read through a memory map. The name holds a
// hash of all that decides the content, so that nothing stale is ever read. Knows no network.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "ubique/data/scans/study/prepare.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::data {

struct ScanCacheOptions : PrepareOptions {
  /// F16, U8 (256 levels between a scan's least and largest value) or F32. Values that F16 cannot
  /// hold are kept as F32.
  DType dtype = DType::F16;
};

/// One entry; the pages of its file are read as they are asked for. Safe from several threads.
class CachedScan {
 public:
  /// Input error for a file that is no entry, is damaged in its header, or is for another key.
  CachedScan(const std::filesystem::path& path, const std::string& key);

  const Shape3& shape() const { return shape_; }
  const Affine& affine() const { return affine_; }
  DType dtype() const;  ///< of the stored image
  bool has_mask() const { return mask_ != nullptr; }

  /// The image's values, k fastest; `out` has voxel_count(shape()) places.
  void read_image(std::span<float> out) const;
  /// Labels, k fastest; Internal error without a mask.
  void read_mask(std::span<std::uint8_t> out) const;
  Volume image() const;
  LabelMap mask() const;

  /// Input error if the bytes are not those that were written. Reads the whole file.
  void verify() const;

 private:
  io::SafetensorsFile file_;
  const io::TensorInfo* image_ = nullptr;
  const io::TensorInfo* mask_ = nullptr;
  Shape3 shape_{};
  Affine affine_{};
  double low_ = 0, high_ = 1;  // what U8's 0 and 255 stand for
};

class ScanCache {
 public:
  using Entry = CachedScan;

  /// The folder is made on first use; what killed processes left half-written in it a day ago or
  /// more is removed. Usage error for a dtype that entries cannot have.
  ScanCache(std::filesystem::path folder, ScanCacheOptions options);

  /// The scan, conformed; made and written if it is not there. An entry that is damaged is made
  /// again with a warning. Two processes may make the same entry: both write the same file, whole.
  /// Input error for a bad scan, and for a disk that is full or read-only; then nothing is left
  /// behind. Safe from several threads.
  Entry get(const Subject& subject);

  /// Where the entry is or will be; changes when scan, mask or options do.
  std::filesystem::path path_of(const Subject& subject) const;
  bool contains(const Subject& subject) const;

  const std::filesystem::path& folder() const { return folder_; }
  const ScanCacheOptions& options() const { return options_; }

 private:
  std::string key_of(const Subject& subject) const;
  std::filesystem::path path_for(const Subject& subject, const std::string& key) const;
  std::optional<Entry> open(const std::filesystem::path& path, const std::string& key);
  void make(const Subject& subject, const std::filesystem::path& path, const std::string& key);

  std::filesystem::path folder_;
  ScanCacheOptions options_;
  std::mutex mutex_;
  std::set<std::filesystem::path> verified_;  // once per process is enough
};

}  // namespace ubique::data
