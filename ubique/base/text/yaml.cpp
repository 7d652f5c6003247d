// SPDX-License-Identifier: Apache-2.0
// Builds the tree from yaml-cpp's events rather than from its nodes: events give exact lines and
// duplicate keys, and a hostile document is refused before it is expanded in memory.
#include "ubique/base/text/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "ubique/base/error.h"

namespace ubique {
namespace {

constexpr std::size_t kMaxYamlBytes = 1U << 20U;
constexpr std::size_t kMaxYamlDepth = 64;

class YamlTreeBuilder : public YAML::EventHandler {
 public:
  explicit YamlTreeBuilder(const std::string& name) : name_(name) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "has a second document; expected one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    attach(make(YamlNode::Kind::Null, mark), mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "uses an alias (*name); expected the value itself, write it out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    auto node = make(YamlNode::Kind::Scalar, mark);
    node.text = value;
    attach(std::move(node), mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::List, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::Mapping, mark);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;  // read, but not its value yet
    std::unordered_set<std::string> seen;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    fail(ErrorKind::Input, "[base.yaml] {}:{} {}.", name_, mark.line + 1, what);
  }

  static YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }

  bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::Mapping &&
           !stack_.back().key;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark) {
    if (expects_key()) refuse(mark, "has a key that is a list or a mapping; expected a word");
    if (stack_.size() >= kMaxYamlDepth) {
      refuse(mark, fmt::format("is nested too deeply; expected at most {} levels", kMaxYamlDepth));
    }
    stack_.push_back({make(kind, mark), {}, {}});
    marks_.push_back(mark);
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    attach(std::move(node), marks_.back());
    marks_.pop_back();
  }

  void attach(YamlNode node, const YAML::Mark& mark) {
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (expects_key()) {
      accept_key(std::move(node), mark);
    } else {
      auto& frame = stack_.back();
      if (frame.key) {
        node.line = frame.key->line;
        frame.node.keys.push_back(std::move(frame.key->text));
        frame.key.reset();
      }
      frame.node.items.push_back(std::move(node));
    }
  }

  void accept_key(YamlNode node, const YAML::Mark& mark) {
    if (node.kind != YamlNode::Kind::Scalar || node.text.empty()) {
      refuse(mark, "has an empty key; expected a word before the colon");
    }
    if (node.text == "<<") refuse(mark, "uses a merge key (<<); expected the keys written out");
    if (!stack_.back().seen.insert(node.text).second) {
      refuse(mark, fmt::format("has the key '{}' a second time; expected it once", node.text));
    }
    stack_.back().key = std::move(node);
  }

  std::string name_;
  YamlNode root_;
  std::vector<Frame> stack_;
  std::vector<YAML::Mark> marks_;
  int documents_ = 0;
};

// YAML forbids control characters, and yaml-cpp takes byte 4 for the end of the file: the rest
// would be dropped silently.
void refuse_control_characters(std::string_view text, const std::string& name) {
  int line = 1;
  for (const char c : text) {
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    check(blank || static_cast<unsigned char>(c) >= 0x20, ErrorKind::Input,
          "[base.yaml] {}:{} holds the control character {:#04x}; expected UTF-8 text.", name, line,
          static_cast<int>(c));
    if (c == '\n') ++line;
  }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string YamlNode::describe() const {
  constexpr std::size_t kLongest = 60;
  switch (kind) {
    case Kind::List:
      return "a list";
    case Kind::Mapping:
      return "a mapping";
    case Kind::Scalar:
      return fmt::format("'{}{}'", text.substr(0, kLongest), text.size() > kLongest ? "..." : "");
    case Kind::Null:
      break;
  }
  return "nothing";
}

YamlNode parse_yaml(std::string_view text, const std::string& name) {
  check(text.size() <= kMaxYamlBytes, ErrorKind::Input,
        "[base.yaml] {} is too long; got {} bytes, expected at most {}.", name, text.size(),
        kMaxYamlBytes);
  refuse_control_characters(text, name);
  YamlTreeBuilder builder(name);
  try {
    // The end marker makes an open quote an error: yaml-cpp lets the end of the file close it.
    std::istringstream stream{std::string(text) + (text.ends_with('\n') ? "...\n" : "\n...\n")};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    const int last = std::max(lines + (text.ends_with('\n') ? 0 : 1), 1);
    const bool open_quote = error.msg.find("document indicator in scalar") != std::string::npos;
    fail(ErrorKind::Input, "[base.yaml] {}:{} is not YAML; {}.", name,
         std::clamp(error.mark.line + 1, 1, last),
         open_quote ? "a quote before here is never closed" : error.msg);
  }
  return builder.take_root();
}

}  // namespace ubique
