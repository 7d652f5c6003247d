// SPDX-License-Identifier: Apache-2.0
// Disk cache of conformed scans, filled on first use and shared by all folds, runs and processes:
// one safetensors file per scan and set of options, read through a memory map. The file name holds
// a hash of everything that decides the content, so that a stale entry is never read.
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
  /// F16, U8 (256 levels between a scan's minimum and maximum) or F32. An image with values beyond
  /// F16's range is stored as F32.
  DType dtype = DType::F16;
};

/// One entry, read lazily through its memory map. Thread-safe.
class CachedScan {
 public:
  /// Input error for a file that is not an entry, has a damaged header, or has another key.
  CachedScan(const std::filesystem::path& path, const std::string& key);

  const Shape3& shape() const { return shape_; }
  const Affine& affine() const { return affine_; }
  DType dtype() const;  ///< of the stored image
  bool has_mask() const { return mask_ != nullptr; }

  /// The image's values, k fastest; `out` has voxel_count(shape()) elements.
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
  double low_ = 0, high_ = 1;  // values of U8's 0 and 255
};

class ScanCache {
 public:
  using Entry = CachedScan;

  /// The folder is created on first use; temporary files of killed processes are removed once they
  /// are a day old. Usage error for an unsupported dtype.
  ScanCache(std::filesystem::path folder, ScanCacheOptions options);

  /// The conformed scan; prepared and written if it is missing. A damaged entry is rebuilt with a
  /// warning. Processes may write the same entry concurrently: each write is atomic and the bytes
  /// are the same. UnusableScan for a bad or unreadable scan, Input error for a full or read-only
  /// disk; then nothing is left behind. Thread-safe.
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
  std::set<std::filesystem::path> verified_;  // checked once per process
};

}  // namespace ubique::data
