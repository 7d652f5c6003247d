// SPDX-License-Identifier: Apache-2.0
// Patterns are matched part by part.
#include "ubique/serve/http/router.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "ubique/base/text/printable.h"

namespace ubique::serve {
namespace {

/// Between slashes; empty parts stay, so that "/a//b" is not "/a/b".
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = path.find('/');
    parts.emplace_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  }
  return parts;
}

std::string rest_of(const std::vector<std::string>& parts, std::size_t first) {
  std::string rest;
  for (auto i = first; i < parts.size(); ++i) rest += (i > first ? "/" : "") + parts[i];
  return rest;
}

using Values = std::map<std::string, std::string>;

std::optional<Values> match_parts(const std::vector<std::string>& pattern,
                                  const std::vector<std::string>& path) {
  Values values;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto& part = pattern[i];
    const bool named = part.size() > 2 && part.front() == '{';
    const auto name = named ? part.substr(1, part.size() - 2) : std::string();
    if (i >= path.size()) return std::nullopt;
    if (named && name.ends_with('*')) {
      values[name.substr(0, name.size() - 1)] = rest_of(path, i);
      return values;
    }
    if (named && !path[i].empty()) {
      values[name] = path[i];
    } else if (part != path[i]) {
      return std::nullopt;
    }
  }
  return path.size() == pattern.size() ? std::optional(values) : std::nullopt;
}

bool suits_method(const std::string& of_route, const std::string& asked) {
  return of_route == asked || (of_route == "GET" && asked == "HEAD");
}

}  // namespace

void Router::add(const std::string& method, const std::string& pattern, Handler handler,
                 RouteRules rules) {
  routes_.push_back({method, pattern, parts_of(pattern), std::move(handler), rules});
}

Router::Found Router::find(Request& request) const {
  const auto parts = parts_of(request.path);
  Found found;
  for (const auto& route : routes_) {
    auto values = match_parts(route.parts, parts);
    if (!values) continue;
    if (suits_method(route.method, request.method)) {
      request.values = std::move(*values);
      found.route = &route;
      return found;
    }
    found.allowed += (found.allowed.empty() ? "" : ", ") + route.method;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool api = request.path.starts_with("/api/") || request.path.starts_with("/v1/");
  found.page = pages_ && found.allowed.empty() && reads && !api;
  return found;
}

const RouteRules* Router::Found::rules() const {
  static constexpr RouteRules kOfPages{.open = true};
  if (route != nullptr) return &route->rules;
  return page ? &kOfPages : nullptr;
}

Response Router::answer(Request& request) const { return answer(find(request), request); }

Response Router::answer(const Found& found, const Request& request) const {
  try {
    if (found.route != nullptr) return found.route->handler(request);
    if (!found.allowed.empty()) {
      auto response = error_answer(
          405, "usage",
          fmt::format("[serve.request] {} has no {}; expected {}.", printable(request.path, 80),
                      printable(request.method, 20), found.allowed));
      response.headers["Allow"] = found.allowed;
      return response;
    }
    if (found.page) return pages_(request);
    missing("address", request.path);
  } catch (...) {
    return answer_of_exception();
  }
}

}  // namespace ubique::serve
