// SPDX-License-Identifier: Apache-2.0
// `ubique plan`: how a model would run on this machine, or on machines described by profiles.
#include <fmt/format.h>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/config_files.h"
#include "ubique/cli/verb.h"
#include "ubique/cli/wish_options.h"
#include "ubique/device/profile.h"
#include "ubique/device/select.h"
#include "ubique/engine/walk/train_walk.h"
#include "ubique/plan/report.h"
#include "ubique/plan/world/world_report.h"
#include "ubique/probe/cache.h"
#include "ubique/probe/report/record.h"

namespace ubique::cli {
namespace {

struct PlanFlags {
  std::shared_ptr<CommonFlags> common;
  std::string family, needs, config, on, probes;
  std::vector<std::string> settings;  // key=value of the family's model
  bool list_profiles = false, explain = false;
  plan::WorldWishes world;
  FlagTexts wishes;
};

/// A machine to plan for: facts and probe verdicts.
struct Machine {
  device::Facts facts;
  probe::Report report;
};

/// What is told about one: its plan, and the world of processes that was asked about.
struct Told {
  plan::Attempt attempt;
  std::optional<plan::WorldPlan> world;
};

/// The file and the flags; --set too.
Config read_plan_config(const PlanFlags& flags) {
  auto config =
      flags.config.empty() ? Config() : Config::from_file(config_path(flags.family, flags.config));
  set_flags(config, flags.wishes);
  if (flags.common->device != "auto") config.set_flag("device", flags.common->device);
  for (const auto& setting : flags.settings) {
    const auto equals = setting.find('=');
    check(equals != std::string::npos, ErrorKind::Usage,
          "[cli.plan] got --set '{}', expected key=value such as channels=16.", setting);
    config.set_flag(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return config;
}

Machine this_machine(const plan::Wishes& wishes, bool fallback) {
  Machine machine;
  machine.facts = device::select(device::parse_request(wishes.device), fallback).facts;
  if (auto report = probe::load_cached_report(machine.facts)) {
    machine.report = std::move(*report);
  } else {
    log::info("{} was not probed yet; run 'ubique doctor' for a plan from measurements",
              machine.facts.label());
  }
  return machine;
}

std::vector<Machine> list_machines(const PlanFlags& flags, plan::Wishes& wishes) {
  std::vector<Machine> machines;
  if (flags.on.empty()) {
    machines.push_back(this_machine(wishes, flags.common->fallback));
    if (flags.common->fallback) wishes.device = machines.front().facts.backend;
  } else {
    const auto names = flags.on == "all" ? device::profile_ids() : split(flags.on, ',');
    for (const auto& name : names) machines.push_back({device::load_profile(name).facts, {}});
  }
  if (flags.probes.empty()) return machines;
  check(machines.size() == 1, ErrorKind::Usage,
        "[cli.plan] a probe record is about one machine; got --probes for {}, expected one name "
        "after --on.",
        machines.size());
  auto& machine = machines.front();
  machine.report = probe::read_record(flags.probes);
  check(machine.report.backend == machine.facts.backend, ErrorKind::Usage,
        "[cli.plan] the probe record is about another kind of device; got {} ({}), expected {}.",
        machine.report.backend, machine.report.device, machine.facts.backend);
  return machines;
}

ExitCode list_profiles(bool json) {
  Table table({"profile", "machine", "memory", "budget", "bandwidth", "dtypes"});
  auto document = json_document("profiles", 1);
  document["profiles"] = Json::array();
  for (const auto& id : device::profile_ids()) {
    const auto profile = device::load_profile(id);
    const auto& facts = profile.facts;
    std::vector<std::string> dtypes;
    for (const auto dtype : facts.native_dtypes) dtypes.emplace_back(to_string(dtype));
    table.add_row({id, facts.name, human_bytes(facts.total_bytes), human_bytes(facts.budget_bytes),
                   facts.memory_gbps > 0 ? fmt::format("{:g} GB/s", facts.memory_gbps) : "unknown",
                   join(dtypes, " ")});
    Json sources;
    for (const auto& source : profile.sources) sources[source.figure] = source.text;
    document["profiles"].push_back({{"id", id},
                                    {"name", facts.name},
                                    {"backend", facts.backend},
                                    {"total_bytes", facts.total_bytes},
                                    {"budget_bytes", facts.budget_bytes},
                                    {"memory_gbps", facts.memory_gbps},
                                    {"native_dtypes", dtypes},
                                    {"sources", sources}});
  }
  if (json) {
    print_json(document);
  } else {
    print_out(table.to_text());
  }
  return ExitCode::Ok;
}

Json plans_json(const plan::Needs& needs, const plan::Wishes& wishes,
                const std::vector<Told>& told) {
  auto document = json_document("plan", 1);
  document["needs"] = needs.name;
  document["mode"] = to_string(wishes.mode);
  document["plans"] = Json::array();
  for (const auto& one : told) {
    document["plans"].push_back(to_json(one.attempt));
    if (one.world) document["plans"].back()["world"] = to_json(*one.world);
  }
  return document;
}

void print_plans(const PlanFlags& flags, const plan::Needs& needs, const plan::Wishes& wishes,
                 const std::vector<Told>& told) {
  if (flags.common->json) return print_json(plans_json(needs, wishes, told));
  std::string text;
  if (flags.explain) {
    for (const auto& [attempt, world] : told) {
      text += text.empty() ? "" : "\n";
      text += attempt.plan ? explain(*attempt.plan)
                           : fmt::format("{}: {}\n", attempt.machine, attempt.error);
    }
  } else {
    constexpr std::size_t kMostColumns = 4;
    std::vector<plan::Attempt> attempts;
    for (const auto& one : told) attempts.push_back(one.attempt);
    text = fmt::format("{} ({})\n\n", needs.name, to_string(wishes.mode)) +
           (attempts.size() <= kMostColumns ? side_by_side(attempts) : one_row_each(attempts));
  }
  for (const auto& one : told) {
    if (one.world) text += world_text(one.attempt.machine, *one.world);
  }
  print_out(text);
}

Told plan_for(const PlanFlags& flags, const Machine& machine, const plan::Needs& needs,
              const plan::Wishes& wishes) {
  const auto& [facts, report] = machine;
  Told told{plan::attempt_plan(facts, report, needs, wishes), {}};
  if (wishes.world_size > 1 && wishes.mode == plan::Mode::Train && told.attempt.plan) {
    told.world = plan::plan_world(facts, report, needs, wishes, *told.attempt.plan, flags.world);
  }
  return told;
}

/// What a family's model needs with these settings. A configuration for training may be given: its
/// other keys are known, but have nothing to do here.
plan::Needs family_needs(const engine::Family& family, Config& config) {
  const auto command = family.train_command();
  engine::adopt_keys(command, config);
  auto needs = family.needs(config);
  for (const auto& option : command.options) config.expect(option.key);
  for (const auto& option : engine::recipe_options()) config.expect(option.key);
  return needs;
}

/// Needs of a family's model with these settings, or of any model from a YAML file.
plan::Needs planned_needs(const PlanFlags& flags, Config& config) {
  check(flags.family.empty() != flags.needs.empty(), ErrorKind::Usage,
        "[cli.plan] what to plan for? got {}, expected a family such as meshnet, or --needs with a "
        "YAML file.",
        flags.family.empty() ? "neither" : "both a family and --needs");
  if (flags.family.empty()) return plan::read_needs_file(config_path("needs", flags.needs));
  return family_needs(engine::find_family(flags.family), config);
}

ExitCode run_plan(const PlanFlags& flags) {
  if (flags.list_profiles) return list_profiles(flags.common->json);
  plan::find_interconnect(flags.world.interconnect);  // a wrong name, before anything else
  auto config = read_plan_config(flags);
  const auto needs = planned_needs(flags, config);
  add_family_variables(config, needs.family);
  auto wishes = plan::read_wishes(config);
  if (!needs.can_train() && !config.has("mode")) wishes.mode = plan::Mode::Run;
  config.finish();
  const auto machines = list_machines(flags, wishes);
  std::vector<Told> told;
  for (const auto& machine : machines) told.push_back(plan_for(flags, machine, needs, wishes));
  const bool alone_and_impossible = told.size() == 1 && !told.front().attempt.plan;
  if (alone_and_impossible && !flags.common->json) {
    throw Error(ErrorKind::Device, told.front().attempt.error);
  }
  print_plans(flags, needs, wishes, told);
  return alone_and_impossible ? ExitCode::Device : ExitCode::Ok;
}

std::function<ExitCode()> setup_plan(CLI::App& app) {
  auto flags = std::make_shared<PlanFlags>();
  std::vector<std::string> families;
  for (const auto* family : engine::families()) families.push_back(family->name());
  app.add_option("family", flags->family, "a family: " + join(families, ", "))->type_name("FAMILY");
  app.add_option("--set", flags->settings, "a setting of its model, e.g. channels=16")
      ->type_name("KEY=VALUE");
  app.add_option("--needs", flags->needs,
                 "YAML file that says what the model needs, or a name of configs/needs")
      ->type_name("FILE");
  app.add_option("--on", flags->on, "profiles or profile files, separated by commas, or all")
      ->type_name("LIST");
  app.add_flag("--list-profiles", flags->list_profiles, "the machines that --on knows");
  app.add_flag("--explain", flags->explain, "every choice with its reason and what was rejected");
  app.add_option("--config", flags->config, "YAML file with wishes, or a training configuration")
      ->type_name("FILE");
  app.add_option("--probes", flags->probes, "probe record of that machine (doctor --share)")
      ->type_name("FILE");
  app.add_option("--interconnect", flags->world.interconnect,
                 "with --world: what is between the processes, e.g. ib400, nvlink, 10gbe, loopback")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--samples-per-second", flags->world.samples_per_second,
                 "with --world: what one process was measured to train")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  app.add_option("--mode", flags->wishes["mode"], "train or run")->type_name("MODE");
  flags->common = add_common_flags(app, true);
  add_wish_options(app, flags->wishes);
  return [flags] { return run_plan(*flags); };
}

}  // namespace

Verb plan_verb() {
  return {
      .name = "plan",
      .summary = "how a model would run, here or on machines you do not own",
      .description =
          "Chooses dtype, layout, attention, batch and the rest from what the device can do (its "
          "probes, or its profile), what the model needs and what you ask for, and predicts the "
          "memory. A model that does not fit on the one machine asked about ends with exit code 4.",
      .examples = {{"ubique plan meshnet", "on this machine"},
                   {"ubique plan meshnet --set channels=16 --on h200 --memory 12GiB", "a variant"},
                   {"ubique plan --needs FILE --on m3-max-36g,rtx4090,h200", "side by side"},
                   {"ubique plan --needs FILE --on all --mode run", "one row per machine"},
                   {"ubique plan --needs FILE --on t4 --explain", "every choice with its reason"},
                   {"ubique plan trm --world 64 --on h200 --interconnect ib400",
                    "memory, bytes and scaling of several processes"},
                   {"ubique plan --list-profiles", "the machines it knows"}},
      .setup = setup_plan,
  };
}

}  // namespace ubique::cli
