// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/png.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/io/gzip.h"
#include "ubique/io/magic.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kLargestPicture = 1U << 30U;  // bytes of pixels
constexpr std::size_t kPngSignature = 8;

/// libpng's reader with all it needs; plain data where its longjmp may pass.
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

// The three steps that may end in a longjmp: none of them owns anything.

bool read_png_info(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_read_info(reader.png, reader.info);
  return true;
}

/// 8 bits, and grey, RGB or RGBA, whatever the file has.
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
  const auto known = looks_like(file);
  fail(ErrorKind::Input, "[io.png] {} is not a PNG picture; it looks like {}.", name,
       file.empty()    ? "an empty file"
       : known.empty() ? "something unknown"
                       : known);
}

/// Before anything is decoded: can the file hold so many pixels, and do we want them?
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

}  // namespace ubique::io
