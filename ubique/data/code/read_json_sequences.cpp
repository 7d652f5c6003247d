// SPDX-License-Identifier: Apache-2.0
// Reads JSON data as a stream of events: token lists go out as they end, so that a file of any size
// takes the memory of its longest list. Texts and conversations are kept for one entry at a time.
#include <fstream>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/sequence_forms.h"

namespace ubique::data {
namespace {

constexpr std::size_t kDeepestJson = 64;
constexpr std::size_t kMostEntryBytes = 256U << 20U;  // of texts that one entry keeps
constexpr std::size_t kMostKeys = 4096;               // of one object that is kept

/// Counts lines for messages while the parser takes characters.
class LineCounter : public std::streambuf {
 public:
  explicit LineCounter(std::streambuf& source) : source_(source), buffer_(1U << 18U) {}
  std::int64_t line() const { return lines_ + std::count(eback(), gptr(), '\n') + 1; }

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    lines_ += std::count(eback(), egptr(), '\n');
    const auto count = source_.sgetn(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    setg(buffer_.data(), buffer_.data(), buffer_.data() + std::max<std::streamsize>(0, count));
    return count > 0 ? traits_type::to_int_type(*gptr()) : traits_type::eof();
  }

 private:
  std::streambuf& source_;
  std::vector<char> buffer_;
  std::int64_t lines_ = 0;
};

/// Receives the parser's events for one file.
class EntryReader : public nlohmann::json_sax<Json> {
 public:
  EntryReader(std::string where, const LineCounter& lines, SequenceReading& reading)
      : where_(std::move(where)), lines_(lines), reading_(reading) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(Json::number_integer_t value) override { return number(value); }
  bool number_unsigned(Json::number_unsigned_t value) override {
    constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
    return number(static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMost)));
  }
  bool number_float(Json::number_float_t value, const std::string& text) override {
    if (top() == Frame::Ids) refuse_id(text);
    return scalar(value);
  }
  bool string(std::string& value) override;
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool key(std::string& name) override;
  bool start_object(std::size_t /*count*/) override;
  bool start_array(std::size_t /*count*/) override;
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const std::string message = error.what();
    const auto colon = message.rfind(": ");
    fail(ErrorKind::Input, "[data.read] {} is not JSON; {}.", place(),
         printable(colon == std::string::npos ? message : message.substr(colon + 2), 120));
  }

 private:
  /// What an open bracket is.
  enum class Frame { None, Root, Entries, Entry, Ids, Sequences, Tree, Skip };

  Frame top() const { return frames_.empty() ? Frame::None : frames_.back(); }
  std::string place() const { return fmt::format("{} line {}", where_, lines_.line()); }
  void push(Frame frame) {
    check(frames_.size() < kDeepestJson, ErrorKind::Input,
          "[data.read] {} is nested deeper than {}.", place(), kDeepestJson);
    frames_.push_back(frame);
  }
  bool scalar(Json value);
  bool number(std::int64_t value);
  bool close();
  Frame frame_for(bool array);
  void grow_tree(Json value, bool opens);
  void end_ids();
  void end_entry();
  void check_vocabulary(std::int64_t declared) const;
  [[noreturn]] void refuse_id(const std::string& text) const;
  DocumentInfo info(const char* kind);

  std::string where_;
  const LineCounter& lines_;
  SequenceReading& reading_;
  std::vector<Frame> frames_;
  std::vector<Json*> tree_;  // open brackets of the value that is kept
  std::string key_, tree_key_;
  Json fields_ = Json::object();  // what the entry keeps
  std::size_t kept_ = 0;          // bytes
  EncodedDocument list_;          // the token list that is being read
  bool has_tokens_ = false, had_sequences_ = false;
  std::int64_t number_ = 0;  // documents of this file
};

bool is_kept_key(const std::string& key) {
  for (const auto* known : {"text", "content", "code", "prompt", "completion", "instruction",
                            "input", "output", "messages", "conversations", "metadata"}) {
    if (key == known) return true;
  }
  return false;
}

bool is_token_key(const std::string& key) { return key == "tokens" || key == "input_ids"; }

void EntryReader::refuse_id(const std::string& text) const {
  fail(ErrorKind::Input,
       "[data.read] {}: sequence {}, token {} is no id of this vocabulary; got {}, expected 0 to "
       "{}. The file was made with another tokenizer: make it again with this model's.",
       place(), number_, list_.ids.size(), printable(text, 40), reading_.vocabulary - 1);
}

void EntryReader::check_vocabulary(std::int64_t declared) const {
  const auto& tokenizer = reading_.tokenizer;
  const auto words = static_cast<std::int64_t>(tokenizer.model().vocabulary.size());
  check(declared == tokenizer.size() || declared == reading_.vocabulary || declared == words,
        ErrorKind::Input,
        "[data.read] {}: the data were made with another tokenizer; vocab_size is {}, this one has "
        "{} tokens. Make them again with this model's tokenizer.",
        place(), declared, tokenizer.size());
}

bool EntryReader::number(std::int64_t value) {
  if (top() == Frame::Root) frames_.back() = Frame::Ids;  // a bare list of ids
  if (top() == Frame::Ids) {
    if (value < 0 || value >= reading_.vocabulary) refuse_id(std::to_string(value));
    list_.ids.push_back(static_cast<std::int32_t>(value));
    return true;
  }
  if (top() == Frame::Entry && key_ == "vocab_size") check_vocabulary(value);
  return scalar(value);
}

bool EntryReader::scalar(Json value) {
  switch (top()) {
    case Frame::Tree:
      grow_tree(std::move(value), false);
      return true;
    case Frame::Skip:
    case Frame::Entry:
      return true;
    case Frame::Ids:
      refuse_id(json_text(value));
    default:
      fail(ErrorKind::Input,
           "[data.read] {} holds a {} where an entry was expected: an object or a list of token "
           "ids.",
           place(), value.type_name());
  }
}

bool EntryReader::string(std::string& value) {
  if (top() == Frame::Entry && is_kept_key(key_)) {
    kept_ += value.size();
    check(kept_ <= kMostEntryBytes, ErrorKind::Input,
          "[data.read] {}: one entry holds more than {}.", place(), human_bytes(kMostEntryBytes));
    fields_[key_] = std::move(value);
    return true;
  }
  return scalar(std::move(value));
}

bool EntryReader::key(std::string& name) {
  key_ = std::move(name);
  if (top() == Frame::Tree) {
    tree_key_ = key_;
    kept_ += key_.size();
  }
  return true;
}

/// What a bracket that opens now is.
EntryReader::Frame EntryReader::frame_for(bool array) {
  switch (top()) {
    case Frame::None:
      return array ? Frame::Root : Frame::Entry;
    case Frame::Root:
      frames_.back() = Frame::Entries;
      [[fallthrough]];
    case Frame::Entries:
      return array ? Frame::Ids : Frame::Entry;
    case Frame::Entry:
      if (array && key_ == "token_sequences") return Frame::Sequences;
      if (array && is_token_key(key_)) return Frame::Ids;
      // The records of a bundle come after its lists, which are gone by then.
      if (key_ == "metadata" && had_sequences_) return Frame::Skip;
      return is_kept_key(key_) ? Frame::Tree : Frame::Skip;
    case Frame::Sequences:
      if (array) return Frame::Ids;
      break;
    case Frame::Tree:
      return Frame::Tree;
    case Frame::Skip:
      return Frame::Skip;
    case Frame::Ids:
      refuse_id(array ? "a list" : "an object");
  }
  fail(ErrorKind::Input, "[data.read] {}: token_sequences holds an object; expected lists of ids.",
       place());
}

bool EntryReader::start_object(std::size_t /*count*/) {
  const auto frame = frame_for(false);
  if (frame == Frame::Tree) grow_tree(Json::object(), true);
  push(frame);
  return true;
}

bool EntryReader::start_array(std::size_t /*count*/) {
  const auto frame = frame_for(true);
  if (frame == Frame::Tree) grow_tree(Json::array(), true);
  if (frame == Frame::Ids) list_ = {};
  if (frame == Frame::Root) list_ = {};
  push(frame);
  return true;
}

void EntryReader::grow_tree(Json value, bool opens) {
  kept_ += 64 + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  check(kept_ <= kMostEntryBytes, ErrorKind::Input, "[data.read] {}: one entry holds more than {}.",
        place(), human_bytes(kMostEntryBytes));
  Json* added = nullptr;
  if (tree_.empty()) {
    added = &(fields_[key_] = std::move(value));
  } else if (auto& parent = *tree_.back(); parent.is_array()) {
    parent.push_back(std::move(value));
    added = &parent.back();
  } else {
    check(parent.size() < kMostKeys, ErrorKind::Input,
          "[data.read] {}: an object has more than {} keys.", place(), kMostKeys);
    added = &(parent[tree_key_] = std::move(value));
  }
  if (opens) tree_.push_back(added);
}

bool EntryReader::close() {
  const auto frame = top();
  frames_.pop_back();
  switch (frame) {
    case Frame::Ids:
      end_ids();
      break;
    case Frame::Tree:
      tree_.pop_back();
      break;
    case Frame::Sequences:
      had_sequences_ = true;
      break;
    case Frame::Entry:
      end_entry();
      break;
    default:
      break;
  }
  return true;
}

DocumentInfo EntryReader::info(const char* kind) {
  return {fmt::format("{}#{}", where_, number_++), "", kind};
}

/// A list inside an entry waits for the entry's metadata; others go out at once.
void EntryReader::end_ids() {
  if (top() == Frame::Entry) {
    has_tokens_ = true;
    return;
  }
  list_.info = info("tokens");
  reading_.deliver(std::move(list_));
  list_ = {};
}

void EntryReader::end_entry() {
  const auto text = [&](const Json& object, const char* key) -> const std::string* {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>()
                                                       : nullptr;
  };
  const auto entry = std::exchange(fields_, Json::object());
  kept_ = 0;
  const bool tokens = std::exchange(has_tokens_, false);
  if (std::exchange(had_sequences_, false) && !tokens) return;
  if (tokens) {
    list_.info = info("tokens");
    const auto metadata = entry.find("metadata");
    if (metadata != entry.end()) {
      if (const auto* path = text(*metadata, "file_path")) list_.info.path = *path;
      if (const auto* commit = text(*metadata, "sample_commit")) list_.info.commit = *commit;
    }
    reading_.deliver(std::move(list_));
    list_ = {};
    return;
  }
  const auto* completion = text(entry, "completion");
  if (const auto* prompt = text(entry, "prompt"); prompt != nullptr && completion != nullptr) {
    EncodedDocument document{reading_.encoder.encode(*prompt), 0, info("prompt")};
    document.prompt_length = static_cast<std::int64_t>(document.ids.size());
    reading_.encoder.encode(*completion, document.ids);
    return reading_.deliver(std::move(document));
  }
  if (entry.contains("messages") || entry.contains("conversations") ||
      entry.contains("instruction")) {
    for (const auto& conversation :
         io::parse_conversations(json_text(entry), place()).conversations) {
      for (auto& document : reading_.options.chat(conversation)) {
        document.info = info("chat");
        reading_.deliver(std::move(document));
      }
    }
    return;
  }
  for (const auto* name : {"text", "content", "code"}) {
    if (const auto* found = text(entry, name)) {
      return reading_.deliver_text(*found, info("text"));
    }
  }
  fail(ErrorKind::Input,
       "[data.read] {}: the entry is in none of the forms; expected token_sequences, tokens, text, "
       "prompt with completion, or messages.",
       place());
}

}  // namespace

void read_json_stream(std::istream& stream, const std::string& where, SequenceReading& reading) {
  LineCounter lines(*stream.rdbuf());
  std::istream counted(&lines);
  EntryReader reader(where, lines, reading);
  while (true) {
    counted >> std::ws;
    if (counted.peek() == std::char_traits<char>::eof()) return;
    Json::sax_parse(counted, &reader, nlohmann::detail::input_format_t::json, false);
  }
}

void read_json_sequences(const std::filesystem::path& file, SequenceReading& reading) {
  check(std::filesystem::is_regular_file(file), ErrorKind::Input, "[data.read] {} is no file.",
        file.string());
  std::ifstream stream(file, std::ios::binary);
  check(stream.good(), ErrorKind::Input, "[data.read] cannot open {}.", file.string());
  read_json_stream(stream, file.generic_string(), reading);
}

}  // namespace ubique::data
