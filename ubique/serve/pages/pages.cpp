// SPDX-License-Identifier: Apache-2.0
// Files are kept packed and sent so; a client that cannot unpack gets them unpacked.
#include "ubique/serve/pages/pages.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/library/file_types.h"

namespace ubique::serve {
namespace {

// Scripts of the application's own files alone; WebAssembly and workers for its engines.
constexpr const char* kPolicy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; style-src "
    "'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src "
    "'self' "
    "blob: data:; font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-src 'self'; frame-ancestors 'self'";

constexpr const char* kNoPages =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Ubique studio</title>"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<h1>Ubique studio</h1><p>The server runs; its API answers under <a "
    "href=\"/api/session\">/api</a>.</p><p>This program was built without the pages. In the "
    "source folder, <code>make studio</code> builds it with them.</p></html>\n";

std::string unpacked(std::string_view packed) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  check(inflateInit2(&stream, kGzip) == Z_OK, ErrorKind::Internal, "[serve.pages] no memory.");
  std::string text, piece(64 << 10U, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  check(code == Z_STREAM_END, ErrorKind::Internal, "[serve.pages] a packed page is damaged.");
  return text;
}

bool takes_gzip(const Request& request) {
  return lowercase(request.header("Accept-Encoding")).find("gzip") != std::string::npos;
}

Response page_answer(const PackedPage& page, const Request& request) {
  Response response;
  const auto mime = mime_of(std::string(page.path));
  response.type = mime.starts_with("text/") ? mime + "; charset=utf-8" : mime;
  const auto tag = fmt::format("\"{}\"", page.tag);
  response.headers["ETag"] = tag;
  response.headers["Vary"] = "Accept-Encoding";
  // Names under assets/ change with their content.
  const bool fixed = page.path.starts_with("assets/");
  response.headers["Cache-Control"] = fixed ? "public, max-age=31536000, immutable" : "no-cache";
  response.headers["Content-Security-Policy"] = kPolicy;
  if (request.header("If-None-Match") == tag) {
    response.status = 304;
    return response;
  }
  if (takes_gzip(request)) {
    response.headers["Content-Encoding"] = "gzip";
    response.body = page.packed;
  } else {
    response.body = unpacked(page.packed);
  }
  return response;
}

}  // namespace

Handler page_handler(std::span<const PackedPage> pages) {
  return [pages](const Request& request) {
    const auto find = [&](std::string_view path) {
      const auto found = std::ranges::find(pages, path, &PackedPage::path);
      return found == pages.end() ? nullptr : &*found;
    };
    const auto* first = find("index.html");
    if (first == nullptr && request.path == "/") {
      Response response;
      response.type = "text/html; charset=utf-8";
      response.body = kNoPages;
      response.headers["Content-Security-Policy"] = "default-src 'none'";
      return response;
    }
    const auto path = request.path.substr(1);
    if (const auto* page = path.empty() ? first : find(path)) return page_answer(*page, request);
    // Addresses of the application itself, such as /music: they have no ending.
    const bool own = path.find('.') == std::string::npos && !path.starts_with("assets/");
    if (first == nullptr || !own) missing("page", request.path);
    return page_answer(*first, request);
  };
}

}  // namespace ubique::serve
