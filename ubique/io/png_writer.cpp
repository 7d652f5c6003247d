// SPDX-License-Identifier: Apache-2.0
// As in the reader, an error of libpng jumps back to the one step that called it.
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <new>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/io/png.h"

namespace ubique::io {
namespace {

/// libpng's writer with all it needs; plain data where its longjmp may pass.
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

void keep_writer_error(png_structp png, png_const_charp text) {
  auto& writer = *static_cast<PngWriter*>(png_get_error_ptr(png));
  std::strncpy(writer.message.data(), text, writer.message.size() - 1);
  png_longjmp(png, 1);
}

void ignore_writer_warning(png_structp, png_const_charp) {}

PngWriter::PngWriter()
    : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, this, keep_writer_error,
                                  ignore_writer_warning)),
      info(png != nullptr ? png_create_info_struct(png) : nullptr) {
  if (png == nullptr || info == nullptr) {
    png_destroy_write_struct(&png, &info);
    throw std::bad_alloc();
  }
  png_set_write_fn(png, this, give_png_bytes, nullptr);
}

/// What libpng is told of a picture.
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
    // What the filter leaves of a photograph is noise: a search for repetitions finds none.
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
