// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/nifti.h"

#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/text.h"
#include "ubique/io/byte_order.h"
#include "ubique/io/nifti_fields.h"
#include "ubique/io/nifti_header.h"
#include "ubique/io/nifti_source.h"
#include "ubique/io/tensor_info.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

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

/// Straight into their final place.
NiftiImage read_voxels(const NiftiContent& content, NiftiSource& source) {
  source.skip(content.data_begin - source.position());
  const auto& header = content.header;
  const auto fail_short = [&](const char* how, std::uint64_t got) {
    fail(ErrorKind::Input,
         "[io.nifti] {}: the voxels are cut short; got {} {} bytes, expected {} for {} of {}. Was "
         "the download or the copy interrupted?",
         source.name(), how, got, content.data_bytes,
         shape_text({header.shape[0], header.shape[1], header.shape[2], header.volumes}),
         to_string(header.dtype));
  };
  if (content.data_bytes > source.most_left()) fail_short("at most", source.most_left());
  NiftiImage image{header, {}};
  image.bytes.resize(content.data_bytes);
  const auto count = source.read(image.bytes);
  if (count != content.data_bytes) fail_short("only", count);
  source.check_end();
  if (image.header.swapped) swap_byte_order(image.bytes, size_of(image.header.dtype));
  return image;
}

/// "brain" and ".hdr" for brain.hdr and brain.hdr.gz, whatever the case; else nothing.
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

/// The other file of a pair; gzipped like the first one if there are both.
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

/// An .img is asked for by name, but its header speaks for it.
fs::path header_path(const fs::path& path) {
  const auto name = paired_name(path);
  return name && name->ending == kVoxelEnding ? partner(*name, kHeaderEnding) : path;
}

}  // namespace

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

}  // namespace ubique::io
