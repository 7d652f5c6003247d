// SPDX-License-Identifier: Apache-2.0
// Choosing a format by its name or by the name of the output.
#include "ubique/engine/contract/format.h"

#include <algorithm>

#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

std::vector<std::string> names_of(const std::vector<Format>& formats) {
  std::vector<std::string> names;
  for (const auto& format : formats) names.push_back(format.name);
  return names;
}

}  // namespace

bool Format::suits(const std::filesystem::path& path) const {
  const auto name = path.filename().string();
  return std::ranges::find(extensions, path.extension().string()) != extensions.end() ||
         std::ranges::any_of(name_prefixes,
                             [&](const std::string& prefix) { return name.starts_with(prefix); });
}

bool Format::is_named(const std::string& word) const {
  return word == name || std::ranges::find(aliases, word) != aliases.end();
}

const Format& find_format(const std::vector<Format>& formats, const std::string& name) {
  for (const auto& format : formats) {
    if (format.is_named(name)) return format;
  }
  const auto names = names_of(formats);
  fail(ErrorKind::Usage, "[engine.format] which format? got '{}', expected --format {}.{}", name,
       join(names, ", "), hint(name, names));
}

std::string format_names(const std::vector<Format>& formats) {
  return join(names_of(formats), ", ");
}

}  // namespace ubique::engine
