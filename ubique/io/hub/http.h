// SPDX-License-Identifier: Apache-2.0
// GET over HTTP through libcurl, which is loaded when it is first needed: the program neither
// starts slower for it nor fails without it. Proxies come from the usual variables (https_proxy,
// no_proxy). A token goes to the host that was asked, never to another that it redirects to, and
// stands in no message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ubique::io {

struct HttpRequest {
  std::string url;
  std::string token = {};                  ///< empty = none
  std::optional<std::int64_t> first = {};  ///< ask for bytes from here ...
  std::int64_t last = -1;                  ///< ... to here, inclusive
};

struct HttpReply {
  long status = 0;                                  ///< 0: no answer came
  std::map<std::string, std::string> headers = {};  ///< names in lower case
  std::string url = {};    ///< where the answer came from, without what follows '?'
  std::string text = {};   ///< the beginning of an error's body
  std::string fault = {};  ///< why the transfer ended early; empty if it did not
  bool stopped = false;    ///< by the person, or because the sink wanted no more
  bool final = false;      ///< trying again will not help: an address or a certificate is wrong

  std::string header(const std::string& name) const;
  bool succeeded() const { return status >= 200 && status < 300 && fault.empty() && !stopped; }
};

/// Receives the body of an answer with status 2xx; false ends the transfer. The reply has its
/// status and headers by then.
using HttpSink = std::function<bool(const HttpReply& reply, std::span<const std::byte> bytes)>;

struct HttpOptions {
  std::function<bool()> stop_requested = {};
  long stall_seconds = 30;  ///< without a byte, until a transfer counts as cut
};

/// One connection at a time, kept open between requests; for one thread.
class HttpClient {
 public:
  /// Device error where libcurl is missing.
  explicit HttpClient(HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Follows redirects. Faults of the network are in the reply; exceptions of the sink pass
  /// through.
  HttpReply get(const HttpRequest& request, const HttpSink& sink);

 private:
  struct Transfer;
  struct Handle;

  std::string get_once(const HttpRequest& request, const std::string& url, bool with_token,
                       const HttpSink& sink, HttpReply& reply);

  HttpOptions options_;
  std::unique_ptr<Handle> handle_;
};

/// Can this program download, and if not, why not?
bool has_http();
std::string http_missing();

/// "https://host:port" of a URL in lower case; empty for anything but http and https with a host
/// and no name or password in it.
std::string url_origin(std::string_view url);

}  // namespace ubique::io
