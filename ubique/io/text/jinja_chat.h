// SPDX-License-Identifier: Apache-2.0
// The chat template of a model folder as Hugging Face lays it out: a Jinja text that is rendered
// and then encoded. The renderer follows every byte of a turn's text through the template, so that
// only what the template itself writes is read as special tokens; the ids are otherwise those of
// transformers. A text that the template changes (upper case, JSON) counts as the turn's as a
// whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ubique/io/text/chat_template.h"
#include "ubique/io/text/jinja/template.h"

namespace ubique::io {

struct JinjaChat {
  std::string source;                                               ///< the template
  std::string where = "chat_template";                              ///< its name in messages
  std::vector<std::pair<std::string, std::string>> variables = {};  ///< such as bos_token
  std::vector<std::int32_t> ends = {};   ///< tokens that end a reply, beside the template's own
  std::optional<std::int64_t> now = {};  ///< for strftime_now; the time of rendering if missing
};

class JinjaTemplate : public ChatTemplate {
 public:
  /// Input error for a template that cannot be read. The tokenizer must outlive this.
  JinjaTemplate(const Tokenizer& tokenizer, const JinjaChat& chat);

  std::vector<std::int32_t> prompt(std::span<const Turn> turns) const override;
  /// The assistant's part is what {% generation %} marks. Without such marks it begins where the
  /// prompt for that turn ends (else with the turn's text), and ends with the first token that ends
  /// a reply (else with the text).
  ChatTokens conversation(std::span<const Turn> turns) const override;
  bool ends_reply(std::int32_t id) const override { return ends_.contains(id); }
  /// Models may have more logits than there are tokens.
  bool fits_vocabulary(std::int64_t size) const override { return size >= tokenizer().size(); }

  /// The rendered text, `source` of a span being the index of its turn. Input error where the
  /// template refuses the turns.
  jinja::Rendered render(std::span<const Turn> turns, bool add_generation_prompt) const;

 private:
  struct Encoded;
  Encoded encoded(const jinja::TracedText& text) const;
  TextRange assistant_range(std::span<const Turn> turns, std::size_t turn,
                            const jinja::TracedText& text, const Encoded& tokens) const;
  void find_end();

  jinja::Template template_;
  std::vector<std::pair<std::string, std::string>> variables_;
  std::optional<std::int64_t> now_;
  std::unordered_set<std::int32_t> ends_;
};

/// Does a model folder have a chat template?
bool has_chat_template(const std::filesystem::path& folder);

/// The template of a model folder: chat_template.jinja, or chat_template in tokenizer_config.json
/// (of several the one named default). Input error that says what to do where there is none. The
/// tokenizer must outlive the result.
std::unique_ptr<ChatTemplate> read_chat_template(const std::filesystem::path& folder,
                                                 const Tokenizer& tokenizer);

}  // namespace ubique::io
