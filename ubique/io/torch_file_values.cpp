// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/torch_file_values.h"

#include <algorithm>
#include <bit>

#include "ubique/base/error.h"
#include "ubique/io/byte_order.h"
#include "ubique/io/printable.h"
#include "ubique/io/tensor_stats.h"

namespace ubique::io {
namespace {

bool is_builtin(std::string_view global, std::string_view name) {
  return global == fmt::format("builtins.{}", name) ||
         global == fmt::format("__builtin__.{}", name);
}

/// UTF-8 of code points up to U+00FF, one byte each: how protocol 2 writes bytes.
std::optional<std::string> latin1(std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x80U) {
      out += utf8[i];
    } else if (byte <= 0xC3U && i + 1 < utf8.size()) {
      out +=
          static_cast<char>((byte & 0x03U) << 6U | (static_cast<unsigned char>(utf8[++i]) & 0x3FU));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::string device_text(const Pickle& pickle, std::span<const PickleId> arguments) {
  std::string text;
  for (const auto id : arguments) {
    const auto& node = pickle[id];
    if (node.kind == PickleKind::Text) text += node.text;
    if (node.kind == PickleKind::Int) text += fmt::format(":{}", node.integer);
  }
  return text;
}

/// A number from its bytes, lowest first, and NumPy's spelling of its type ("f8").
std::optional<Json> numpy_number(const std::string& type, std::span<const std::byte> little) {
  if (type.size() != 2 || little.size() != static_cast<std::size_t>(type[1] - '0')) return {};
  const auto bits = load_little(little);
  switch (type[0]) {
    case 'b':
      return Json(bits != 0);
    case 'u':
      return Json(bits);
    case 'i': {
      const auto unused = 64 - 8 * little.size();
      return Json(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    case 'f':
      if (little.size() == 2) return Json(decode_f16(static_cast<std::uint16_t>(bits)));
      if (little.size() == 4) return Json(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      if (little.size() == 8) return Json(std::bit_cast<double>(bits));
      return {};
    default:
      return {};
  }
}

/// scalar(dtype("f8"), bytes), where the dtype's state says the byte order.
std::optional<Json> numpy_scalar(const Pickle& pickle, std::span<const PickleId> arguments) {
  if (arguments.size() != 2) return {};
  const auto& dtype = pickle[arguments[0]];
  auto raw = pickled_bytes(pickle, pickle[arguments[1]]);
  if (dtype.kind != PickleKind::Call || dtype.text != "numpy.dtype" || !raw) return {};
  const auto& names = pickle[dtype.arguments].items;
  if (names.empty() || raw->empty() || raw->size() > 8) return {};
  if (dtype.state) {
    const auto& state = pickle[*dtype.state].items;
    if (state.size() > 1 && pickle[state[1]].text == ">") std::reverse(raw->begin(), raw->end());
  }
  return numpy_number(pickle[names.front()].text, std::as_bytes(std::span(*raw)));
}

}  // namespace

std::optional<std::string> pickled_bytes(const Pickle& pickle, const PickleNode& node) {
  if (node.kind == PickleKind::Bytes) return node.text;
  if (node.kind != PickleKind::Call) return {};
  const auto& arguments = pickle[node.arguments].items;
  if (is_builtin(node.text, "bytes") || is_builtin(node.text, "bytearray")) {
    if (arguments.empty()) return std::string();
    const auto& inner = pickle[arguments.front()];
    if (inner.kind == PickleKind::Bytes) return inner.text;
    return inner.text == "_codecs.encode" ? pickled_bytes(pickle, inner) : std::nullopt;
  }
  const bool encoded = node.text == "_codecs.encode" && arguments.size() == 2 &&
                       pickle[arguments[0]].kind == PickleKind::Text &&
                       pickle[arguments[1]].text == "latin1";
  return encoded ? latin1(pickle[arguments[0]].text) : std::nullopt;
}

std::optional<Json> pickled_value(const Pickle& pickle, const PickleNode& call,
                                  const std::string& file) {
  const auto& arguments = pickle[call.arguments].items;
  if (call.text == "torch.device") return Json(device_text(pickle, arguments));
  if (call.text != "numpy._core.multiarray.scalar" && call.text != "numpy.core.multiarray.scalar") {
    return {};
  }
  auto number = numpy_scalar(pickle, arguments);
  check(number.has_value(), ErrorKind::Input,
        "[io.torch_file] {} holds a NumPy value that is no number; expected integers, floats and "
        "bools. Turn it into a Python value before saving.",
        file);
  return number;
}

}  // namespace ubique::io
