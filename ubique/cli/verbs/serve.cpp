// SPDX-License-Identifier: Apache-2.0
// `ubique serve`: the studio, a web application for all families with a queue of jobs.
#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "build_facts.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/serve/command_rows.h"
#include "ubique/cli/serve/language_models.h"
#include "ubique/cli/serve/open_browser.h"
#include "ubique/cli/serve/program_path.h"
#include "ubique/cli/verb.h"
#include "ubique/engine/contract/family.h"
#ifdef UBIQUE_HAS_SERVE
#include "ubique/serve/openai/routes.h"
#include "ubique/serve/store/folders.h"
#include "ubique/serve/studio.h"
#endif

namespace ubique::cli {
namespace {

struct ServeFlags {
  std::shared_ptr<CommonFlags> common;
  std::string host = "127.0.0.1", data, token, upload = "2GiB";
  int port = 7870;
  bool open = false;
  std::vector<std::string> names, allowed;
  LanguageModelFlags models;
};

#ifdef UBIQUE_HAS_SERVE

serve::StudioSettings studio_settings(const ServeFlags& flags) {
  serve::StudioSettings settings;
  settings.host = flags.host;
  settings.port = flags.port;
  settings.data =
      flags.data.empty() ? serve::usual_data_folder() : std::filesystem::path(flags.data);
  settings.token = flags.token;
  settings.version = UBIQUE_VERSION;
  settings.program = program_path();
  for (const auto& name : flags.names) settings.names.push_back(lowercase(name));
  settings.allowed.assign(flags.allowed.begin(), flags.allowed.end());
  for (const auto* family : engine::families()) {
    settings.families.emplace_back(family->name(), family->summary());
  }
  const auto bytes = parse_bytes(flags.upload);
  check(bytes && *bytes > 0, ErrorKind::Usage,
        "[cli.serve] --upload; got '{}', expected a size such as 2GiB.", flags.upload);
  settings.upload_bytes = *bytes;
  return settings;
}

void say_address(const ServeFlags& flags, const std::string& address, const std::string& token,
                 bool token_is_new, bool was_running) {
  if (flags.common->json) {
    auto document = json_document("serve", 1);
    document["address"] = address;
    document["running_already"] = was_running;
    if (token_is_new) document["token"] = token;
    print_json(document);
    return;
  }
  if (was_running) {
    print_out(fmt::format("The studio runs already: {}\n", address));
    return;
  }
  print_out(fmt::format("Ubique studio: {}\n", address));
  // Once: later it is in the data folder.
  if (token_is_new) print_out(fmt::format("Open it as {}/?token={}\n", address, token));
  if (!flags.common->quiet) print_out("Ctrl-C stops it; jobs stay in the queue.\n");
}

void show_in_browser(const ServeFlags& flags, const std::string& address,
                     const std::string& token) {
  if (!flags.open) return;
  const auto page = token.empty() ? address + "/" : address + "/?token=" + token;
  if (!open_browser(page)) log::info("no browser could be opened here; the address is above");
}

ExitCode run_serve(const ServeFlags& flags) {
  auto settings = studio_settings(flags);
  const int wanted = settings.port;
  // The signals that stop it are waited for by one thread; all others leave them blocked.
  sigset_t stops;
  sigemptyset(&stops);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, number);
  ::pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<serve::ModelPool> pool;  // outlives the routes, and its events the studio
  serve::StudioParts parts{.commands = command_rows(),
                           .recognize = family_of_model,
                           .more_models = models_at_hand,
                           .more_routes =
                               [&](serve::Router& router, serve::Services& services) {
                                 pool = make_model_pool(flags.models, services);
                                 serve::add_openai_routes(router, *pool);
                                 services.loaded_models = [&pool] { return pool->loaded(); };
                               },
                           .has_openai = true};
  serve::Studio studio(std::move(settings), std::move(parts));
  if (const auto other = studio.other_address()) {
    say_address(flags, *other, "", false, true);
    show_in_browser(flags, *other, flags.token);
    return ExitCode::Ok;
  }
  if (wanted != 0 && studio.port() != wanted) {
    log::warn("port {} is taken; the next free one is {}", wanted, studio.port());
  }
  say_address(flags, studio.address(), studio.token(), studio.token_is_new(), false);
  std::thread stopper([&] {
    int number = 0;
    ::sigwait(&stops, &number);
    log::info("stopping; jobs that run are kept for the next start");
    studio.stop();
  });
  std::thread browser([&] { show_in_browser(flags, studio.address(), studio.token()); });
  studio.run();
  pool.reset();
  browser.join();
  ::kill(::getpid(), SIGTERM);  // wakes the thread if the server ended by itself
  stopper.join();
  return ExitCode::Ok;
}

#else

ExitCode run_serve(const ServeFlags& /*flags*/) {
  fail(ErrorKind::Usage,
       "[cli.serve] this program was built without its web server; cpp-httplib or SQLite was "
       "missing. Install libcpp-httplib-dev and libsqlite3-dev (Homebrew: cpp-httplib sqlite), "
       "remove build/ and build again.");
}

#endif

std::function<ExitCode()> setup_serve(CLI::App& app) {
  auto flags = std::make_shared<ServeFlags>();
  app.add_flag("--open", flags->open, "show it in the browser");
  app.add_option("--port", flags->port, "port, or the next free one (7870); 0: any")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  app.add_option("--host", flags->host,
                 "address to listen on (127.0.0.1: this machine alone); others need a token")
      ->type_name("ADDRESS");
  app.add_option("--data", flags->data, "folder for jobs, results and uploads")->type_name("DIR");
  app.add_option("--token", flags->token, "secret that requests must carry")
      ->envname("UBIQUE_TOKEN")
      ->type_name("TEXT");
  app.add_option("--name", flags->names, "a name by which browsers may call the server")
      ->type_name("NAME");
  app.add_option("--allow", flags->allowed, "a folder that jobs may read, e.g. with data sets")
      ->type_name("DIR");
  app.add_option("--upload", flags->upload, "most that one upload may hold (2GiB)")
      ->type_name("SIZE");
  constexpr const char* kModels = "Language models over /v1";
  app.add_option("--slots", flags->models.slots, "texts at once, of each model (16)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(kModels);
  app.add_option("--unload-after", flags->models.unload_after,
                 "seconds without a request until a model is unloaded (900); 0: never")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
      ->group(kModels);
  app.add_option("--models-memory", flags->models.memory,
                 "for all that are loaded (four fifths of the machine's)")
      ->type_name("SIZE")
      ->group(kModels);
  app.add_option("--models-device", flags->models.device, "where they run (auto)")
      ->type_name("NAME")
      ->group(kModels);
  flags->common = add_common_flags(app, /*with_device=*/false);
  return [flags] { return run_serve(*flags); };
}

}  // namespace

Verb serve_verb() {
  return {
      .name = "serve",
      .summary = "the studio: a web application with a queue, for all families",
      .description =
          "Starts a web server for this machine: pages for music, scans, pictures, code and "
          "puzzles, a queue of jobs that survives being killed, a library of what they made, "
          "and an API (docs/reference/api.yaml). Other machines reach it only with --host and a "
          "token.",
      .examples = {{"ubique serve --open", "and show it in the browser"},
                   {"ubique serve --data /srv/studio --allow /data/scans", "other folders"},
                   {"ubique serve --host 0.0.0.0 --name studio.lan",
                    "for a network; prints a "
                    "token"}},
      .setup = setup_serve};
}

}  // namespace ubique::cli
