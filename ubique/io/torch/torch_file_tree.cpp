// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/torch/torch_file_tree.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/io/text/printable.h"
#include "ubique/io/torch/torch_file_tensor.h"

namespace ubique::io {
namespace {

constexpr int kMaxTreeDepth = 100;
// Shared values are written out each time they are met; a few bytes can ask for gigabytes of them.
constexpr std::size_t kMaxTreeBytes = 128U << 20U;
constexpr std::size_t kBytesPerValue = 64;

constexpr std::string_view kTensorKey = "$tensor";
constexpr std::string_view kBytesKey = "$bytes";

class TreeWalk {
 public:
  TreeWalk(const Pickle& pickle, TorchTensors& tensors, const std::string& file)
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

void TreeWalk::spend(std::size_t bytes) {
  spent_ += bytes + kBytesPerValue;
  check(spent_ <= kMaxTreeBytes, ErrorKind::Input,
        "[io.torch_file] {} holds too many values beside its tensors; expected at most {} MiB of "
        "them.",
        file_, kMaxTreeBytes >> 20U);
}

void TreeWalk::refuse(const PickleNode& node, const std::string& path) const {
  const auto what = node.kind == PickleKind::Persistent ? "a bare storage" : node.text;
  fail(ErrorKind::Input,
       "[io.torch_file] {}: '{}' is not a tensor or a plain value; got {}. Save a dict of tensors, "
       "numbers and texts.",
       file_, printable(path), printable(what));
}

std::string TreeWalk::key_text(PickleId id) const {
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

Json TreeWalk::list(const std::vector<PickleId>& items, const std::string& path, int depth) {
  auto result = Json::array();
  for (const auto id : items) {
    result.push_back(value(id, join_path(path, std::to_string(result.size())), depth + 1));
  }
  return result;
}

Json TreeWalk::dict(const std::vector<PickleId>& pairs, const std::string& path, int depth) {
  auto result = Json::object();
  auto& members = result.get_ref<Json::object_t&>();
  std::set<std::string> seen;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto key = key_text(pairs[i]);
    check(seen.insert(key).second, ErrorKind::Input,
          "[io.torch_file] {} has the key '{}' twice in one dict; expected it once.", file_,
          printable(join_path(path, key)));
    check(key != kTensorKey && key != kBytesKey, ErrorKind::Input,
          "[io.torch_file] {} has a dict with the key '{}', which stands for something else here.",
          file_, key);
    // Straight to the end of the list that an ordered object is: its own search takes long.
    members.emplace_back(key, value(pairs[i + 1], join_path(path, key), depth + 1));
  }
  return result;
}

/// Python 3 makes it empty and sets its items; Python 2 gave a list of pairs. Its state, if any, is
/// the _metadata of a state_dict: versions of modules, which no reader needs.
Json TreeWalk::ordered_dict(const PickleNode& node, const std::string& path, int depth) {
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

Json TreeWalk::tensor(const PickleNode& node, const std::string& path) {
  check(names_.insert(path).second, ErrorKind::Input,
        "[io.torch_file] {} has two tensors named '{}'; expected each name once.", file_,
        printable(path));
  result_.tensors.push_back(tensors_.make(pickle_, node, path));
  return {{kTensorKey, path}};
}

/// Calls whose only argument holds the values: torch.Size((1, 2)), set([1, 2]).
bool wraps_values(std::string_view callee) {
  return callee == "torch.Size" || callee == "builtins.set" || callee == "__builtin__.set" ||
         callee == "builtins.frozenset" || callee == "__builtin__.frozenset";
}

Json TreeWalk::bytes(std::string_view raw) {
  spend(raw.size());
  std::string hex;
  for (const char c : raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {{kBytesKey, hex}};
}

Json TreeWalk::call(const PickleNode& node, const std::string& path, int depth) {
  if (node.text == "collections.OrderedDict") return ordered_dict(node, path, depth);
  // An old parameter's state says whether it learns; no other value has one.
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

Json TreeWalk::value(PickleId id, const std::string& path, int depth) {
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

TorchFile TreeWalk::run() {
  result_.tree = value(pickle_.root, "", 0);
  return std::move(result_);
}

}  // namespace

TorchFile torch_tree(const Pickle& pickle, TorchTensors& tensors, const std::string& file) {
  return TreeWalk(pickle, tensors, file).run();
}

}  // namespace ubique::io
