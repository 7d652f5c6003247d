// SPDX-License-Identifier: Apache-2.0
// Chat on the terminal: settings, where the tokenizer is, the dialogue loop.
#include "ubique/engine/walk/chat.h"

#include <unistd.h>

#include <iostream>

#include "ubique/base/files/stream.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPrompt = 1U << 24U;

/// Everything that comes on standard input, without the line end that closes it.
std::string read_standard_input() {
  auto text = read_to_end(STDIN_FILENO, "the question", kLongestPrompt);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Json answer_json(const std::string& question, const nn::Reply& reply) {
  return {{"question", question},           {"answer", reply.text},
          {"end", to_string(reply.end)},    {"prompt_tokens", reply.prompt_tokens},
          {"new_tokens", reply.new_tokens}, {"forgotten_turns", reply.forgotten}};
}

/// Asks, shows the replies and keeps them for the result.
class Dialogue {
 public:
  Dialogue(nn::ChatSession& session, const Request& request)
      : session_(session),
        stop_(request.stop_requested),
        print_(request.print),
        streams_(request.progress != ProgressStyle::JsonLines &&
                 request.progress != ProgressStyle::Silent) {}

  void ask(const std::string& question) {
    const auto reply = session_.ask(question, [this](std::string_view text) {
      put(text);
      return !stopped();
    });
    put("\n");
    if (reply.forgotten > 0) {
      log::info("the context window is full: {} turns dropped", reply.forgotten);
    }
    answers_.push_back(answer_json(question, reply));
  }

  bool stopped() const { return stop_ && stop_(); }

  Outcome outcome(const ChatSettings& settings, const std::string& schema) const {
    auto json = json_document(schema, 1);
    json["seed"] = settings.chat.seed;
    json["answers"] = answers_;
    return {kept_, json, stopped() ? ExitCode::Interrupted : ExitCode::Ok};
  }

 private:
  void put(std::string_view text) {
    if (streams_) {
      print_(printable_lines(text));  // whole characters, from nn::TextStream
    } else {
      kept_ += text;
    }
  }

  nn::ChatSession& session_;
  std::function<bool()> stop_;
  Sink print_;
  bool streams_;
  std::string kept_;
  Json answers_ = Json::array();
};

bool at_terminal() { return ::isatty(STDIN_FILENO) == 1; }

void chat_loop(Dialogue& dialogue, nn::ChatSession& session, const Sink& prompt) {
  const auto show_prompt = [&] {
    if (at_terminal()) prompt("you> ");
  };
  if (at_terminal()) prompt("Ask something. quit or exit ends, /forget begins anew.\n");
  std::string line;
  for (show_prompt(); !dialogue.stopped() && std::getline(std::cin, line); show_prompt()) {
    const auto said = std::string(trim(line));
    if (said == "quit" || said == "exit") break;
    if (said == "/forget") {
      session.forget();
    } else if (!said.empty()) {
      dialogue.ask(said);
    }
  }
}

}  // namespace

std::vector<Option> chat_options() {
  return in_group(
      "Chat", {{"--chat", "chat", "", "talk with a chat model"},
               {"--prompt", "prompt", "TEXT", "ask this alone; - reads it from standard input"},
               {"--system", "system", "TEXT", "what every answer sees first"},
               {"--max-new-tokens", "max_new_tokens", "N", "an answer's most tokens (100)"},
               {"--temperature", "temperature", "X", "of the choice; 0: the likeliest token (0.7)"},
               {"--top-k", "top_k", "N", "choose among the N likeliest; 0: all (50)"},
               {"--top-p", "top_p", "X", "among the fewest that have this much of the mass (0.9)"},
               {"--tokenizer", "tokenizer", "PATH", "the model's, if it does not lie with it"},
               {"--seed", "seed", "N", "the same seed, the same answers (0)"}});
}

ChatSettings read_chat_settings(const Config& config) {
  ChatSettings settings;
  auto& sampling = settings.chat.sampling;
  (void)config.get("chat", true);
  sampling.temperature = config.get("temperature", sampling.temperature);
  sampling.top_k = config.get("top_k", sampling.top_k);
  sampling.top_p = config.get("top_p", sampling.top_p);
  nn::validate(sampling);
  settings.chat.max_new_tokens = config.get("max_new_tokens", settings.chat.max_new_tokens);
  settings.chat.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 0));
  settings.one_shot = config.has("prompt");
  settings.prompt = config.get("prompt", std::string());
  settings.system = config.get("system", std::string());
  settings.tokenizer = config.get("tokenizer", std::string());
  return settings;
}

fs::path find_tokenizer(const fs::path& model, const std::string& given) {
  if (!given.empty()) return given;
  auto folder = fs::absolute(model).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  for (int level = 0; level < 4; ++level) {
    std::error_code ignored;
    const auto found = folder / "tokenizer";
    if (fs::exists(found, ignored)) return found;
    if (level == 0 && fs::exists(folder / "tokenizer.json", ignored)) return folder;
    if (!folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  fail(ErrorKind::Input,
       "[engine.chat] no tokenizer beside the model; looked for tokenizer/ in {} and the three "
       "folders above it. --tokenizer names it (the data set has one).",
       model.string());
}

Outcome run_chat_session(nn::ChatSession& session, const Request& request,
                         const ChatSettings& settings, const std::string& schema) {
  session.set_system(settings.system);
  Dialogue dialogue(session, request);
  if (settings.one_shot) {
    const auto question = settings.prompt == "-" ? read_standard_input() : settings.prompt;
    check(!question.empty(), ErrorKind::Usage, "[engine.chat] the question is empty.");
    dialogue.ask(question);
  } else {
    chat_loop(dialogue, session, request.prompt);
  }
  return dialogue.outcome(settings, schema);
}

}  // namespace ubique::engine
