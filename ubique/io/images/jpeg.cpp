// SPDX-License-Identifier: Apache-2.0
// Decodes JPEG by libjpeg. By default an error of libjpeg ends the program; here it jumps back
// (longjmp) to the step that called it, so those steps must own nothing that needs a destructor.
#include "ubique/io/images/jpeg.h"

#include <cstdio>
// jpeglib.h needs FILE; jerror.h numbers its messages by jpeglib.h's version.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr int kUpright = 1;
constexpr std::uint64_t kOrientationTag = 0x0112, kShortType = 3;
constexpr std::size_t kExifEntry = 12;

/// The TIFF part of an EXIF segment: numbers in either byte order, 0 beyond its end.
struct ExifNumbers {
  std::span<const std::byte> tiff;
  bool big = false;

  std::uint64_t at(std::uint64_t offset, std::size_t width) const {
    if (offset > tiff.size() || tiff.size() - offset < width) return 0;
    const auto bytes = tiff.subspan(offset, width);
    return big ? load_big(bytes) : load_little(bytes);
  }
};

}  // namespace

int exif_orientation(std::span<const std::byte> segment) {
  const std::string_view text(reinterpret_cast<const char*>(segment.data()), segment.size());
  constexpr auto kMark = "Exif\0\0"sv;
  if (!text.starts_with(kMark)) return kUpright;
  const auto order = text.substr(kMark.size(), 2);
  if (order != "II" && order != "MM") return kUpright;
  const ExifNumbers numbers{segment.subspan(kMark.size()), order == "MM"};
  const auto folder = numbers.at(4, 4);
  const auto entries = numbers.at(folder, 2);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto entry = folder + 2 + i * kExifEntry;
    if (numbers.at(entry, 2) != kOrientationTag || numbers.at(entry + 2, 2) != kShortType) continue;
    const auto value = static_cast<int>(numbers.at(entry + 8, 2));
    return value >= 1 && value <= 8 ? value : kUpright;
  }
  return kUpright;
}

bool swaps_sides(int orientation) { return orientation >= 5; }

Picture apply_exif_orientation(Picture picture, int orientation) {
  if (orientation <= kUpright || orientation > 8) return picture;
  const int width = picture.width, height = picture.height;
  const auto channels = static_cast<std::size_t>(picture.channels);
  Picture out{width, height, picture.channels, {}};
  if (swaps_sides(orientation)) std::swap(out.width, out.height);
  out.pixels.resize(picture.pixels.size());
  const bool right_to_left =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool bottom_up =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  auto* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int across = swaps_sides(orientation) ? y : x;
      const int down = swaps_sides(orientation) ? x : y;
      const auto column = static_cast<std::size_t>(right_to_left ? width - 1 - across : across);
      const auto row = static_cast<std::size_t>(bottom_up ? height - 1 - down : down);
      const auto from = (row * static_cast<std::size_t>(width) + column) * channels;
      to = std::copy_n(picture.pixels.data() + from, channels, to);
    }
  }
  return out;
}

namespace {

constexpr std::uint64_t kMostJpegPixels = (1U << 30U) / 4;
// A block of 8 x 8 takes at least one bit, and one chroma block covers at most 32 x 32 pixels.
constexpr std::uint64_t kMostPixelsPerByte = 2048;
constexpr int kMostScans = 100;  // progressive; more only cost time
constexpr std::array<JOCTET, 2> kEndOfImage = {0xFF, JPEG_EOI};

/// State of libjpeg's decoder; plain data, because longjmp may skip destructors.
struct JpegReader {
  explicit JpegReader(std::span<const std::byte> file);
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool past_end = false;
};

JpegReader& jpeg_reader_of(j_common_ptr jpeg) {
  return *static_cast<JpegReader*>(jpeg->client_data);
}

void leave_jpeg(j_common_ptr jpeg) {
  auto& reader = jpeg_reader_of(jpeg);
  (*jpeg->err->format_message)(jpeg, reader.message.data());
  std::longjmp(reader.back, 1);
}

/// Damaged pixel data is an error; harmless oddities of the container are not.
void judge_jpeg_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:  // reported by past_end: all pixels may be there
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_TOO_MUCH_DATA:
      return;
    default:
      leave_jpeg(jpeg);
  }
}

void keep_jpeg_quiet(j_common_ptr) {}

void begin_jpeg_source(j_decompress_ptr) {}

boolean refill_jpeg_source(j_decompress_ptr jpeg) {
  jpeg_reader_of(reinterpret_cast<j_common_ptr>(jpeg)).past_end = true;
  jpeg->src->next_input_byte = kEndOfImage.data();
  jpeg->src->bytes_in_buffer = kEndOfImage.size();
  return TRUE;
}

void skip_jpeg_source(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  auto& source = *jpeg->src;
  if (static_cast<unsigned long>(count) > source.bytes_in_buffer) {
    refill_jpeg_source(jpeg);
    return;
  }
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void limit_jpeg_scans(j_common_ptr jpeg) {
  if (!jpeg->is_decompressor) return;
  const auto* decoder = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decoder->input_scan_number <= kMostScans) return;
  constexpr std::string_view kTooMany = "it has more than 100 scans";
  auto& reader = jpeg_reader_of(jpeg);
  *std::copy(kTooMany.begin(), kTooMany.end(), reader.message.begin()) = '\0';
  std::longjmp(reader.back, 1);
}

JpegReader::JpegReader(std::span<const std::byte> file) {
  jpeg.err = jpeg_std_error(&errors);
  errors.error_exit = leave_jpeg;
  errors.emit_message = judge_jpeg_message;
  errors.output_message = keep_jpeg_quiet;
  jpeg.client_data = this;
  source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source.bytes_in_buffer = file.size();
  source.init_source = begin_jpeg_source;
  source.fill_input_buffer = refill_jpeg_source;
  source.skip_input_data = skip_jpeg_source;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = begin_jpeg_source;
  progress.progress_monitor = limit_jpeg_scans;
}

// The steps that may end in a longjmp; none of them owns anything.

bool read_jpeg_header(JpegReader& reader) {
  if (setjmp(reader.back) != 0) return false;
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.client_data = &reader;
  reader.jpeg.src = &reader.source;
  reader.jpeg.progress = &reader.progress;
  jpeg_save_markers(&reader.jpeg, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&reader.jpeg, TRUE);
  return true;
}

bool start_jpeg(JpegReader& reader) {
  if (setjmp(reader.back) != 0) return false;
  auto& jpeg = reader.jpeg;
  const bool inks = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  const bool grey = jpeg.jpeg_color_space == JCS_GRAYSCALE;
  jpeg.out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  return true;
}

bool read_jpeg_row(JpegReader& reader, JSAMPLE* row) {
  if (setjmp(reader.back) != 0) return false;
  return jpeg_read_scanlines(&reader.jpeg, &row, 1) == 1;
}

void require_jpeg(bool done, const JpegReader& reader, const std::string& name) {
  check(done, ErrorKind::Input, "[io.jpeg] {} cannot be read; {}{}. Is it complete?", name,
        reader.message.data(), reader.past_end ? " (the file is cut short)" : "");
}

void check_jpeg_start(std::span<const std::byte> file, const std::string& name) {
  if (file.size() >= 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8} &&
      file[2] == std::byte{0xFF}) {
    return;
  }
  fail(ErrorKind::Input, "[io.jpeg] {} is not a JPEG picture; it looks like {}.", name,
       looks_like_or_unknown(file));
}

/// Checked before decoding: the pixel count is below our limit and possible for this file size.
void check_jpeg_size(const JpegReader& reader, std::uint64_t file_bytes, const std::string& name) {
  const std::uint64_t width = reader.jpeg.image_width, height = reader.jpeg.image_height;
  check(width * height <= kMostJpegPixels, ErrorKind::Input,
        "[io.jpeg] {} is too large; got {} x {} pixels, expected at most {}.", name, width, height,
        kMostJpegPixels);
  check(width * height <= file_bytes * kMostPixelsPerByte, ErrorKind::Input,
        "[io.jpeg] {} is cut short; got {} bytes, which cannot hold {} x {} pixels.", name,
        file_bytes, width, height);
}

int jpeg_orientation_of(const JpegReader& reader) {
  for (const auto* marker = reader.jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const auto segment = std::as_bytes(std::span(marker->data, marker->data_length));
    if (const int orientation = exif_orientation(segment); orientation != 1) return orientation;
  }
  return 1;
}

/// Adobe stores inverted ink values (`absent`).
void inks_to_rgb(const std::uint8_t* inks, std::uint8_t* rgb, int width, bool absent) {
  for (int x = 0; x < width; ++x, inks += 4, rgb += 3) {
    const int black = absent ? inks[3] : 255 - inks[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>((absent ? inks[c] : 255 - inks[c]) * black / 255);
    }
  }
}

Picture read_jpeg_rows(JpegReader& reader, const std::string& name) {
  const auto& jpeg = reader.jpeg;
  const bool inks = jpeg.out_color_space == JCS_CMYK;
  Picture picture;
  picture.width = static_cast<int>(jpeg.output_width);
  picture.height = static_cast<int>(jpeg.output_height);
  picture.channels = jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  const auto width = static_cast<std::size_t>(picture.width);
  const auto stride = width * static_cast<std::size_t>(picture.channels);
  picture.pixels.resize(stride * static_cast<std::size_t>(picture.height));
  std::vector<JSAMPLE> ink_row(inks ? width * 4 : 0);
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
    auto* row = picture.pixels.data() + y * stride;
    require_jpeg(read_jpeg_row(reader, inks ? ink_row.data() : row), reader, name);
    if (inks) inks_to_rgb(ink_row.data(), row, picture.width, jpeg.saw_Adobe_marker != 0);
  }
  return picture;
}

}  // namespace

Picture parse_jpeg(std::span<const std::byte> file, const std::string& name, ExifOrientation exif) {
  check_jpeg_start(file, name);
  JpegReader reader(file);
  require_jpeg(read_jpeg_header(reader), reader, name);
  check_jpeg_size(reader, file.size(), name);
  require_jpeg(start_jpeg(reader), reader, name);
  auto picture = read_jpeg_rows(reader, name);
  // Missing refinement scans of a progressive JPEG do not show in the rows.
  check(!reader.past_end || !jpeg_has_multiple_scans(&reader.jpeg), ErrorKind::Input,
        "[io.jpeg] {} is cut short; its last scans are missing. Copy or download it again.", name);
  if (exif == ExifOrientation::Ignore) return picture;
  return apply_exif_orientation(std::move(picture), jpeg_orientation_of(reader));
}

PictureSize jpeg_size(std::span<const std::byte> file, const std::string& name,
                      ExifOrientation exif) {
  check_jpeg_start(file, name);
  JpegReader reader(file);
  require_jpeg(read_jpeg_header(reader), reader, name);
  check_jpeg_size(reader, file.size(), name);
  const auto width = static_cast<int>(reader.jpeg.image_width);
  const auto height = static_cast<int>(reader.jpeg.image_height);
  const bool sideways = exif == ExifOrientation::Apply && swaps_sides(jpeg_orientation_of(reader));
  return sideways ? PictureSize{height, width} : PictureSize{width, height};
}

Picture read_jpeg(const std::filesystem::path& path, ExifOrientation exif) {
  const MappedFile file(path);
  return parse_jpeg(file.bytes(), path.string(), exif);
}

}  // namespace ubique::io
