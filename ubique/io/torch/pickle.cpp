// SPDX-License-Identifier: Apache-2.0
// The stack machine: one function per group of opcodes.
#include "ubique/io/torch/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/torch/pickle_opcodes.h"
#include "ubique/io/torch/pickle_source.h"

namespace ubique::io {
namespace {

// A checkpoint of thousands of tensors has a pickle of about 1 MB, and a value for each 10 bytes.
constexpr std::size_t kMaxPickleBytes = 64U << 20U;
constexpr std::size_t kMaxPickleNodes = 2U << 20U;
constexpr std::size_t kMaxPickleMarks = 10'000;

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& file,
                std::span<const std::string_view> allowed)
      : source_(bytes, file), allowed_(allowed) {}

  Pickle run(std::size_t* used);

 private:
  using Op = PickleOp;

  // Each handles one group of opcodes; false: not in its group.
  bool run_number(Op op);
  bool run_text(Op op);
  bool run_build_container(Op op);
  bool run_add_items(Op op);
  bool run_stack(Op op);
  bool run_calling(Op op);

  void require(bool condition, std::string_view what) const { source_.require(condition, what); }
  PickleId add(PickleNode node);
  void push(PickleNode node) { stack_.push_back(add(std::move(node))); }
  void push_text(std::string text);
  void push_long(std::span<const std::byte> little);
  PickleId pop();
  std::vector<PickleId> pop_mark();
  void push_items(PickleKind kind, std::vector<PickleId> items) {
    PickleNode node{kind};
    node.items = std::move(items);
    push(std::move(node));
  }
  PickleNode& top();
  void fill(std::vector<PickleId> items, bool pairs);
  void memoize(std::uint64_t key);
  void push_global(const std::string& name);
  void push_call();

  PickleSource source_;
  std::span<const std::string_view> allowed_;
  Pickle result_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  // stack heights
  std::unordered_map<std::uint64_t, PickleId> memo_;
};

PickleId PickleMachine::add(PickleNode node) {
  require(result_.nodes.size() < kMaxPickleNodes, "it has too many values");
  result_.nodes.push_back(std::move(node));
  return static_cast<PickleId>(result_.nodes.size() - 1);
}

void PickleMachine::push_text(std::string text) {
  require(is_utf8(text), "a text is not UTF-8");
  PickleNode node{PickleKind::Text};
  node.text = std::move(text);
  push(std::move(node));
}

/// Two's complement, little-endian, of any length.
void PickleMachine::push_long(std::span<const std::byte> little) {
  const bool negative = !little.empty() && std::to_integer<int>(little.back()) >= 0x80;
  if (little.size() <= 8) {
    auto value = load_little(little);
    if (negative && little.size() < 8) value |= ~std::uint64_t{0} << (8 * little.size());
    return push({PickleKind::Int, static_cast<std::int64_t>(value)});
  }
  if (little.size() == 9 && little[8] == std::byte{0}) {
    return push({PickleKind::Unsigned, static_cast<std::int64_t>(load_little(little.first(8)))});
  }
  require(!negative, "a negative number does not fit into 64 bits");
  std::string text = "0x";
  for (std::size_t i = little.size(); i-- > 0;) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(little[i]));
  }
  push_text(std::move(text));
}

PickleId PickleMachine::pop() {
  top();
  const auto id = stack_.back();
  stack_.pop_back();
  return id;
}

std::vector<PickleId> PickleMachine::pop_mark() {
  require(!marks_.empty(), "a mark is missing");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

PickleNode& PickleMachine::top() {
  require(stack_.size() > (marks_.empty() ? 0 : marks_.back()), "its stack is empty");
  return result_.nodes[stack_.back()];
}

bool PickleMachine::run_number(Op op) {
  switch (op) {
    case Op::None:
      push({PickleKind::None});
      return true;
    case Op::True:
    case Op::False:
      push({PickleKind::Bool, op == Op::True ? 1 : 0});
      return true;
    case Op::BinInt:
      push({PickleKind::Int, static_cast<std::int32_t>(source_.take_number(4))});
      return true;
    case Op::BinInt1:
      push({PickleKind::Int, static_cast<std::int64_t>(source_.take_number(1))});
      return true;
    case Op::BinInt2:
      push({PickleKind::Int, static_cast<std::int64_t>(source_.take_number(2))});
      return true;
    case Op::Long1:
      push_long(source_.take(source_.take_number(1)));
      return true;
    case Op::Long4:
      push_long(source_.take(source_.take_number(4)));
      return true;
    case Op::BinFloat:
      push({PickleKind::Float, 0, std::bit_cast<double>(load_big(source_.take(8)))});
      return true;
    default:
      return false;
  }
}

bool PickleMachine::run_text(Op op) {
  const auto width = length_width(op);
  if (width == 0) return false;
  auto text = source_.take_text(source_.take_number(width));
  const bool unicode = op == Op::BinUnicode || op == Op::ShortBinUnicode || op == Op::BinUnicode8;
  const bool old_text = op == Op::BinString || op == Op::ShortBinString;  // Python 2: any bytes
  if (unicode || (old_text && is_utf8(text))) {
    push_text(std::move(text));
  } else {
    PickleNode node{PickleKind::Bytes};
    node.text = std::move(text);
    push(std::move(node));
  }
  return true;
}

/// Containers, empty or built from the stack.
bool PickleMachine::run_build_container(Op op) {
  switch (op) {
    case Op::EmptyTuple:
      push({PickleKind::Tuple});
      return true;
    case Op::EmptyList:
      push({PickleKind::List});
      return true;
    case Op::EmptyDict:
      push({PickleKind::Dict});
      return true;
    case Op::EmptySet:
      push({PickleKind::Set});
      return true;
    case Op::Tuple:
      push_items(PickleKind::Tuple, pop_mark());
      return true;
    case Op::List:
      push_items(PickleKind::List, pop_mark());
      return true;
    case Op::FrozenSet:
      push_items(PickleKind::Set, pop_mark());
      return true;
    case Op::Dict: {
      auto items = pop_mark();
      require(items.size() % 2 == 0, "a dict has a key without a value");
      push_items(PickleKind::Dict, std::move(items));
      return true;
    }
    case Op::Tuple1:
    case Op::Tuple2:
    case Op::Tuple3: {
      std::vector<PickleId> items(static_cast<std::size_t>(op) -
                                  static_cast<std::size_t>(Op::Tuple1) + 1);
      for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
      push_items(PickleKind::Tuple, std::move(items));
      return true;
    }
    default:
      return false;
  }
}

/// Adds items to the container on top of the stack; pairs to a dict or to the result of a call.
void PickleMachine::fill(std::vector<PickleId> items, bool pairs) {
  auto& node = top();
  const bool takes_pairs = node.kind == PickleKind::Dict || node.kind == PickleKind::Call;
  const bool takes_items = node.kind == PickleKind::List || node.kind == PickleKind::Set;
  require(pairs ? takes_pairs : takes_items, "it adds items to a value that is no container");
  require(!pairs || items.size() % 2 == 0, "a dict has a key without a value");
  node.items.insert(node.items.end(), items.begin(), items.end());
}

bool PickleMachine::run_add_items(Op op) {
  switch (op) {
    case Op::Append:
      fill({pop()}, false);
      return true;
    case Op::Appends:
    case Op::AddItems:
      fill(pop_mark(), false);
      return true;
    case Op::SetItem: {
      const auto value = pop(), key = pop();
      fill({key, value}, true);
      return true;
    }
    case Op::SetItems:
      fill(pop_mark(), true);
      return true;
    default:
      return false;
  }
}

void PickleMachine::memoize(std::uint64_t key) {
  top();
  require(memo_.size() < kMaxPickleNodes, "it memoizes too many values");
  memo_[key] = stack_.back();
}

bool PickleMachine::run_stack(Op op) {
  switch (op) {
    case Op::Mark:
      require(marks_.size() < kMaxPickleMarks, "it is nested too deeply");
      marks_.push_back(stack_.size());
      return true;
    case Op::Pop:
      pop();
      return true;
    case Op::PopMark:
      pop_mark();
      return true;
    case Op::Dup:
      top();
      stack_.push_back(stack_.back());
      return true;
    case Op::BinPut:
      memoize(source_.take_number(1));
      return true;
    case Op::LongBinPut:
      memoize(source_.take_number(4));
      return true;
    case Op::Memoize:
      memoize(memo_.size());
      return true;
    case Op::BinGet:
    case Op::LongBinGet: {
      const auto found = memo_.find(source_.take_number(op == Op::BinGet ? 1 : 4));
      require(found != memo_.end(), "it reads a memo entry that was never written");
      stack_.push_back(found->second);
      return true;
    }
    case Op::Frame:
      require(source_.take_number(8) <= source_.left(), "it ends too early");
      return true;
    default:
      return false;
  }
}

void PickleMachine::push_global(const std::string& name) {
  check(std::find(allowed_.begin(), allowed_.end(), name) != allowed_.end(), ErrorKind::Input,
        "[io.pickle] {} asks to import {}; expected tensors and plain containers only. Nothing was "
        "run. If you trust the file, open it in Python and save only the tensors: "
        "torch.save(model.state_dict(), path).",
        source_.file(), printable(name));
  PickleNode node{PickleKind::Global};
  node.text = name;
  push(std::move(node));
}

/// REDUCE and NEWOBJ: an allowed name and a tuple of arguments become a Call node.
void PickleMachine::push_call() {
  const auto arguments = pop(), callee = pop();
  require(
      result_[callee].kind == PickleKind::Global && result_[arguments].kind == PickleKind::Tuple,
      "it calls a value that is no imported name");
  PickleNode node{PickleKind::Call};
  node.text = result_[callee].text;
  node.arguments = arguments;
  push(std::move(node));
}

bool PickleMachine::run_calling(Op op) {
  switch (op) {
    case Op::Global:
    case Op::Inst: {
      const auto module = source_.take_line();
      const auto name = source_.take_line();
      push_global(module + "." + name);
      require(op == Op::Global, "an old kind of call, INST, is in it");
      return true;
    }
    case Op::StackGlobal: {
      const auto name = pop(), module = pop();
      require(result_[name].kind == PickleKind::Text && result_[module].kind == PickleKind::Text,
              "it imports a name that is no text");
      push_global(result_[module].text + "." + result_[name].text);
      return true;
    }
    case Op::Reduce:
    case Op::NewObject:
      push_call();
      return true;
    case Op::Build: {
      const auto state = pop();
      auto& node = top();
      require(node.kind == PickleKind::Call && !node.state, "it gives a state to a plain value");
      node.state = state;
      return true;
    }
    case Op::BinPersistent:
      push_items(PickleKind::Persistent, {pop()});
      return true;
    default:
      return false;
  }
}

Pickle PickleMachine::run(std::size_t* used) {
  const auto bytes = source_.left();
  require(used != nullptr || bytes <= kMaxPickleBytes, "it is too long");
  require(source_.take_number(1) == static_cast<std::uint64_t>(Op::Proto),
          "it has no protocol number");
  const auto protocol = source_.take_number(1);
  require(protocol >= 2 && protocol <= 5,
          fmt::format("its protocol is {}, expected 2 to 5", protocol));
  while (true) {
    const auto op = static_cast<Op>(source_.take_number(1));
    if (op == Op::Stop) break;
    const bool known = run_number(op) || run_text(op) || run_build_container(op) ||
                       run_add_items(op) || run_stack(op) || run_calling(op);
    require(known, fmt::format("the opcode 0x{:02x} is not one of plain values",
                               static_cast<unsigned>(op)));
  }
  require(stack_.size() == 1 && marks_.empty() && (used != nullptr || source_.left() == 0),
          "it ends with something left over");
  if (used != nullptr) *used = bytes - source_.left();
  result_.root = stack_.back();
  return std::move(result_);
}

}  // namespace

Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& file,
                    std::span<const std::string_view> allowed) {
  return PickleMachine(bytes, file, allowed).run(nullptr);
}

Pickle parse_first_pickle(std::span<const std::byte>& bytes, const std::string& file,
                          std::span<const std::string_view> allowed) {
  std::size_t used = 0;
  const auto most = std::min(bytes.size(), kMaxPickleBytes);
  auto pickle = PickleMachine(bytes.first(most), file, allowed).run(&used);
  bytes = bytes.subspan(used);
  return pickle;
}

}  // namespace ubique::io
