// SPDX-License-Identifier: Apache-2.0
// Converts containers, and the values that Python pickles as calls: bytes, devices, NumPy numbers.
#include "ubique/io/torch/torch_file_tree.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/tensors/tensor_stats.h"
#include "ubique/io/torch/torch_file_tensor.h"

namespace ubique::io {
namespace {

constexpr int kMaxTreeDepth = 100;
// Shared values are copied at each use, so a few bytes of pickle can expand to gigabytes.
constexpr std::size_t kMaxTreeBytes = 128U << 20U;
constexpr std::size_t kBytesPerValue = 64;

constexpr std::string_view kTensorKey = "$tensor";
constexpr std::string_view kBytesKey = "$bytes";

bool is_builtin(std::string_view global, std::string_view name) {
  return global == fmt::format("builtins.{}", name) ||
         global == fmt::format("__builtin__.{}", name);
}

/// UTF-8 of code points up to U+00FF to one byte each: how protocol 2 stores bytes.
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

/// The content of a Bytes node, or of a call that makes bytes in Python; nothing if it is neither.
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

std::string device_text(const Pickle& pickle, std::span<const PickleId> arguments) {
  std::string text;
  for (const auto id : arguments) {
    const auto& node = pickle[id];
    if (node.kind == PickleKind::Text) text += node.text;
    if (node.kind == PickleKind::Int) text += fmt::format(":{}", node.integer);
  }
  return text;
}

/// A number from its little-endian bytes and NumPy's name of its type ("f8").
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

/// scalar(dtype("f8"), bytes); the dtype's state holds the byte order.
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

/// A torch.device as text, a NumPy number as a number; nothing for other calls. Input error for
/// NumPy values that are no integer, float or bool.
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

class TreeReader {
 public:
  TreeReader(const Pickle& pickle, TorchTensors& tensors, const std::string& file)
      : pickle_(pickle), tensors_(tensors), file_(file) {}

  TorchFile run();

 private:
  Json value(PickleId id, const std::string& path, int depth);
  Json list(const std::vector<PickleId>& items, const std::string& path, int depth);
  Json dict(const std::vector<PickleId>& pairs, const std::string& path, int depth);
  Json call(const PickleNode& node, const std::string& path, int depth);
  Json ordered_dict(const PickleNode& node, const std::string& path, int depth);
  Json tensor(const PickleNode& node, const std::string& path);
  Json bytes(std::string_view raw);
  std::string key_text(PickleId id) const;
  void spend(std::size_t bytes);
  [[noreturn]] void refuse(const PickleNode& node, const std::string& path) const;

  const Pickle& pickle_;
  TorchTensors& tensors_;
  const std::string& file_;
  TorchFile result_;
  std::set<std::string> names_;
  std::size_t spent_ = 0;
};

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "/" + key;
}

void TreeReader::spend(std::size_t bytes) {
  spent_ += bytes + kBytesPerValue;
  check(spent_ <= kMaxTreeBytes, ErrorKind::Input,
        "[io.torch_file] {} holds too many values beside its tensors; expected at most {} MiB of "
        "them.",
        file_, kMaxTreeBytes >> 20U);
}

void TreeReader::refuse(const PickleNode& node, const std::string& path) const {
  const auto what = node.kind == PickleKind::Persistent ? "a bare storage" : node.text;
  fail(ErrorKind::Input,
       "[io.torch_file] {}: '{}' is not a tensor or a plain value; got {}. Save a dict of tensors, "
       "numbers and texts.",
       file_, printable(path), printable(what));
}

std::string TreeReader::key_text(PickleId id) const {
  const auto& node = pickle_[id];
  switch (node.kind) {
    case PickleKind::Text:
      return node.text;
    case PickleKind::Int:
      return std::to_string(node.integer);
    case PickleKind::Unsigned:
      return std::to_string(static_cast<std::uint64_t>(node.integer));
    case PickleKind::Float:
      return fmt::format("{}", node.number);
    case PickleKind::Bool:
      return node.integer != 0 ? "True" : "False";
    case PickleKind::None:
      return "None";
    default:
      fail(ErrorKind::Input,
           "[io.torch_file] {} has a dict with a key that is neither text nor number.", file_);
  }
}

Json TreeReader::list(const std::vector<PickleId>& items, const std::string& path, int depth) {
  auto result = Json::array();
  for (const auto id : items) {
    result.push_back(value(id, join_path(path, std::to_string(result.size())), depth + 1));
  }
  return result;
}

Json TreeReader::dict(const std::vector<PickleId>& pairs, const std::string& path, int depth) {
  auto result = Json::object();
  auto& members = result.get_ref<Json::object_t&>();
  std::set<std::string> seen;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto key = key_text(pairs[i]);
    check(seen.insert(key).second, ErrorKind::Input,
          "[io.torch_file] {} has the key '{}' twice in one dict; expected it once.", file_,
          printable(join_path(path, key)));
    check(key != kTensorKey && key != kBytesKey, ErrorKind::Input,
          "[io.torch_file] {} has a dict with the key '{}', which is reserved here.", file_, key);
    // An ordered object is a list: appending directly avoids its linear search.
    members.emplace_back(key, value(pairs[i + 1], join_path(path, key), depth + 1));
  }
  return result;
}

/// Python 3 constructs it empty and sets its items; Python 2 passes a list of pairs. Its state, the
/// _metadata of a state_dict (versions of modules), is ignored.
Json TreeReader::ordered_dict(const PickleNode& node, const std::string& path, int depth) {
  auto pairs = std::vector<PickleId>();
  for (const auto argument : pickle_[node.arguments].items) {
    for (const auto id : pickle_[argument].items) {
      const auto& pair = pickle_[id];
      if (pair.items.size() != 2) refuse(node, path);
      pairs.insert(pairs.end(), pair.items.begin(), pair.items.end());
    }
  }
  pairs.insert(pairs.end(), node.items.begin(), node.items.end());
  return dict(pairs, path, depth);
}

Json TreeReader::tensor(const PickleNode& node, const std::string& path) {
  check(names_.insert(path).second, ErrorKind::Input,
        "[io.torch_file] {} has two tensors named '{}'; expected each name once.", file_,
        printable(path));
  result_.tensors.push_back(tensors_.make(pickle_, node, path));
  return {{kTensorKey, path}};
}

/// Whether the only argument of the call holds the values: torch.Size((1, 2)), set([1, 2]).
bool wraps_values(std::string_view callee) {
  return callee == "torch.Size" || callee == "builtins.set" || callee == "__builtin__.set" ||
         callee == "builtins.frozenset" || callee == "__builtin__.frozenset";
}

Json TreeReader::bytes(std::string_view raw) {
  spend(raw.size());
  std::string hex;
  for (const char c : raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {{kBytesKey, hex}};
}

Json TreeReader::call(const PickleNode& node, const std::string& path, int depth) {
  if (node.text == "collections.OrderedDict") return ordered_dict(node, path, depth);
  // The state of an old parameter holds requires_grad; no other value has one.
  const bool may_have_state = node.text == "torch.nn.parameter.Parameter";
  if (!node.items.empty() || (node.state && !may_have_state)) refuse(node, path);
  if (TorchTensors::describes_tensor(node.text)) return tensor(node, path);
  if (auto plain = pickled_value(pickle_, node, file_)) return *plain;
  const auto& arguments = pickle_[node.arguments].items;
  if (wraps_values(node.text)) {
    return arguments.empty() ? Json::array() : value(arguments.front(), path, depth + 1);
  }
  const auto raw = pickled_bytes(pickle_, node);
  if (!raw) refuse(node, path);
  return bytes(*raw);
}

Json TreeReader::value(PickleId id, const std::string& path, int depth) {
  check(depth <= kMaxTreeDepth, ErrorKind::Input,
        "[io.torch_file] {} is nested too deeply, or a value holds itself; expected at most {} "
        "levels.",
        file_, kMaxTreeDepth);
  const auto& node = pickle_[id];
  spend(node.text.size() + path.size());
  switch (node.kind) {
    case PickleKind::None:
      return nullptr;
    case PickleKind::Bool:
      return node.integer != 0;
    case PickleKind::Int:
      return node.integer;
    case PickleKind::Unsigned:
      return static_cast<std::uint64_t>(node.integer);
    case PickleKind::Float:
      return node.number;
    case PickleKind::Text:
    case PickleKind::Global:  // a dtype or a class, by its name
      return node.text;
    case PickleKind::Tuple:
    case PickleKind::List:
    case PickleKind::Set:
      return list(node.items, path, depth);
    case PickleKind::Dict:
      return dict(node.items, path, depth);
    case PickleKind::Bytes:
      return bytes(node.text);
    case PickleKind::Call:
      return call(node, path, depth);
    case PickleKind::Persistent:
      break;
  }
  refuse(node, path);
}

TorchFile TreeReader::run() {
  result_.tree = value(pickle_.root, "", 0);
  return std::move(result_);
}

}  // namespace

TorchFile torch_tree(const Pickle& pickle, TorchTensors& tensors, const std::string& file) {
  return TreeReader(pickle, tensors, file).run();
}

}  // namespace ubique::io
