// SPDX-License-Identifier: Apache-2.0
// The layout of Hugging Face's cache: models--OWNER--NAME/snapshots/COMMIT, refs/main has the
// commit.
#include "ubique/models/codelm/files/hub.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

fs::path hub_cache() {
  if (const auto cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const auto home = variable("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  return fs::path(variable("HOME")) / ".cache" / "huggingface" / "hub";
}

/// "owner/name" and no path: one slash, letters, digits, '-', '_' and '.', not beginning with '.'.
bool is_hub_name(const std::string& name) {
  const auto parts = split(name, '/');
  return parts.size() == 2 && std::ranges::all_of(parts, [](const std::string& part) {
           return !part.empty() && part.front() != '.' &&
                  std::ranges::all_of(part, [](unsigned char c) {
                    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                  });
         });
}

}  // namespace

fs::path hub_folder(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored) || !is_hub_name(name)) return name;
  const auto parts = split(name, '/');
  const auto folder = hub_cache() / ("models--" + parts[0] + "--" + parts[1]);
  const auto ref = folder / "refs" / "main";
  if (fs::is_regular_file(ref, ignored)) {
    const auto commit = std::string(trim(read_file(ref, 1 << 10)));
    const auto snapshot = folder / "snapshots" / commit;
    if (!commit.empty() && fs::is_directory(snapshot, ignored)) return snapshot;
  }
  fail(ErrorKind::Input,
       "[codelm.open] the model {} is not here; got neither a folder of that name nor a download "
       "in {}. `huggingface-cli download {} --local-dir FOLDER` gets it, --model FOLDER takes it.",
       printable(name), folder.string(), printable(name));
}

}  // namespace ubique::codelm
