// SPDX-License-Identifier: Apache-2.0
// Streaming decode: characters split over tokens, bytes that are no UTF-8, and stopping.
#include "ubique/nn/decode/text_stream.h"

#include <doctest/doctest.h>

#include <vector>

using namespace ubique;

namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// What is shown, call by call, of these tokens.
struct Streamed {
  std::vector<std::string> shown;
  std::string text;

  explicit Streamed(const std::vector<std::string>& tokens) {
    const nn::ShowText show = [this](std::string_view part) {
      shown.emplace_back(part);
      return true;
    };
    nn::TextStream stream(text, show);
    for (const auto& token : tokens) CHECK(stream.add(token));
    CHECK(stream.finish());
  }
};

}  // namespace

TEST_CASE("text stream: a character split over tokens is shown once it is complete") {
  const Streamed euro({"a", "\xE2", "\x82",
                       "\xAC"
                       "b",
                       "\xC3\xA9"});
  CHECK(euro.shown == std::vector<std::string>{"a",
                                               "\xE2\x82\xAC"
                                               "b",
                                               "\xC3\xA9"});
  CHECK(euro.text ==
        "a\xE2\x82\xAC"
        "b\xC3\xA9");
  const Streamed smile({"\xF0\x9F", "\x98\x80"});
  CHECK(smile.shown == std::vector<std::string>{"\xF0\x9F\x98\x80"});
}

TEST_CASE("text stream: bytes that are no UTF-8 become replacement characters") {
  const Streamed invalid({"a\xFF", "b"});
  CHECK(invalid.text == std::string("a") + kReplacement + "b");
  const Streamed broken({"\xE2\x82", "x"});  // the character never ends
  CHECK(broken.text == std::string(kReplacement) + "x");
}

TEST_CASE("text stream: finish shows what is incomplete as a replacement character") {
  const Streamed cut({"ok", "\xE2\x82"});
  CHECK(cut.shown == std::vector<std::string>{"ok", kReplacement});
  CHECK(cut.text == std::string("ok") + kReplacement);
  CHECK(Streamed({"ok"}).shown.size() == 1);  // nothing is left, so nothing more is shown
}

TEST_CASE("text stream: false from the callback stops; what was shown is in the text") {
  std::string text;
  int calls = 0;
  const nn::ShowText show = [&](std::string_view) { return ++calls < 2; };
  nn::TextStream stream(text, show);
  CHECK(stream.add("a"));
  CHECK(stream.add("\xE2"));  // nothing to show yet, so nothing can stop it
  CHECK_FALSE(stream.add("\x82\xAC"));
  CHECK(calls == 2);
  CHECK(text == "a\xE2\x82\xAC");
}

TEST_CASE("text stream: without a callback the text is collected") {
  std::string text;
  const nn::ShowText none;
  nn::TextStream stream(text, none);
  CHECK(stream.add("a"));
  CHECK(stream.add("\xC3"));
  CHECK(stream.finish());
  CHECK(text == std::string("a") + kReplacement);
}
