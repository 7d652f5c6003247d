// SPDX-License-Identifier: Apache-2.0
// Who may ask: the token, the Host and Origin of a request, the header against forged requests, and
// how often one address may ask.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/serve/http/message.h"
#include "ubique/serve/http/router.h"

namespace ubique::serve {

/// Takes the same time wherever the texts differ.
bool same_secret(std::string_view left, std::string_view right);

/// A bucket per address that fills steadily: so many requests at once, so many a second.
class RateLimit {
 public:
  using Clock = std::function<double()>;  ///< seconds
  RateLimit(double per_second, double at_once, Clock clock = {});
  bool take(const std::string& address);  ///< false: too many
  /// False if the next take() would be refused; takes nothing.
  bool has(const std::string& address);

 private:
  struct Bucket {
    double left = 0, filled = 0;
  };
  Bucket& bucket_of(const std::string& address);

  double per_second_, at_once_;
  Clock clock_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

struct GuardSettings {
  std::string token = {};               ///< empty: none is needed
  std::vector<std::string> names = {};  ///< that Host may be, beside localhost and addresses
  double changes_per_second = 100, changes_at_once = 1000;
};

class Guard {
 public:
  explicit Guard(GuardSettings settings);

  /// An error answer for a request that may not be served. `rules`: of its route, or null.
  std::optional<Response> refusal(const Request& request, const RouteRules* rules);
  /// Opening a page as /?token=T sets the cookie and goes on without the token in the address.
  std::optional<Response> sign_in(const Request& request);
  bool wants_token() const { return !settings_.token.empty(); }

 private:
  bool knows_host(const Request& request) const;
  bool has_token(const Request& request) const;
  std::optional<Response> forged(const Request& request, const RouteRules* rules) const;

  GuardSettings settings_;
  RateLimit changes_;
  RateLimit wrong_tokens_;
};

/// Headers that every answer carries: no framing, no sniffing, nothing from elsewhere.
void add_hardened_headers(Response& response);

}  // namespace ubique::serve
