// SPDX-License-Identifier: Apache-2.0
// Bodies are handed over as providers of known length: the library then compresses nothing and
// leaves ranges to us.
#include "ubique/serve/http/write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "ubique/serve/http/range.h"

namespace ubique::serve {
void put_text(std::string body, const std::string& type, bool close, httplib::Response& to) {
  if (body.empty()) {
    to.set_content("", type);
    return;
  }
  const auto text = std::make_shared<std::string>(std::move(body));
  to.set_content_provider(
      text->size(), type,
      [text, close](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        const bool sent = sink.write(text->data() + offset, length);
        return sent && !close;  // false ends the connection
      });
}

namespace {

constexpr std::size_t kPiece = 256 << 10U;

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  /// Up to `count` bytes at `offset`; none if the file has been cut meanwhile.
  std::string read(std::int64_t offset, std::size_t count) const {
    std::string bytes(count, '\0');
    const auto got = ::pread(descriptor_, bytes.data(), count, offset);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  int descriptor_;
};

void put_file(FileBody body, const std::string& type, httplib::Response& to) {
  const auto file = std::make_shared<OpenFile>(body.path);
  if (!file->is_open()) {
    to.status = 404;
    put_text("{\"error\":{\"kind\":\"missing\",\"message\":\"[serve.file] the file is gone.\"}}\n",
             "application/json", false, to);
    return;
  }
  if (body.bytes == 0) {
    to.set_content("", type);
    return;
  }
  to.set_content_provider(
      static_cast<std::size_t>(body.bytes), type,
      [file, from = body.offset](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        const auto piece =
            file->read(from + static_cast<std::int64_t>(offset), std::min(length, kPiece));
        return !piece.empty() && sink.write(piece.data(), piece.size());
      });
}

void put_stream(Stream stream, const std::string& type, std::function<bool()> running,
                httplib::Response& to) {
  to.set_chunked_content_provider(type, [stream = std::move(stream), running = std::move(running)](
                                            std::size_t /*offset*/, httplib::DataSink& sink) {
    bool sent = true;
    const auto open = [&] { return sent && running() && sink.is_writable(); };
    const auto send = [&](std::string_view bytes) {
      sent = sent && running() && sink.write(bytes.data(), bytes.size());
      return sent;
    };
    stream.write(send, open);
    if (!sent) return false;
    sink.done();
    return true;
  });
}

/// Narrows the file to the range that was asked for.
void take_range(const std::string& range, Response& from) {
  auto& file = *from.file;
  from.headers["Accept-Ranges"] = "bytes";
  if (range.empty() || from.status != 200) return;
  const auto wanted = wanted_range(range, file.bytes);
  if (wanted.kind == RangeKind::Part) {
    from.status = 206;
    from.headers["Content-Range"] = fmt::format(
        "bytes {}-{}/{}", wanted.part.first, wanted.part.first + wanted.part.count - 1, file.bytes);
    file.offset += wanted.part.first;
    file.bytes = wanted.part.count;
  } else if (wanted.kind == RangeKind::Impossible) {
    auto refused = error_answer(416, "usage", "[serve.file] the range is behind the end.");
    refused.headers = from.headers;
    refused.headers["Content-Range"] = fmt::format("bytes */{}", file.bytes);
    from = std::move(refused);
  }
}

}  // namespace

void write_response(Response from, const std::string& range, std::function<bool()> running,
                    httplib::Response& to) {
  if (from.file) take_range(range, from);
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  if (from.file) {
    put_file(*from.file, from.type, to);
  } else if (from.stream) {
    put_stream(std::move(*from.stream), from.type, std::move(running), to);
  } else {
    put_text(std::move(from.body), from.type, from.close, to);
  }
}

}  // namespace ubique::serve
