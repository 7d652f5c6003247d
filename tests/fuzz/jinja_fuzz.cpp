// SPDX-License-Identifier: Apache-2.0
// Any text as a chat template: an Input error, or a rendered conversation within the limits whose
// given parts lie inside it in order.
#include "tests/fuzz/fuzz.h"
#include "ubique/io/text/jinja/template.h"

using namespace ubique;
using namespace ubique::io::jinja;
using fuzz::require;

namespace {

Value fuzz_message(const char* role, const char* text, std::int32_t source) {
  Dict message;
  message.set(TracedText("role"), Value(role));
  message.set(TracedText("content"), Value(TracedText::given(text, source)));
  return make_dict(std::move(message));
}

Dict fuzz_variables() {
  Dict variables;
  variables.set(TracedText("messages"),
                make_list({fuzz_message("system", "Be <|brief|>.", 0),
                           fuzz_message("user", "Grüße\n1 + 1? ", 1),
                           fuzz_message("assistant", "<think>\nx\n</think>\n\n2", 2)}));
  variables.set(TracedText("add_generation_prompt"), Value(true));
  variables.set(TracedText("bos_token"), Value("<s>"));
  variables.set(TracedText("eos_token"), Value("</s>"));
  return variables;
}

void check_spans(const TracedText& text) {
  std::size_t end = 0;
  for (const auto& span : text.spans()) {
    require(span.begin >= end && span.end > span.begin && span.end <= text.size());
    require(span.source >= 0 && span.source <= 2);
    end = span.end;
  }
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const Template made(fuzz::text_of(input), "fuzz");
  // Few steps: an input that uses them all must not take long.
  const Limits limits{.steps = 100'000, .output = 1U << 20U};
  const auto rendered = made.render(fuzz_variables(), 0, limits);
  require(rendered.text.size() <= limits.output);
  check_spans(rendered.text);
  for (const auto& [begin, end] : rendered.generated) {
    require(begin < end && end <= rendered.text.size());
  }
}
