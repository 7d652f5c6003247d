// SPDX-License-Identifier: Apache-2.0
// Rank 0 writes to standard output, the others do not.
#include "ubique/cli/several_ranks.h"

#include <fmt/format.h>

#include "ubique/base/terminal/log.h"
#include "ubique/dist/world.h"

namespace ubique::cli {
namespace {

bool shares_work(const engine::Command& command) {
  return command.verb == "run" || command.verb == "evaluate";
}

engine::Outcome run_joined(const engine::Command& command, engine::Request request) {
  const auto& world = dist::world();
  if (!world.is_first()) request.print = request.prompt = [](std::string_view) {};
  try {
    auto outcome = command.run(request);
    world.gather("done");  // its files are there for all
    return world.is_first() ? outcome : engine::Outcome{"", nullptr, outcome.code};
  } catch (const std::exception& error) {
    world.leave(fmt::format("rank {} ended: {}", world.rank(), error.what()));
    throw;
  }
}

}  // namespace

void hush_other_ranks(const dist::Place& place) {
  if (place.rank > 0 && place.launcher != "ubique launch") log::configure(log::Level::Quiet);
}

engine::Outcome run_with_others(const engine::Command& command, const engine::Request& request) {
  if (!shares_work(command)) return command.run(request);
  const auto place = dist::read_place(dist::process_environment);
  if (place.size == 1) return command.run(request);
  hush_other_ranks(place);
  dist::join(place);
  return run_joined(command, request);
}

}  // namespace ubique::cli
