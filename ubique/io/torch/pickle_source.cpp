// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/torch/pickle_source.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::io {

void PickleSource::damaged(std::string_view what) const {
  fail(ErrorKind::Input, "[io.pickle] {} holds a pickle that cannot be read; near byte {}: {}.",
       file_, at_, what);
}

std::span<const std::byte> PickleSource::take(std::uint64_t size) {
  require(size <= left(), "it ends too early");
  const auto taken = bytes_.subspan(at_, size);
  at_ += size;
  return taken;
}

std::string PickleSource::take_text(std::uint64_t size) {
  const auto taken = take(size);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::string PickleSource::take_line() {
  const auto rest = bytes_.subspan(at_);
  const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
  require(end != rest.end(), "it ends too early");
  auto line = take_text(static_cast<std::uint64_t>(end - rest.begin()));
  take(1);
  return line;
}

}  // namespace ubique::io
