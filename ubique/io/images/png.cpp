// SPDX-License-Identifier: Apache-2.0
// Decodes and encodes PNG by libpng, whose errors jump back (longjmp) to the step that called it,
// so those steps must own nothing that needs a destructor.
#include "ubique/io/images/png.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <new>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/archive/gzip.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kLargestPicture = 1U << 30U;  // bytes of pixels
constexpr std::size_t kPngSignature = 8;

/// State of libpng's decoder; plain data, because longjmp may skip destructors.
struct PngReader {
  explicit PngReader(std::span<const std::byte> file);
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest;
  std::array<char, 128> message{};
};

void take_png_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader.rest.size()) png_error(png, "the file is cut short");
  std::memcpy(out, reader.rest.data(), count);
  reader.rest = reader.rest.subspan(count);
}

void keep_png_error(png_structp png, png_const_charp text) {
  auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader.message.data(), text, reader.message.size() - 1);
  png_longjmp(png, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

PngReader::PngReader(std::span<const std::byte> file)
    : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, keep_png_error, ignore_png_warning)),
      info(png != nullptr ? png_create_info_struct(png) : nullptr),
      rest(file) {
  if (png == nullptr || info == nullptr) {
    png_destroy_read_struct(&png, &info, nullptr);
    throw std::bad_alloc();
  }
  png_set_read_fn(png, this, take_png_bytes);
}

// The three steps that may end in a longjmp; none of them owns anything.

bool read_png_info(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_info(reader.png, reader.info);
  return true;
}

/// Asks libpng for 8 bits and grey, RGB or RGBA, whatever the file has.
bool choose_png_form(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  const auto type = png_get_color_type(reader.png, reader.info);
  const bool clear = png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0;
  png_set_expand(reader.png);
  png_set_scale_16(reader.png);
  if (type == PNG_COLOR_TYPE_GRAY_ALPHA || (type == PNG_COLOR_TYPE_GRAY && clear)) {
    png_set_gray_to_rgb(reader.png);
  }
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_png_rows(PngReader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

void require_png(bool done, const PngReader& reader, const std::string& name) {
  check(done, ErrorKind::Input, "[io.png] {} cannot be read; {}. Is it complete?", name,
        reader.message.data());
}

void check_png_start(std::span<const std::byte> file, const std::string& name) {
  const auto start = file.first(std::min(file.size(), kPngSignature));
  const bool is_png =
      start.size() == kPngSignature &&
      png_sig_cmp(reinterpret_cast<png_const_bytep>(start.data()), 0, kPngSignature) == 0;
  if (is_png) return;
  fail(ErrorKind::Input, "[io.png] {} is not a PNG picture; it looks like {}.", name,
       looks_like_or_unknown(file));
}

/// Checked before decoding: the pixel count is below our limit and possible for this file size.
void check_png_size(const PngReader& reader, std::uint64_t file_bytes, const std::string& name) {
  const std::uint64_t width = png_get_image_width(reader.png, reader.info);
  const std::uint64_t height = png_get_image_height(reader.png, reader.info);
  check(width * height <= kLargestPicture / 4, ErrorKind::Input,
        "[io.png] {} is too large; got {} x {} pixels, expected at most {}.", name, width, height,
        kLargestPicture / 4);
  const auto stored = png_get_rowbytes(reader.png, reader.info) * height;
  check(stored <= most_inflated(file_bytes), ErrorKind::Input,
        "[io.png] {} is cut short; got {} bytes, which cannot hold {} x {} pixels.", name,
        file_bytes, width, height);
}

}  // namespace

Picture parse_png(std::span<const std::byte> file, const std::string& name) {
  check_png_start(file, name);
  PngReader reader(file);
  require_png(read_png_info(reader), reader, name);
  check_png_size(reader, file.size(), name);
  require_png(choose_png_form(reader), reader, name);
  Picture picture;
  picture.width = static_cast<int>(png_get_image_width(reader.png, reader.info));
  picture.height = static_cast<int>(png_get_image_height(reader.png, reader.info));
  picture.channels = png_get_channels(reader.png, reader.info);
  const auto row_bytes = png_get_rowbytes(reader.png, reader.info);
  picture.pixels.resize(row_bytes * static_cast<std::size_t>(picture.height));
  std::vector<png_bytep> rows(static_cast<std::size_t>(picture.height));
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = picture.pixels.data() + y * row_bytes;
  require_png(read_png_rows(reader, rows.data()), reader, name);
  return picture;
}

Picture read_png(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_png(file.bytes(), path.string());
}

namespace {

/// State of libpng's encoder.
struct PngWriter {
  PngWriter();
  ~PngWriter() { png_destroy_write_struct(&png, &info); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string out;
  std::array<char, 128> message{};
};

void give_png_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  auto& writer = *static_cast<PngWriter*>(png_get_io_ptr(png));
  bool done = true;
  try {
    writer.out.append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::bad_alloc&) {
    done = false;
  }
  if (!done) png_error(png, "no memory is left");
}

void keep_png_writer_error(png_structp png, png_const_charp text) {
  auto& writer = *static_cast<PngWriter*>(png_get_error_ptr(png));
  std::strncpy(writer.message.data(), text, writer.message.size() - 1);
  png_longjmp(png, 1);
}

void ignore_png_writer_warning(png_structp, png_const_charp) {}

PngWriter::PngWriter()
    : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, this, keep_png_writer_error,
                                  ignore_png_writer_warning)),
      info(png != nullptr ? png_create_info_struct(png) : nullptr) {
  if (png == nullptr || info == nullptr) {
    png_destroy_write_struct(&png, &info);
    throw std::bad_alloc();
  }
  png_set_write_fn(png, this, give_png_bytes, nullptr);
}

/// A picture as libpng takes it.
struct PngForm {
  int width, height, bits, colour_type;
  const std::uint8_t* pixels;
  std::size_t row_bytes;
};

bool write_png_form(PngWriter& writer, const PngForm& form, PngEffort effort) {
  if (setjmp(png_jmpbuf(writer.png)) != 0) return false;
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(form.width),
               static_cast<png_uint_32>(form.height), form.bits, form.colour_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (effort == PngEffort::Fast) {
    // After filtering a photograph is mostly noise: searching for longer matches gains nothing.
    png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
    png_set_compression_strategy(writer.png, Z_RLE);
  }
  png_write_info(writer.png, writer.info);
  if (form.bits == 16 && std::endian::native == std::endian::little) png_set_swap(writer.png);
  for (int y = 0; y < form.height; ++y) {
    png_write_row(writer.png, form.pixels + static_cast<std::size_t>(y) * form.row_bytes);
  }
  png_write_end(writer.png, writer.info);
  return true;
}

std::string png_bytes_of(const PngForm& form, PngEffort effort) {
  PngWriter writer;
  check(write_png_form(writer, form, effort), ErrorKind::Internal,
        "[io.png] cannot write a picture of {} x {}; {}.", form.width, form.height,
        writer.message.data());
  return std::move(writer.out);
}

void check_pixels(int width, int height, int channels, std::size_t values) {
  const bool sensible =
      width > 0 && height > 0 && (channels == 1 || channels == 3 || channels == 4);
  check(sensible && values == static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                  static_cast<std::size_t>(channels),
        ErrorKind::Internal,
        "[io.png] a picture's pixels do not fit its size; got {} of them for {} x {} x {}.", values,
        width, height, channels);
}

}  // namespace

std::string png_bytes(const Picture& picture, PngEffort effort) {
  check_pixels(picture.width, picture.height, picture.channels, picture.pixels.size());
  const int type = picture.channels == 1   ? PNG_COLOR_TYPE_GRAY
                   : picture.channels == 3 ? PNG_COLOR_TYPE_RGB
                                           : PNG_COLOR_TYPE_RGBA;
  const auto row =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.channels);
  return png_bytes_of({picture.width, picture.height, 8, type, picture.pixels.data(), row}, effort);
}

std::string png_bytes(const DeepPicture& picture, PngEffort effort) {
  check_pixels(picture.width, picture.height, 1, picture.pixels.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(picture.pixels.data());
  const auto row = 2 * static_cast<std::size_t>(picture.width);
  return png_bytes_of({picture.width, picture.height, 16, PNG_COLOR_TYPE_GRAY, bytes, row}, effort);
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
  write_file(path, png_bytes(picture));
}

}  // namespace ubique::io
