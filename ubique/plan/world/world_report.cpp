// SPDX-License-Identifier: Apache-2.0
// Three tables: the world that was asked about, sizes from 1 to 512, what splitting would do.
#include "ubique/plan/world/world_report.h"

#include <fmt/format.h>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique::plan {
namespace {

std::string time_text(double ms) {
  if (ms <= 0) return "unknown";
  if (ms < 1) return fmt::format("{:.3g} us", ms * 1e3);
  return ms < 1000 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.3g} s", ms / 1000);
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string bytes_text(double bytes) { return human_bytes(static_cast<std::int64_t>(bytes)); }

std::string rate_text(const Interconnect& link) {
  return fmt::format("{:g} GB/s, {:g} us", link.gbytes_per_second, link.latency_us);
}

std::string overlap_text(const WorldPlan& plan) {
  if (plan.pace.sample_ms == 0) return "unknown";
  return fmt::format("{}: gradients travel {}; up to {} fits behind the last backward pass",
                     percent(plan.world.hidden_share),
                     plan.pace.overlap > 0 ? "during it too" : "after the backward pass",
                     percent(plan.could_hide));
}

std::string order_text(const WorldSize& world) {
  if (world.exchange.rows == world.accumulation) return "micro-batches, as in one process";
  return "ranks: copies for every micro-batch would take more than 1 GiB";
}

std::string one_world(const WorldPlan& plan) {
  const auto& world = plan.world;
  Table table({fmt::format("{} processes", world.processes), ""});
  table.limit_width(1, 78);
  table.add_row({"interconnect",
                 fmt::format("{} ({}), {}", plan.wire.id, plan.wire.what, rate_text(plan.wire))});
  table.add_row({"through " + plan.library, rate_text(plan.link) + "; " + plan.link.source});
  table.add_row({"pace", plan.pace.source});
  if (world.possible) {
    table.add_row(
        {"batch of a rank", fmt::format("{} x {}", world.micro_batch, world.accumulation)});
    table.add_row({"memory of a rank", human_bytes(world.memory)});
    table.add_row({"sums in order of", order_text(world)});
    table.add_row({"sent by a rank", bytes_text(world.exchange.sent) + " in an update"});
    table.add_row({"exchange", time_text(world.exchange.ms)});
    table.add_row({"overlap", overlap_text(plan)});
    table.add_row({"update", time_text(world.update_ms)});
  }
  return table.to_text();
}

std::string sizes_table(const WorldPlan& plan) {
  Table table({"processes", "batch", "memory", "sent", "update", "speed-up", "efficiency",
               "batch grows: update", "efficiency"});
  for (const auto& size : plan.sizes) {
    const bool timed = plan.pace.sample_ms > 0;
    std::vector<std::string> row = {std::to_string(size.processes)};
    if (size.possible) {
      row.insert(row.end(), {fmt::format("{} x {}", size.micro_batch, size.accumulation),
                             human_bytes(size.memory), bytes_text(size.exchange.sent),
                             time_text(size.update_ms),
                             timed ? fmt::format("{:.3g}", size.speed_up) : "unknown",
                             timed ? percent(size.speed_up / size.processes) : "unknown"});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-", "-", "-"});
    }
    row.push_back(time_text(size.grown_update_ms));
    row.push_back(timed ? percent(size.grown_efficiency) : "unknown");
    table.add_row(std::move(row));
  }
  return table.to_text();
}

std::string fits_text(int from) {
  if (from == 0) return "none up to 512";
  return from == 1 ? "1 process" : fmt::format("{} processes", from);
}

std::string shardings_table(const WorldPlan& plan) {
  Table table({"split among the processes", fmt::format("state at {}", plan.world.processes),
               "bytes sent", "samples fit at once from"});
  for (const auto& sharding : plan.shardings) {
    table.add_row({sharding.what, human_bytes(sharding.state_bytes),
                   fmt::format("x {:.3g}", sharding.traffic), fits_text(sharding.fits_from)});
  }
  return table.to_text();
}

std::string pays_text(const WorldPlan& plan) {
  return plan.sharding_pays_from > 0
             ? fmt::format(
                   "Sharding pays from {} processes on: there the samples of a rank go "
                   "through at once only with it.\n",
                   plan.sharding_pays_from)
             : "Sharding pays nowhere here: it frees memory that no choice of this plan needs.\n";
}

Json json_of(const Interconnect& link) {
  return {{"id", link.id},
          {"what", link.what},
          {"gbytes_per_second", link.gbytes_per_second},
          {"latency_us", link.latency_us},
          {"source", link.source}};
}

Json json_of(const WorldSize& size) {
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(); };
  Json json = {{"processes", size.processes},
               {"possible", size.possible},
               {"grown_update_ms", known(size.grown_update_ms)},
               {"grown_efficiency", known(size.grown_efficiency)}};
  if (!size.possible) return json;
  json.update({{"micro_batch", size.micro_batch},
               {"accumulation", size.accumulation},
               {"memory_bytes", size.memory},
               {"gradient_bytes", size.exchange.gradient_bytes},
               {"sent_bytes", size.exchange.sent},
               {"rounds", size.exchange.rounds},
               {"exchange_ms", size.exchange.ms},
               {"overlap", size.hidden_share},
               {"update_ms", known(size.update_ms)},
               {"speed_up", known(size.speed_up)}});
  return json;
}

}  // namespace

std::string world_text(const std::string& machine, const WorldPlan& plan) {
  return fmt::format(
      "\n{}\n{}\n{}\nupdate = micro-batches x time of one + exchange not hidden; exchange = rounds "
      "x (processes - 1) x latency\n+ sent / rate; sent = gradients x (rows + 1) x (processes - 1) "
      "/ processes. \"-\": a rank would have no\nmicro-batch, or no room. The last two columns: "
      "each process has as many samples as one has alone.\n\n{}{}",
      machine, one_world(plan), sizes_table(plan), shardings_table(plan), pays_text(plan));
}

Json to_json(const WorldPlan& plan) {
  Json json = {
      {"processes", plan.world.processes},
      {"wire", json_of(plan.wire)},
      {"library", plan.library},
      {"link", json_of(plan.link)},
      {"pace",
       {{"sample_ms", plan.pace.sample_ms > 0 ? Json(plan.pace.sample_ms) : Json()},
        {"backward_share", plan.pace.backward_share},
        {"source", plan.pace.source}}},
      {"world", json_of(plan.world)},
      {"could_overlap", plan.could_hide},
      {"sharding_pays_from", plan.sharding_pays_from > 0 ? Json(plan.sharding_pays_from) : Json()},
      {"sizes", Json::array()},
      {"shardings", Json::array()}};
  for (const auto& size : plan.sizes) json["sizes"].push_back(json_of(size));
  for (const auto& sharding : plan.shardings) {
    json["shardings"].push_back(
        {{"what", sharding.what},
         {"state_bytes", sharding.state_bytes},
         {"traffic", sharding.traffic},
         {"fits_from", sharding.fits_from > 0 ? Json(sharding.fits_from) : Json()}});
  }
  return json;
}

}  // namespace ubique::plan
