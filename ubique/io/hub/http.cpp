// SPDX-License-Identifier: Apache-2.0
// Requests, redirects that are followed one by one, and what libcurl calls back.
#include "ubique/io/hub/http.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/hub/curl.h"

namespace ubique::io {
namespace {

constexpr int kMostRedirects = 10;
constexpr std::size_t kLongestError = 4096, kMostHeaders = 200, kLongestHeader = 8192;

/// Without the query, in which signed addresses have their signature.
std::string shown_url(const std::string& url) {
  return printable(url.substr(0, url.find_first_of("?#")), 300);
}

}  // namespace

std::string HttpReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::string url_origin(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const auto origin = lowercase(url.substr(0, url.find_first_of("/?#", scheme + 3)));
  const auto host = std::string_view(origin).substr(scheme + 3);
  const bool known = origin.starts_with("http://") || origin.starts_with("https://");
  return known && !host.empty() && host.find('@') == std::string_view::npos ? origin
                                                                            : std::string();
}

#ifndef UBIQUE_HAS_CURL

struct HttpClient::Handle {};

bool has_http() { return false; }

std::string http_missing() {
  return "this program was built without libcurl. Install libcurl4-openssl-dev (Homebrew: curl) "
         "and build it again";
}

HttpClient::HttpClient(HttpOptions options) : options_(std::move(options)) {
  fail(ErrorKind::Device, "[io.http] {}.", http_missing());
}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::get(const HttpRequest& /*request*/, const HttpSink& /*sink*/) { return {}; }

#else

struct HttpClient::Handle {
  CURL* easy = nullptr;
};

/// One answer while it comes.
struct HttpClient::Transfer {
  HttpReply& reply;
  const HttpSink& sink;
  const std::function<bool()>& stop;
  std::exception_ptr thrown = {};

  bool take(std::span<const std::byte> bytes) {
    if (reply.status >= 200 && reply.status < 300) {
      if (sink(reply, bytes)) return true;
      reply.stopped = true;
      return false;
    }
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const bool redirects = reply.status >= 300 && reply.status < 400;
    if (!redirects && reply.text.size() < kLongestError) {
      reply.text.append(text, std::min(bytes.size(), kLongestError - reply.text.size()));
    }
    return true;
  }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // of the next answer: after "100 Continue", or of a proxy
      reply.headers.clear();
      const auto parts = split(line, ' ');
      reply.status = parts.size() > 1 ? std::strtol(parts[1].c_str(), nullptr, 10) : 0;
      return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || reply.headers.size() >= kMostHeaders ||
        line.size() > kLongestHeader) {
      return;
    }
    reply.headers[lowercase(trim(line.substr(0, colon)))] = trim(line.substr(colon + 1));
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      const std::span<const char> bytes(data, size * count);
      return transfer.take(std::as_bytes(bytes)) ? bytes.size() : 0;
    } catch (...) {  // not through libcurl's C
      transfer.thrown = std::current_exception();
      return 0;
    }
  }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    try {
      static_cast<Transfer*>(self)->take_header({data, size * count});
      return size * count;
    } catch (...) {
      static_cast<Transfer*>(self)->thrown = std::current_exception();
      return 0;
    }
  }

  static int on_progress(void* self, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*up*/,
                         curl_off_t /*sent*/) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (!transfer.stop || !transfer.stop()) return 0;
    transfer.reply.stopped = true;
    return 1;
  }
};

bool has_http() { return curl_library() != nullptr; }

std::string http_missing() { return "libcurl is not installed. Install libcurl4 (Homebrew: curl)"; }

HttpClient::HttpClient(HttpOptions options) : options_(std::move(options)) {
  const auto* curl = curl_library();
  check(curl != nullptr, ErrorKind::Device, "[io.http] {}.", http_missing());
  handle_ = std::make_unique<Handle>();
  handle_->easy = curl->easy_init();
  check(handle_->easy != nullptr, ErrorKind::Internal, "[io.http] libcurl cannot be set up.");
}

HttpClient::~HttpClient() {
  if (handle_) curl_library()->easy_cleanup(handle_->easy);
}

HttpReply HttpClient::get(const HttpRequest& request, const HttpSink& sink) {
  const auto origin = url_origin(request.url);
  auto url = request.url;
  for (int hops = 0; hops <= kMostRedirects; ++hops) {
    HttpReply reply;
    reply.url = shown_url(url);
    const auto here = url_origin(url);
    if (here.empty() || (origin.starts_with("https://") && !here.starts_with("https://"))) {
      reply.fault = fmt::format("it leads to {}, expected an address that begins with {}",
                                reply.url, origin.starts_with("https") ? "https" : "http");
      reply.final = true;
      return reply;
    }
    const auto next = get_once(request, url, here == origin, sink, reply);
    if (next.empty()) return reply;
    url = next;
  }
  HttpReply reply;
  reply.url = shown_url(url);
  reply.fault = fmt::format("more than {} redirects", kMostRedirects);
  reply.final = true;
  return reply;
}

namespace {

/// Bundles of certificates that other programs are told to trust (behind company proxies).
std::string certificate_bundle() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}) {
    const char* path = std::getenv(name);
    std::error_code ignored;
    if (path != nullptr && std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

/// A name that does not exist, a certificate that is not trusted: the same again next time.
bool is_final(CURLcode code) {
  return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
         code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_COULDNT_RESOLVE_PROXY;
}

}  // namespace

/// Returns where it redirects to, or nothing.
std::string HttpClient::get_once(const HttpRequest& request, const std::string& url,
                                 bool with_token, const HttpSink& sink, HttpReply& reply) {
  const auto& curl = *curl_library();
  auto* easy = handle_->easy;
  Transfer transfer{reply, sink, options_.stop_requested};
  curl.easy_reset(easy);
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(easy, option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_USERAGENT, "ubique");
  set(CURLOPT_CONNECTTIMEOUT, 30L);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, options_.stall_seconds);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  if (const auto bundle = certificate_bundle(); !bundle.empty()) {
    set(CURLOPT_CAINFO, bundle.c_str());  // libcurl copies texts
  }
  std::string range;
  if (request.first) {
    range = request.last < 0 ? fmt::format("{}-", *request.first)
                             : fmt::format("{}-{}", *request.first, request.last);
    set(CURLOPT_RANGE, range.c_str());
  }
  curl_slist* headers = nullptr;
  if (with_token && !request.token.empty()) {
    headers = curl.slist_append(headers, ("Authorization: Bearer " + request.token).c_str());
    set(CURLOPT_HTTPHEADER, headers);
  }
  const auto code = curl.easy_perform(easy);
  set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  curl.slist_free_all(headers);
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code != CURLE_OK && !reply.stopped) {
    reply.fault = curl.easy_strerror(code);
    reply.final = is_final(code);
  }
  char* next = nullptr;
  if (reply.status >= 300 && reply.status < 400 && reply.fault.empty() && !reply.stopped) {
    curl.easy_getinfo(easy, CURLINFO_REDIRECT_URL, &next);
  }
  return next == nullptr ? std::string() : std::string(next);
}

#endif

}  // namespace ubique::io
