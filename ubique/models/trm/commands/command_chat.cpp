// SPDX-License-Identifier: Apache-2.0
// `ubique run trm --chat`: a conversation on the terminal, or one question and its answer. Answers
// go to standard output as they come; who is asked to speak, and what went on, to standard error.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "ubique/base/files/stream.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/session/session.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/use/chat_decoder.h"
#include "ubique/nn/chat_session.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPrompt = 1U << 24U;

struct ChatSettings {
  nn::ChatOptions chat;
  std::string prompt, system, tokenizer;
  bool one_shot = false;
};

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

/// Asks and shows; keeps what was said for the end.
class Conversing {
 public:
  Conversing(nn::ChatSession& session, const engine::Request& request)
      : session_(session),
        stop_(request.stop_requested),
        streams_(request.progress != ProgressStyle::JsonLines &&
                 request.progress != ProgressStyle::Silent) {}

  void ask(const std::string& question) {
    const auto reply = session_.ask(question, [this](std::string_view text) {
      put(text);
      return !stopped();
    });
    put("\n");
    if (reply.forgotten > 0) {
      log::info("the window is full: {} turns forgotten", reply.forgotten);
    }
    answers_.push_back(answer_json(question, reply));
  }

  bool stopped() const { return stop_ && stop_(); }

  engine::Outcome outcome(const ChatSettings& settings) const {
    auto json = json_document("trm_chat", 1);
    json["seed"] = settings.chat.seed;
    json["answers"] = answers_;
    return {kept_, json, stopped() ? ExitCode::Interrupted : ExitCode::Ok};
  }

 private:
  void put(std::string_view text) {
    if (streams_) {
      write_fully(STDOUT_FILENO, std::as_bytes(std::span(text)), "standard output");
    } else {
      kept_ += text;
    }
  }

  nn::ChatSession& session_;
  std::function<bool()> stop_;
  bool streams_;
  std::string kept_;
  Json answers_ = Json::array();
};

void prompt_person() {
  if (::isatty(STDIN_FILENO) == 1) std::cerr << "you> " << std::flush;
}

/// Until `quit`, `exit`, the end of the input or Ctrl-C. `/forget` begins anew.
void converse(Conversing& conversing, nn::ChatSession& session) {
  if (::isatty(STDIN_FILENO) == 1) {
    std::cerr << "Ask something. quit or exit ends, /forget begins anew.\n";
  }
  std::string line;
  for (prompt_person(); !conversing.stopped() && std::getline(std::cin, line); prompt_person()) {
    const auto said = std::string(trim(line));
    if (said == "quit" || said == "exit") break;
    if (said == "/forget") {
      session.forget();
    } else if (!said.empty()) {
      conversing.ask(said);
    }
  }
}

}  // namespace

std::vector<engine::Option> chat_options() {
  return {{"--chat", "chat", "", "talk with a chat model"},
          {"--prompt", "prompt", "TEXT", "ask this alone; - reads it from standard input"},
          {"--system", "system", "TEXT", "what every answer sees first"},
          {"--max-new-tokens", "max_new_tokens", "N", "an answer's most tokens (100)"},
          {"--temperature", "temperature", "X", "of the choice; 0: the likeliest token (0.7)"},
          {"--top-k", "top_k", "N", "choose among the N likeliest; 0: all (50)"},
          {"--top-p", "top_p", "X", "among the fewest that have this much of the mass (0.9)"},
          {"--tokenizer", "tokenizer", "PATH", "the model's, if it does not lie with it"},
          {"--seed", "seed", "N", "the same seed, the same answers (0)"}};
}

std::vector<std::pair<std::string, std::string>> chat_examples() {
  return {{"ubique run trm --chat --model runs/chat/checkpoints/best",
           "a conversation on the terminal"},
          {"ubique run trm --chat --model runs/chat/checkpoints/best --prompt 'Who are you?' "
           "--temperature 0",
           "one question, the likeliest answer"}};
}

fs::path find_chat_tokenizer(const fs::path& model) {
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
       "[trm.chat] no tokenizer beside the model; looked for tokenizer/ in {} and the three "
       "folders above it. --tokenizer names it (the data set has one).",
       model.string());
}

engine::Outcome run_chat(const engine::Request& request) {
  const auto settings = read_chat_settings(request.config);
  auto wishes = plan::read_wishes(request.config);
  wishes.mode = plan::Mode::Run;
  // Half precision rounds otherwise on every device: a seed would not give one text any more.
  if (!wishes.dtype) wishes.dtype = DType::F32;
  request.config.finish();
  check(request.inputs.empty(), ErrorKind::Usage,
        "[trm.chat] --chat takes no puzzles; got '{}'. --prompt TEXT asks one question.",
        request.inputs.empty() ? std::string() : request.inputs.front());

  auto opened = engine::open_model(request.model, "trm");
  auto& model = dynamic_cast<TrmModel&>(*opened);
  check_speaks(model.settings());
  const auto tokenizer =
      io::read_tokenizer(settings.tokenizer.empty() ? find_chat_tokenizer(request.model)
                                                    : fs::path(settings.tokenizer));
  const io::ChatTemplate tokens(tokenizer);
  const auto session = engine::open_session(model.needs(), wishes, request.fallback);
  engine::apply(session.plan);
  model.network().to(session.device.torch_device);
  log::info("Using device: {}", session.device.facts.label());
  ChatDecoder decoder(model.trm(), probe::to_torch(session.plan.dtype.value));
  nn::ChatSession chat(decoder, tokens, settings.chat);
  chat.set_system(settings.system);
  Conversing conversing(chat, request);
  if (settings.one_shot) {
    const auto question = settings.prompt == "-" ? read_standard_input() : settings.prompt;
    check(!question.empty(), ErrorKind::Usage, "[trm.chat] the question is empty.");
    conversing.ask(question);
  } else {
    converse(conversing, chat);
  }
  return conversing.outcome(settings);
}

}  // namespace ubique::trm
