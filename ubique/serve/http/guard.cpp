// SPDX-License-Identifier: Apache-2.0
// The checks, in the order in which they are told to the client.
#include "ubique/serve/http/guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kMostAddresses = 4096;
constexpr std::string_view kCookie = "ubique_token=";

/// Without the port: "localhost" of "localhost:7870", "::1" of "[::1]:80".
std::string host_name(std::string host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end == std::string::npos ? host : host.substr(1, end - 1);
  }
  return lowercase(host.substr(0, host.find(':')));
}

/// A page of an attacker reaches us under the attacker's name (DNS rebinding), never under an
/// address.
bool is_address(const std::string& name) {
  in_addr v4{};
  in6_addr v6{};
  return ::inet_pton(AF_INET, name.c_str(), &v4) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &v6) == 1;
}

std::string bearer_of(const Request& request) {
  constexpr std::string_view kBearer = "bearer ";
  const auto given = request.header("Authorization");
  const bool bearer = lowercase(given.substr(0, kBearer.size())) == kBearer;
  return bearer ? std::string(trim(given.substr(kBearer.size()))) : std::string();
}

std::string cookie_of(const Request& request) {
  for (const auto& part : split(request.header("Cookie"), ';')) {
    if (part.starts_with(kCookie)) return part.substr(kCookie.size());
  }
  return {};
}

bool changes_something(const Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

/// Pages in a browser send at least one of these with every request that changes something.
bool from_browser(const Request& request) {
  return !request.header("Origin").empty() || !request.header("Sec-Fetch-Site").empty() ||
         !request.header("Cookie").empty();
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool same_secret(std::string_view left, std::string_view right) {
  // Every byte of the longer one is looked at.
  const auto most = std::max(left.size(), right.size());
  auto different = static_cast<unsigned>(left.size() != right.size());
  for (std::size_t i = 0; i < most; ++i) {
    const auto a = i < left.size() ? static_cast<unsigned char>(left[i]) : 0U;
    const auto b = i < right.size() ? static_cast<unsigned char>(right[i]) : 0U;
    different |= a ^ b;
  }
  return different == 0;
}

RateLimit::RateLimit(double per_second, double at_once, Clock clock)
    : per_second_(per_second), at_once_(at_once), clock_(std::move(clock)) {
  if (!clock_) clock_ = steady_seconds;
}

RateLimit::Bucket& RateLimit::bucket_of(const std::string& address) {
  const double now = clock_();
  if (buckets_.size() > kMostAddresses) {
    std::erase_if(buckets_, [&](const auto& entry) {
      return entry.second.left + (now - entry.second.filled) * per_second_ >= at_once_;
    });
  }
  auto [found, added] = buckets_.try_emplace(address, Bucket{at_once_, now});
  auto& bucket = found->second;
  bucket.left = std::min(at_once_, bucket.left + (now - bucket.filled) * per_second_);
  bucket.filled = now;
  return bucket;
}

bool RateLimit::take(const std::string& address) {
  const std::lock_guard lock(mutex_);
  auto& bucket = bucket_of(address);
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

bool RateLimit::has(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return bucket_of(address).left >= 1;
}

Guard::Guard(GuardSettings settings)
    : settings_(std::move(settings)),
      changes_(settings_.changes_per_second, settings_.changes_at_once),
      wrong_tokens_(0.2, 10) {}

bool Guard::knows_host(const Request& request) const {
  const auto name = host_name(request.header("Host"));
  if (name.empty()) return false;
  const auto& names = settings_.names;
  return name == "localhost" || name.ends_with(".localhost") || is_address(name) ||
         std::ranges::find(names, name) != names.end();
}

bool Guard::has_token(const Request& request) const {
  const bool bearer = same_secret(bearer_of(request), settings_.token);
  const bool cookie = same_secret(cookie_of(request), settings_.token);
  return bearer || cookie;
}

std::optional<Response> Guard::forged(const Request& request, const RouteRules* rules) const {
  const auto origin = request.header("Origin");
  const auto site = request.header("Sec-Fetch-Site");
  const auto host = request.header("Host");
  const bool same = origin.empty() || origin == "http://" + host || origin == "https://" + host;
  if (!same || ((site == "cross-site" || site == "same-site") &&
                request.header("Sec-Fetch-Mode") != "navigate")) {
    return error_answer(403, "auth",
                        fmt::format("[serve.guard] the request comes from another page; got Origin "
                                    "'{}', expected this server's own pages.",
                                    printable(origin, 80)));
  }
  if (!changes_something(request) || !request.header("X-Ubique").empty()) return std::nullopt;
  // A page elsewhere cannot add this header without our leave, which we never give.
  if (!request.header("Authorization").empty()) return std::nullopt;
  if (rules != nullptr && rules->foreign && !from_browser(request)) return std::nullopt;
  return error_answer(403, "auth",
                      "[serve.guard] a request that changes something needs the header X-Ubique: "
                      "1, or the token as Authorization: Bearer TOKEN.");
}

std::optional<Response> Guard::refusal(const Request& request, const RouteRules* rules) {
  if (!knows_host(request)) {
    return error_answer(
        403, "auth",
        fmt::format("[serve.guard] the server is not called that; got Host '{}', expected "
                    "localhost, an address or a name given with --name.",
                    printable(request.header("Host"), 80)));
  }
  if (auto refused = forged(request, rules)) return refused;
  const bool open = rules != nullptr && rules->open;
  if (wants_token() && !open && !has_token(request)) {
    if (!wrong_tokens_.has(request.address)) {
      return error_answer(429, "limit",
                          "[serve.guard] too many wrong tokens; try again in a few seconds.");
    }
    if (!bearer_of(request).empty() || !cookie_of(request).empty()) {
      wrong_tokens_.take(request.address);
    }
    auto response = error_answer(401, "auth",
                                 "[serve.guard] a token is needed; expected Authorization: Bearer "
                                 "TOKEN, or the page opened as /?token=TOKEN.");
    response.headers["WWW-Authenticate"] = "Bearer";
    return response;
  }
  if (changes_something(request) && !changes_.take(request.address)) {
    auto response =
        error_answer(429, "limit", "[serve.guard] too many requests; try again in a second.");
    response.headers["Retry-After"] = "1";
    return response;
  }
  return std::nullopt;
}

std::optional<Response> Guard::sign_in(const Request& request) {
  const auto token = request.asked("token");
  if (request.path != "/" || token.empty() || request.method != "GET") return std::nullopt;
  if (!wants_token() || !knows_host(request)) return std::nullopt;
  if (!wrong_tokens_.has(request.address) || !same_secret(token, settings_.token)) {
    wrong_tokens_.take(request.address);
    return error_answer(401, "auth", "[serve.guard] that is not the token.");
  }
  Response response;
  response.status = 303;
  response.headers["Location"] = "/";
  response.headers["Set-Cookie"] =
      fmt::format("{}{}; Path=/; HttpOnly; SameSite=Strict", kCookie, settings_.token);
  return response;
}

void add_hardened_headers(Response& response) {
  auto& headers = response.headers;
  headers["X-Content-Type-Options"] = "nosniff";
  headers["X-Frame-Options"] = "SAMEORIGIN";
  headers["Referrer-Policy"] = "no-referrer";
  headers["Cross-Origin-Resource-Policy"] = "same-origin";
  headers["Cross-Origin-Opener-Policy"] = "same-origin";
  headers.try_emplace("Content-Security-Policy", "default-src 'none'; frame-ancestors 'self'");
  headers.try_emplace("Cache-Control", "no-store");
}

}  // namespace ubique::serve
