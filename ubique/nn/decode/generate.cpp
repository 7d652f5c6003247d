// SPDX-License-Identifier: Apache-2.0
// Options, and one request alone.
#include "ubique/nn/decode/generate.h"

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/nn/decode/generator.h"
#include "ubique/nn/decode/lookup.h"

namespace ubique::nn {
namespace {

constexpr NameTable<CompletionEnd, 5> kCompletionEnds{{{CompletionEnd::Token, "token"},
                                                       {CompletionEnd::Text, "text"},
                                                       {CompletionEnd::Length, "length"},
                                                       {CompletionEnd::Window, "window"},
                                                       {CompletionEnd::Stopped, "stopped"}}};

}  // namespace

std::string_view to_string(CompletionEnd end) { return name_of(kCompletionEnds, end); }

void validate(const GenerateOptions& options) {
  validate(options.sampling);
  validate(options.changes);
  check(options.max_new_tokens > 0, ErrorKind::Usage,
        "[nn.generate] --max-new-tokens is out of range; got {}, expected 1 or more.",
        options.max_new_tokens);
  validate_lookup(options.lookup);
  for (const auto& stop : options.stop_texts) {
    check(!stop.empty(), ErrorKind::Usage, "[nn.generate] a stop text is empty.");
  }
}

Completion generate(Decoder& decoder, std::span<const std::int32_t> prompt,
                    const io::Tokenizer& tokenizer, const GenerateOptions& options,
                    const ShowText& show) {
  Completion made;
  Generator generator(decoder, tokenizer);
  generator.submit({.prompt = {prompt.begin(), prompt.end()},
                    .options = options,
                    .show = show,
                    .finished = [&](const Completion& completion) { made = completion; }});
  while (generator.step()) {
  }
  return made;
}

}  // namespace ubique::nn
