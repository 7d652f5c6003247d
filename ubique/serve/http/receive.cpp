// SPDX-License-Identifier: Apache-2.0
// Bodies are read in pieces; a multipart body goes straight into files.
#include "ubique/serve/http/receive.h"

#include <fcntl.h>
#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kMostFiles = 16;
constexpr std::int64_t kDroppedBytes = 1 << 20;

Response bad_request(const std::string& message) {
  auto response = error_answer(400, "usage", message);
  response.close = true;
  return response;
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

/// One file that is being received.
class Spool {
 public:
  Spool(const std::filesystem::path& folder, ReceivedFile& file) : file_(file) {
    static std::atomic<std::uint64_t> counter = 0;
    file.path = folder / fmt::format("{}-{}", ::getpid(), ++counter);
    descriptor_ = ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor_ < 0) refuse_file();
  }
  ~Spool() { ::close(descriptor_); }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse_file();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      file_.bytes += written;
    }
  }

 private:
  [[noreturn]] static void refuse_file() {
    refuse(507, "limit",
           fmt::format("[serve.upload] the file cannot be kept; {}.",
                       std::generic_category().message(errno)));
  }

  ReceivedFile& file_;
  int descriptor_ = -1;
};

/// The parts of a multipart body, one after the other.
class FileReceiver {
 public:
  FileReceiver(const BodyLimits& limits, Request& to) : limits_(limits), to_(to) {}

  bool begin(const std::string& field, const std::string& name, const std::string& type) {
    return guarded([&] {
      if (to_.files.size() >= kMostFiles) {
        refuse(413, "limit", "[serve.upload] too many files in one request; expected 16 at most.");
      }
      spool_.reset();
      to_.files.push_back({.field = field, .name = name, .type = type, .path = {}});
      spool_ = std::make_unique<Spool>(limits_.temporary, to_.files.back());
    });
  }

  bool add(std::string_view bytes) {
    return guarded([&] {
      received_ += static_cast<std::int64_t>(bytes.size());
      if (received_ > limits_.upload_bytes) {
        refuse(413, "limit",
               fmt::format("[serve.upload] the upload is too large; expected {} at most.",
                           human_bytes(limits_.upload_bytes)));
      }
      if (spool_) spool_->write(bytes);
    });
  }

  std::optional<Response> finish(bool complete) {
    spool_.reset();
    if (failed_) return failed_;
    if (!complete) return bad_request("[serve.upload] the body is no complete multipart body.");
    return std::nullopt;
  }

 private:
  template <typename Work>
  bool guarded(Work work) {
    if (failed_) return false;
    try {
      work();
      return true;
    } catch (...) {
      failed_ = answer_of_exception();
      failed_->close = true;
      return false;
    }
  }

  const BodyLimits& limits_;
  Request& to_;
  std::unique_ptr<Spool> spool_;
  std::int64_t received_ = 0;
  std::optional<Response> failed_;
};

std::optional<Response> receive_text(const httplib::ContentReader& reader, std::int64_t most,
                                     std::string& body) {
  bool fits = true;
  const bool complete = reader([&](const char* bytes, std::size_t count) {
    fits = static_cast<std::int64_t>(body.size() + count) <= most;
    if (fits) body.append(bytes, count);
    return fits;
  });
  if (!fits) {
    auto response =
        error_answer(413, "limit",
                     fmt::format("[serve.request] the body is too large; expected {} at most.",
                                 human_bytes(most)));
    response.close = true;
    return response;
  }
  if (!complete) return bad_request("[serve.request] the body ended early.");
  return std::nullopt;
}

std::optional<Response> receive_files(const httplib::ContentReader& reader,
                                      const BodyLimits& limits, Request& to) {
  FileReceiver receiver(limits, to);
  const bool complete = reader(
      [&](const auto& part) { return receiver.begin(part.name, part.filename, part.content_type); },
      [&](const char* bytes, std::size_t count) {
        return receiver.add({bytes, count});
      });
  return receiver.finish(complete);
}

}  // namespace

// Without either header the library would wait for the connection to end.
bool has_body(const httplib::Request& from) {
  return from.has_header("Transfer-Encoding") ||
         (from.has_header("Content-Length") && from.get_header_value("Content-Length") != "0");
}

std::optional<Response> receive_head(const httplib::Request& from, Request& to) {
  to.method = from.method;
  to.path = from.path;
  to.address = from.remote_addr;
  for (const auto& [key, value] : from.params) to.query[key] = value;
  for (const auto& [name, value] : from.headers) {
    const bool added = to.headers.emplace(name, value).second;
    const auto low = lowercase(name);
    const bool once = low == "host" || low == "content-length" || low == "authorization" ||
                      low == "transfer-encoding" || low == "origin";
    if (!added && once) {
      return bad_request(
          fmt::format("[serve.request] the header {} is there twice.", printable(name, 40)));
    }
  }
  if (!to.path.starts_with('/') || has_control(to.path) || !is_utf8(to.path)) {
    return bad_request("[serve.request] the address is no path.");
  }
  if (from.has_header("Content-Length") && from.has_header("Transfer-Encoding")) {
    return bad_request("[serve.request] the body has two lengths.");
  }
  return std::nullopt;
}

std::optional<Response> receive_body(const httplib::Request& from,
                                     const httplib::ContentReader& reader, const RouteRules& rules,
                                     const BodyLimits& limits, Request& to) {
  if (!has_body(from)) return std::nullopt;
  const bool multipart = from.is_multipart_form_data();
  if (rules.uploads && multipart) return receive_files(reader, limits, to);
  if (rules.uploads || multipart) {
    drop_body(from, reader);
    auto refused = error_answer(
        415, "input",
        rules.uploads ? "[serve.upload] expected multipart/form-data with a field \"file\"."
                      : "[serve.request] expected a JSON body.");
    refused.close = true;
    return refused;
  }
  return receive_text(reader, rules.body_bytes, to.body);
}

void drop_body(const httplib::Request& from, const httplib::ContentReader& reader) {
  if (!has_body(from)) return;
  std::int64_t dropped = 0;
  const auto drop = [&](const char* /*bytes*/, std::size_t count) {
    dropped += static_cast<std::int64_t>(count);
    return dropped <= kDroppedBytes;
  };
  if (from.is_multipart_form_data()) {
    reader([](const auto& /*part*/) { return true; }, drop);
  } else {
    reader(drop);
  }
}

void remove_files(Request& request) {
  std::error_code ignored;
  for (const auto& file : request.files) std::filesystem::remove(file.path, ignored);
}

}  // namespace ubique::serve
