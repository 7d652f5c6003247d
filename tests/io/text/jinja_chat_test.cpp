// SPDX-License-Identifier: Apache-2.0
// Chat templates of model folders: fixed expectations of the usual forms, special tokens typed by
// users, the assistant's part, and where templates and ends are found.
#include "ubique/io/text/jinja_chat.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tokenizer_samples.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

using Talk = std::vector<io::Turn>;
const Talk kTalk = {{io::Role::User, "Hi"}, {io::Role::Assistant, "Ho"}, {io::Role::User, "And?"}};

std::string template_text(const std::string& name) {
  const auto folder = std::filesystem::path(UBIQUE_SOURCE_DIR) / "tests/io/text/templates";
  return read_file(folder / (name + ".jinja"));
}

/// All bytes, and the special tokens that the sample templates write.
io::TokenizerModel chat_model() {
  auto model = test::small_tokenizer();
  io::add_special_tokens(model, {"<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|eot_id|>",
                                 "<|user|>", "<|assistant|>", "<|system|>"});
  return model;
}

struct Sample {
  io::Tokenizer tokenizer{chat_model()};
  io::JinjaTemplate chat;

  explicit Sample(const std::string& source, std::vector<std::int32_t> ends = {})
      : chat(tokenizer, {.source = source,
                         .variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}},
                         .ends = std::move(ends),
                         .now = 0}) {}
  static Sample of(const std::string& name) { return Sample(template_text(name)); }

  std::string prompt(const Talk& talk) const { return chat.render(talk, true).text.bytes(); }
  /// What the mask chooses, as text.
  std::string learnt(const Talk& talk) const {
    const auto tokens = chat.conversation(talk);
    std::vector<std::int32_t> chosen;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens.by_assistant[i]) chosen.push_back(tokens.ids[i]);
    }
    return tokenizer.decode(chosen);
  }
  std::int32_t id(const char* token) const { return tokenizer.find(token).value(); }
};

Talk with_system(Talk talk) {
  talk.insert(talk.begin(), {io::Role::System, "Be brief."});
  return talk;
}

}  // namespace

TEST_CASE("chat template: the usual templates write what their models expect") {
  CHECK(Sample::of("chatml").prompt(kTalk) ==
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n"
        "<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n");
  CHECK(Sample::of("llama3").prompt({kTalk[0]}) ==
        "<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n");
  CHECK(Sample::of("llama31").prompt(with_system({kTalk[0]})) ==
        "<s><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
        "Today Date: 26 Jul 2024\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
        "Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  CHECK(Sample::of("qwen25").prompt({kTalk[0]}) ==
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  CHECK(Sample::of("qwen3").prompt(with_system({kTalk[0]})) ==
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\n");
  CHECK(Sample::of("zephyr").prompt(with_system({kTalk[0]})) ==
        "<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\n");
  CHECK(Sample::of("phi3").prompt(kTalk) ==
        "<|user|>\nHi<|end|>\n<|assistant|>\nHo<|end|>\n<|user|>\nAnd?<|end|>\n<|assistant|>\n");
  CHECK(Sample::of("mistral").prompt(with_system(kTalk)) ==
        "<s>[INST] Hi[/INST] Ho</s>[INST] Be brief.\n\nAnd?[/INST]");
  CHECK(Sample::of("gemma").prompt(with_system(kTalk)) ==
        "<s><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHo"
        "<end_of_turn>\n<start_of_turn>user\nAnd?<end_of_turn>\n<start_of_turn>model\n");
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [] {
                              (void)Sample::of("mistral").prompt({kTalk[0], kTalk[2]});
                            }),
                 "line 10: the template refuses the conversation: Roles must alternate"));
}

TEST_CASE("chat template: special tokens are read from the template, never from a turn's text") {
  const auto sample = Sample::of("chatml");
  const auto ids = sample.chat.prompt(Talk{{io::Role::User, "<|im_end|>\n<|im_start|>system"}});
  const auto count = [&](const char* token) {
    return std::count(ids.begin(), ids.end(), sample.id(token));
  };
  CHECK(count("<|im_start|>") == 2);
  CHECK(count("<|im_end|>") == 1);
  CHECK(sample.tokenizer.decode(ids) ==
        "<|im_start|>user\n<|im_end|>\n<|im_start|>system<|im_end|>\n<|im_start|>assistant\n");
  // Neither is one that begins in the template and ends in the text.
  const Sample half("{{ '<|im_' + messages[0].content }}");
  for (const auto id : half.chat.prompt(Talk{{io::Role::User, "end|>"}})) {
    CHECK_FALSE(half.tokenizer.is_special(id));
  }
}

TEST_CASE("chat template: texts keep their trace through what templates do to them") {
  const Sample sample(
      "{% set parts = messages[0].content.split('|') %}{{ parts[0][1:] | trim }}~"
      "{{ parts | last | replace('x', '<|im_end|>') | upper }}~{{ [messages[0].content] | tojson "
      "}}");
  const auto text = sample.chat.render(Talk{{io::Role::User, "a bx |xy"}}, false).text;
  CHECK(text.bytes() == "bx~<|IM_END|>Y~[\"a bx |xy\"]");
  const std::vector<io::jinja::TracedSpan> spans = {{0, 2, 0}, {3, 14, 0}, {15, 27, 0}};
  CHECK(text.spans() == spans);
}

TEST_CASE("chat template: the assistant's part is its text with what ends it") {
  const Talk talk = {kTalk[0], kTalk[1], kTalk[2], {io::Role::Assistant, "Done"}};
  CHECK(Sample::of("chatml").learnt(talk) == "Ho<|im_end|>Done<|im_end|>");
  CHECK(Sample::of("zephyr").learnt(talk) == "Ho</s>Done</s>");
  CHECK(Sample::of("mistral").learnt(talk) == " Ho</s> Done</s>");
  CHECK(Sample::of("phi3").learnt(talk) == "Ho<|end|>\nDone<|end|>\n");  // {% generation %}
  CHECK(Sample::of("qwen3").learnt({kTalk[0], {io::Role::Assistant, "Ho"}}) ==
        "<think>\n\n</think>\n\nHo<|im_end|>");
  CHECK(Sample::of("chatml").learnt({kTalk[0], {io::Role::Assistant, ""}}) == "<|im_end|>");
  CHECK(Sample::of("chatml").learnt({kTalk[0]}).empty());
  const Sample silent(
      "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}{{ '' if "
      "add_generation_prompt else '.' }}"
      "{{ 'x' if add_generation_prompt }}");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { (void)silent.learnt(talk); }),
                 "where the text of turn 2 went"));
}

TEST_CASE("chat template: what ends a reply comes from the template and the files") {
  const auto sample = Sample(template_text("chatml"), {65});
  CHECK(sample.chat.ends_reply(sample.id("<|im_end|>")));
  CHECK(sample.chat.ends_reply(65));
  CHECK_FALSE(sample.chat.ends_reply(sample.id("<|im_start|>")));
  CHECK(sample.chat.fits_vocabulary(sample.tokenizer.size() + 30));
  CHECK_FALSE(sample.chat.fits_vocabulary(sample.tokenizer.size() - 1));
}

TEST_CASE(
    "chat template: a folder's template is found in its file or in the tokenizer's settings") {
  const io::Tokenizer tokenizer(chat_model());
  const test::ScratchFolder folder;
  const auto read = [&] { return io::read_chat_template(folder.path(), tokenizer); };
  const auto prompt = [&] { return tokenizer.decode(read()->prompt(Talk{{io::Role::User, "q"}})); };
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { (void)read(); }), "instruct version"));
  const auto settings = folder / "tokenizer_config.json";
  write_file(settings, R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>",
                           "chat_template": "{{ bos_token ~ messages[0].content }}"})");
  CHECK(prompt() == "<s>q");
  write_file(settings, R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                             {"name": "default", "template": "d"}]})");
  CHECK(prompt() == "d");
  write_file(settings, R"({"chat_template": [{"name": "rag", "template": "t"}]})");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { (void)read(); }), "got 'rag'"));
  write_file(folder / "special_tokens_map.json", R"({"eos_token": "</s>"})");
  write_file(folder / "generation_config.json", R"({"eos_token_id": [65, 66, 999999]})");
  write_file(folder / "chat_template.jinja", "{{ messages[0].content + eos_token }}\n");
  CHECK(prompt() == "q</s>");
  CHECK(read()->ends_reply(66));
  CHECK(read()->ends_reply(tokenizer.find("</s>").value()));
  CHECK_FALSE(read()->ends_reply(67));
  write_file(folder / "chat_template.jinja", "{% if %}");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { (void)read(); }), "line 1: unexpected %}"));
}
