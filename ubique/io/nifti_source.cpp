// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/nifti_source.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/io/bulk_read.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kMostAfterVoxels = 16U << 20U;  // that is inflated for the checksum's sake

const std::filesystem::path& not_a_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  check(!std::filesystem::is_directory(path, ignored), ErrorKind::Input,
        "[io.nifti] {} is a folder; expected a NIfTI file. If it holds DICOM slices, convert them, "
        "for example with dcm2niix.",
        path.string());
  return path;
}

}  // namespace

NiftiSource::NiftiSource(const std::filesystem::path& path)
    : map_(not_a_folder(path)), file_(map_->bytes()), name_(path.string()) {
  if (is_gzip(file_)) gzip_.emplace(file_, name_);
}

NiftiSource::NiftiSource(std::span<const std::byte> file, std::string name)
    : file_(file), name_(std::move(name)) {
  if (is_gzip(file_)) gzip_.emplace(file_, name_);
}

std::uint64_t NiftiSource::most_left() const {
  const auto most = gzip_ ? most_inflated(file_.size()) : file_.size();
  return most - std::min(most, position_);
}

std::size_t NiftiSource::read(std::span<std::byte> out) {
  if (gzip_) {
    const auto count = gzip_->read(out);
    position_ += count;
    return count;
  }
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), most_left()));
  if (map_ && map_->descriptor() >= 0) {
    bulk_read(*map_, position_, out.first(count));
  } else {
    std::copy_n(file_.begin() + static_cast<std::ptrdiff_t>(position_), count, out.begin());
  }
  position_ += count;
  return count;
}

void NiftiSource::skip(std::uint64_t count) {
  if (!gzip_) {
    position_ += std::min(count, most_left());
    return;
  }
  std::array<std::byte, 16384> scratch;
  while (count > 0) {
    const auto got = read(std::span(scratch).first(std::min<std::uint64_t>(count, scratch.size())));
    if (got == 0) return;
    count -= got;
  }
}

void NiftiSource::check_end() {
  if (gzip_) gzip_->check_rest(kMostAfterVoxels);
}

}  // namespace ubique::io
