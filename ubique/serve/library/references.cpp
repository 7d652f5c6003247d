// SPDX-License-Identifier: Apache-2.0
// The four kinds of references.
#include "ubique/serve/library/references.h"

#include <charconv>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"

namespace ubique::serve {
namespace {

struct Parts {
  std::string name, rest;  // "12" and "song.wav" of "12/song.wav"
};

Parts parts_of_reference(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return {text, {}};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::filesystem::path below(const std::filesystem::path& folder, const std::string& rest,
                            const std::string& reference) {
  const auto path = inside(folder, rest.empty() ? "." : rest);
  check(path.has_value(), ErrorKind::Input, "[serve.reference] there is no such file; got '{}'.",
        printable(reference, 160));
  return *path;
}

}  // namespace

std::int64_t id_of(const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && id > 0 ? id : 0;
}

std::filesystem::path References::resolve(const std::string& reference) const {
  const auto colon = reference.find(':');
  const auto kind = reference.substr(0, colon);
  const auto rest = colon == std::string::npos ? std::string() : reference.substr(colon + 1);
  try {
    if (kind == "upload") {
      const auto path = uploads_.get(rest).path;
      std::error_code ignored;
      check(std::filesystem::exists(path, ignored), ErrorKind::Input,
            "[serve.reference] the file of '{}' is gone.", printable(reference, 80));
      return path;
    }
    const auto [name, below_it] = parts_of_reference(rest);
    if (kind == "library") return below(library_.folder(id_of(name)), below_it, reference);
    if (kind == "model") return models_.resolve(rest);
    if (kind == "folder" && shared_.contains(name)) {
      return below(shared_.at(name), below_it, reference);
    }
  } catch (const ErrorAnswer& answer) {  // "there is no such upload"
    throw Error(ErrorKind::Input, answer.message);
  }
  fail(ErrorKind::Input,
       "[serve.reference] no reference; got '{}', expected upload:ID, library:ITEM/NAME, "
       "model:REF or folder:NAME/PATH.",
       printable(reference, 80));
}

}  // namespace ubique::serve
