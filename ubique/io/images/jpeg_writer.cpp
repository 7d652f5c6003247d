// SPDX-License-Identifier: Apache-2.0
// Encodes JPEG by libjpeg, whose errors jump back (longjmp) to the step that called it, as in the
// reader.
#include <cstdio>
#include <cstdlib>
// jpeglib.h needs FILE from above.
#include <jpeglib.h>

#include <array>
#include <csetjmp>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/images/jpeg.h"

namespace ubique::io {
namespace {

constexpr int kFullColourQuality = 90;

/// State of libjpeg's encoder; libjpeg allocates the output by malloc.
struct JpegWriter {
  JpegWriter() {
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr common) {
      auto& writer = *static_cast<JpegWriter*>(common->client_data);
      (*common->err->format_message)(common, writer.message.data());
      std::longjmp(writer.back, 1);
    };
    errors.output_message = [](j_common_ptr) {};
    jpeg.client_data = this;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg);
    std::free(bytes);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

bool write_jpeg_picture(JpegWriter& writer, const Picture& picture, int quality) {
  if (setjmp(writer.back) != 0) return false;
  auto& jpeg = writer.jpeg;
  jpeg_create_compress(&jpeg);
  jpeg.client_data = &writer;
  jpeg_mem_dest(&jpeg, &writer.bytes, &writer.size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.input_components = picture.channels;
  jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  if (quality >= kFullColourQuality) {
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  }
  jpeg_start_compress(&jpeg, TRUE);
  const auto stride = static_cast<std::size_t>(picture.width * picture.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg only reads the row, but declares it without const.
    auto* row = const_cast<JSAMPLE*>(picture.pixels.data() + jpeg.next_scanline * stride);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

}  // namespace

std::string jpeg_bytes(const Picture& picture, int quality) {
  check(quality >= 1 && quality <= 100, ErrorKind::Usage,
        "[io.jpeg] unknown quality; got {}, expected 1 to 100.", quality);
  const bool sensible =
      picture.width > 0 && picture.height > 0 && (picture.channels == 1 || picture.channels == 3);
  check(sensible && picture.pixels.size() == static_cast<std::size_t>(picture.width) *
                                                 static_cast<std::size_t>(picture.height) *
                                                 static_cast<std::size_t>(picture.channels),
        ErrorKind::Internal,
        "[io.jpeg] a picture cannot be a JPEG; got {} bytes for {} x {} x {}, expected grey or RGB "
        "pixels that fill it.",
        picture.pixels.size(), picture.width, picture.height, picture.channels);
  check(picture.width <= JPEG_MAX_DIMENSION && picture.height <= JPEG_MAX_DIMENSION,
        ErrorKind::Input,
        "[io.jpeg] a JPEG has at most {} pixels along a side; got {} x {}. Write a PNG instead.",
        JPEG_MAX_DIMENSION, picture.width, picture.height);
  JpegWriter writer;
  const bool done = write_jpeg_picture(writer, picture, quality);
  check(done, ErrorKind::Internal, "[io.jpeg] cannot write a picture of {} x {}; {}.",
        picture.width, picture.height, writer.message.data());
  return {reinterpret_cast<const char*>(writer.bytes), writer.size};
}

void write_jpeg(const std::filesystem::path& path, const Picture& picture, int quality) {
  write_file(path, jpeg_bytes(picture, quality));
}

}  // namespace ubique::io
