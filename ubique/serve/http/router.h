// SPDX-License-Identifier: Apache-2.0
// From a method and a path to the function that answers.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/serve/http/message.h"

namespace ubique::serve {

using Handler = std::function<Response(const Request&)>;

/// What a route is allowed that others are not.
struct RouteRules {
  /// Scripts of other programs call it without our header: they are told from a page in a browser
  /// by what browsers always send.
  bool foreign = false;
  bool open = false;                     ///< answers without a token
  bool uploads = false;                  ///< takes multipart bodies, of the size of uploads
  std::int64_t body_bytes = 4LL << 20U;  ///< most bytes of any other body
};

class Router {
 public:
  struct Route {
    std::string method, pattern;
    std::vector<std::string> parts;
    Handler handler;
    RouteRules rules;
  };

  /// `pattern` is a path in which "{name}" stands for one part and, at its end, "{name*}" for the
  /// rest with its slashes.
  void add(const std::string& method, const std::string& pattern, Handler handler,
           RouteRules rules = {});
  /// What answers GET and HEAD for paths of no route: the pages.
  void set_pages(Handler handler) { pages_ = std::move(handler); }

  struct Found {
    const Route* route = nullptr;  ///< null: no such path, or not with this method
    std::string allowed;           ///< methods that the path has, for 405
    bool page = false;             ///< none of the routes', but the pages' to answer
    /// Pages hold nothing of anybody's: they answer without a token, and ask for it. Null: no path.
    const RouteRules* rules() const;
  };
  /// Fills `request.values`.
  Found find(Request& request) const;
  /// Runs the route, the pages or an error answer; nothing is thrown.
  Response answer(Request& request) const;
  Response answer(const Found& found, const Request& request) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  Handler pages_;
};

}  // namespace ubique::serve
