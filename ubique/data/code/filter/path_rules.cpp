// SPDX-License-Identifier: Apache-2.0
// Globs and the named rules.
#include "ubique/data/code/filter/path_rules.h"

#include <algorithm>
#include <array>

#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

/// The part after `star` is tried at each later place; only the last star needs to be remembered,
/// except that "*" stops at a folder and falls back to the last "**".
bool matches_whole(std::string_view pattern, std::string_view text) {
  constexpr auto kNone = std::string_view::npos;
  std::size_t p = 0, t = 0;
  std::size_t star = kNone, star_text = 0;  // last "*"
  std::size_t deep = kNone, deep_text = 0;  // last "**"
  while (t < text.size()) {
    if (p < pattern.size() && pattern.substr(p).starts_with("**")) {
      p += 2;
      if (p < pattern.size() && pattern[p] == '/') ++p;  // "**/" also matches no folder
      deep = p;
      deep_text = t;
      star = kNone;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      star_text = t;
    } else if (p < pattern.size() &&
               (pattern[p] == text[t] || (pattern[p] == '?' && text[t] != '/'))) {
      ++p;
      ++t;
    } else if (star != kNone && text[star_text] != '/') {
      p = star;
      t = ++star_text;
    } else if (deep != kNone) {
      p = deep;
      t = ++deep_text;
      star = kNone;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string_view name_of_file(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool has_folder(std::string_view path, std::string_view folder) {
  for (std::size_t at = path.find(folder); at != std::string_view::npos;
       at = path.find(folder, at + 1)) {
    const auto end = at + folder.size();
    if ((at == 0 || path[at - 1] == '/') && end < path.size() && path[end] == '/') return true;
  }
  return false;
}

constexpr std::array kVendoredFolders = {"node_modules",  "vendor",           "third_party",
                                         "thirdparty",    "bower_components", "Pods",
                                         "site-packages", "external_libs"};
constexpr std::array kGeneratedFolders = {"__generated__", "generated", "gen-src", "__pycache__"};
constexpr std::array kGeneratedEndings = {".pb.go",        ".pb.cc",      ".pb.h",
                                          "_pb2.py",       ".g.dart",     ".designer.cs",
                                          ".freezed.dart", "_pb2_grpc.py"};
constexpr std::array kMinifiedEndings = {".min.js", ".min.css", ".js.map", ".css.map",
                                         ".bundle.js"};
constexpr std::array kLockFiles = {
    "package-lock.json", "yarn.lock",     "pnpm-lock.yaml",     "Cargo.lock", "poetry.lock",
    "Pipfile.lock",      "composer.lock", "Gemfile.lock",       "go.sum",     "bun.lockb",
    "flake.lock",        "uv.lock",       "npm-shrinkwrap.json"};

std::string_view builtin_refusal(std::string_view path) {
  const auto name = name_of_file(path);
  const auto is = [&](const char* known) { return name == known; };
  const auto ends = [&](const char* ending) { return name.ends_with(ending); };
  const auto below = [&](const char* folder) { return has_folder(path, folder); };
  if (std::any_of(kLockFiles.begin(), kLockFiles.end(), is)) return "lock_file";
  if (std::any_of(kMinifiedEndings.begin(), kMinifiedEndings.end(), ends)) return "minified";
  if (std::any_of(kGeneratedEndings.begin(), kGeneratedEndings.end(), ends)) return "generated";
  if (std::any_of(kVendoredFolders.begin(), kVendoredFolders.end(), below)) return "vendored";
  if (std::any_of(kGeneratedFolders.begin(), kGeneratedFolders.end(), below)) return "generated";
  return {};
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with('/')) {
    const auto folder = pattern.substr(0, pattern.size() - 1);
    return path.size() > pattern.size() && path[folder.size()] == '/' &&
           matches_whole(folder, path.substr(0, folder.size()));
  }
  if (pattern.find('/') == std::string_view::npos) {
    return matches_whole(pattern, name_of_file(path)) || pattern == "**";
  }
  return matches_whole(pattern, path);
}

std::string_view path_refusal(const PathRules& rules, std::string_view path) {
  const auto any = [&](const std::vector<std::string>& globs) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const auto& glob) { return glob_matches(glob, path); });
  };
  if (!rules.paths.empty() && !any(rules.paths)) return "path";
  if (any(rules.exclude)) return "excluded";
  return rules.builtin ? builtin_refusal(path) : std::string_view();
}

std::string_view content_refusal(std::string_view text) {
  constexpr std::size_t kNoteLines = 512, kMostMean = 400, kSmall = 5000;
  const auto start = lowercase(text.substr(0, kNoteLines));
  for (const auto* note : {"do not edit", "@generated", "autogenerated", "auto-generated"}) {
    const auto at = start.find(note);
    if (at == std::string::npos) continue;
    // "DO NOT EDIT" alone may be said of one line; with "generated" it is about the file.
    if (std::string_view(note) != "do not edit" || start.find("generated") != std::string::npos) {
      return "generated";
    }
  }
  if (text.size() < kSmall) return {};
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  return text.size() / lines > kMostMean ? "minified" : std::string_view();
}

}  // namespace ubique::data
