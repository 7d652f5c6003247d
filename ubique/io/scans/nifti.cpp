// SPDX-License-Identifier: Apache-2.0
// Reads single files and .hdr/.img pairs; converts stored values to f32.
#include "ubique/io/scans/nifti.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/io/archive/bulk_read.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/scans/nifti_fields.h"
#include "ubique/io/scans/nifti_header.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostAfterVoxels = 16U << 20U;  // inflated to reach the checksum

const fs::path& not_a_folder(const fs::path& path) {
  std::error_code ignored;
  check(!fs::is_directory(path, ignored), ErrorKind::Input,
        "[io.nifti] {} is a folder; expected a NIfTI file. If it holds DICOM slices, convert them, "
        "for example with dcm2niix.",
        path.string());
  return path;
}

constexpr std::string_view kHeaderEnding = ".hdr", kVoxelEnding = ".img";

NiftiContent read_content(NiftiSource& source) {
  std::vector<std::byte> start(nifti_start_bytes(1));
  auto count = source.read(start);
  if (nifti_version(start) == 2) {
    start.resize(nifti_start_bytes(2));
    count += source.read(std::span(start).subspan(count));
  }
  start.resize(count);
  return parse_nifti_header(start, source.name());
}

/// Reads into the final buffer, without a copy.
NiftiImage read_voxels(const NiftiContent& content, NiftiSource& source) {
  const auto& header = content.header;
  const auto fail_short = [&](const char* how, std::uint64_t got) {
    fail(ErrorKind::Input,
         "[io.nifti] {}: the voxels are cut short; got {} {} bytes, expected {} for {} of {}. Was "
         "the download or the copy interrupted?",
         source.name(), how, got, content.data_bytes,
         shape_text({header.shape[0], header.shape[1], header.shape[2], header.volumes}),
         to_string(header.dtype));
  };
  const auto before = content.data_begin - source.position();
  const auto most = source.most_left() - std::min(before, source.most_left());
  if (content.data_bytes > most) fail_short("at most", most);
  check_size(content, source);  // before anything large is inflated
  source.skip(before);
  NiftiImage image{header, {}};
  image.bytes.resize(content.data_bytes);
  const auto count = source.read(image.bytes);
  if (count != content.data_bytes) fail_short("only", count);
  source.check_end();
  if (image.header.swapped) swap_byte_order(image.bytes, size_of(image.header.dtype));
  return image;
}

/// "brain" and ".hdr" for brain.hdr and brain.hdr.gz, in any case.
struct PairedName {
  fs::path stem;
  std::string ending;
  bool gzipped = false;
};

std::optional<PairedName> paired_name(fs::path path) {
  PairedName name;
  name.gzipped = lowercase(path.extension().string()) == ".gz";
  if (name.gzipped) path.replace_extension();
  name.ending = lowercase(path.extension().string());
  if (name.ending != kHeaderEnding && name.ending != kVoxelEnding) return std::nullopt;
  name.stem = path.replace_extension();
  return name;
}

/// The other file of a pair; prefers one that is gzipped like the first.
fs::path partner(const PairedName& name, std::string_view ending) {
  const std::string plain(ending), upper = ending == kHeaderEnding ? ".HDR" : ".IMG";
  const std::string packed = plain + ".gz", first = name.gzipped ? packed : plain;
  std::error_code ignored;
  for (const auto& candidate : {first, plain, packed, upper}) {
    const fs::path path = name.stem.string() + candidate;
    if (fs::exists(path, ignored)) return path;
  }
  fail(ErrorKind::Input,
       "[io.nifti] {}{}: the other half of the pair is missing; expected {}{} beside it.",
       name.stem.string(), name.ending, name.stem.string(), ending);
}

/// The .hdr of an .img; any other path unchanged.
fs::path header_path(const fs::path& path) {
  const auto name = paired_name(path);
  return name && name->ending == kVoxelEnding ? partner(*name, kHeaderEnding) : path;
}

template <typename T>
std::vector<float> stored_to_f32(const NiftiImage& image) {
  std::vector<float> out(image.bytes.size() / sizeof(T));
  const auto& header = image.header;
  const auto* bytes = image.bytes.data();
  for (std::size_t i = 0; i < out.size(); ++i) {
    T stored;
    std::memcpy(&stored, bytes + i * sizeof(T), sizeof(T));
    out[i] = header.scaled
                 ? static_cast<float>(static_cast<double>(stored) * header.slope + header.inter)
                 : static_cast<float>(stored);
  }
  return out;
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

std::optional<std::uint64_t> NiftiSource::packed_bytes() const {
  return gzip_ ? std::optional<std::uint64_t>(file_.size()) : std::nullopt;
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

NiftiHeader read_nifti_header(const fs::path& path) {
  NiftiSource source(header_path(path));
  return read_content(source).header;
}

NiftiImage read_nifti(const fs::path& path) {
  NiftiSource source(header_path(path));
  const auto content = read_content(source);
  if (!content.paired) return read_voxels(content, source);
  const auto name = paired_name(path);
  check(name.has_value(), ErrorKind::Input,
        "[io.nifti] {} is the header of a pair, whose voxels are in a file of their own; expected "
        "the name to end in .hdr or .img, with both files in one folder.",
        path.string());
  NiftiSource voxels(name->ending == kVoxelEnding ? path : partner(*name, kVoxelEnding));
  return read_voxels(content, voxels);
}

NiftiImage parse_nifti(std::span<const std::byte> file, const std::string& name) {
  NiftiSource source(file, name);
  const auto content = read_content(source);
  check(!content.paired, ErrorKind::Input,
        "[io.nifti] {} is the header of a pair, without the voxels; expected a single file.", name);
  return read_voxels(content, source);
}

std::vector<float> to_f32(const NiftiImage& image) {
  switch (image.header.dtype) {
    case DType::U8:
      return stored_to_f32<std::uint8_t>(image);
    case DType::I8:
      return stored_to_f32<std::int8_t>(image);
    case DType::U16:
      return stored_to_f32<std::uint16_t>(image);
    case DType::I16:
      return stored_to_f32<std::int16_t>(image);
    case DType::U32:
      return stored_to_f32<std::uint32_t>(image);
    case DType::I32:
      return stored_to_f32<std::int32_t>(image);
    case DType::U64:
      return stored_to_f32<std::uint64_t>(image);
    case DType::I64:
      return stored_to_f32<std::int64_t>(image);
    case DType::F32:
      return stored_to_f32<float>(image);
    case DType::F64:
      return stored_to_f32<double>(image);
    default:
      break;
  }
  fail(ErrorKind::Internal, "[io.nifti] no scan has voxels of {}.", to_string(image.header.dtype));
}

}  // namespace ubique::io
