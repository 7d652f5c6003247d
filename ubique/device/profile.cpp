// SPDX-License-Identifier: Apache-2.0
// Reads profiles and checks their figures.
#include "ubique/device/profile.h"

#include <algorithm>
#include <filesystem>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/embedded.h"
#include "ubique/base/text/text.h"
#include "ubique/device/budget.h"

namespace ubique::device {
namespace {

constexpr std::string_view kSuffix = ".yaml";

// Keys that state a figure about the machine, and so need a source.
constexpr std::string_view kFigures[] = {
    "capability",
    "total_bytes",
    "recommended_bytes",
    "max_tensor_bytes",
    "native_dtypes",
    "instruction_sets",
    "cores",
    "memory_gbps",
    "tflops_f32",
    "tflops_half",
    "os_version",
    "torch_version",
    "driver",
};

Kind kind_of_backend(const Config& config, const std::string& backend) {
  const std::vector<std::string> names = {"cpu", "cuda", "mps", "xpu"};
  constexpr Kind kKinds[] = {Kind::Cpu, Kind::Cuda, Kind::Mps, Kind::Xpu};
  const auto found = std::find(names.begin(), names.end(), backend);
  check(found != names.end(), ErrorKind::Usage,
        "[device.profile] {}: unknown backend; got '{}', expected {}.{}", config.where("backend"),
        backend, join(names, ", "), hint(backend, names));
  return kKinds[found - names.begin()];
}

std::vector<DType> read_dtypes(const Config& config) {
  std::vector<DType> dtypes;
  for (const auto& name : config.get<std::vector<std::string>>("native_dtypes", {"f32"})) {
    const auto dtype = parse_dtype(name);
    check(dtype.has_value(), ErrorKind::Usage,
          "[device.profile] {}: unknown dtype in native_dtypes; got '{}', expected e.g. f32, f16, "
          "bf16.",
          config.where("native_dtypes"), name);
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

void check_figures(const Config& config, const Facts& facts) {
  const auto positive = [&](std::string_view key, double value, bool allow_zero) {
    check(
        value > 0 || (allow_zero && value == 0), ErrorKind::Usage,
        "[device.profile] {}: {} must be positive; got {}, expected e.g. what the datasheet says.",
        config.where(key), key, value);
  };
  positive("total_bytes", static_cast<double>(facts.total_bytes), false);
  positive("recommended_bytes", static_cast<double>(facts.recommended_bytes), true);
  positive("max_tensor_bytes", static_cast<double>(facts.max_tensor_bytes), true);
  positive("cores", facts.cores, false);
  positive("memory_gbps", facts.memory_gbps, true);
  positive("tflops_f32", facts.tflops_f32, true);
  positive("tflops_half", facts.tflops_half, true);
  check(facts.recommended_bytes <= facts.total_bytes, ErrorKind::Usage,
        "[device.profile] {}: recommended_bytes is more than the memory; got {}, expected at most "
        "{}.",
        config.where("recommended_bytes"), human_bytes(facts.recommended_bytes),
        human_bytes(facts.total_bytes));
  check((facts.kind == Kind::Cuda) == (facts.capability > 0), ErrorKind::Usage,
        "[device.profile] {}: capability is for CUDA, and CUDA needs it; got {} with backend {}, "
        "expected e.g. 86 for compute capability 8.6.",
        config.where("capability"), facts.capability, facts.backend);
}

Facts read_facts(const Config& config) {
  Facts facts;
  facts.profile = config.require<std::string>("id");
  facts.name = config.require<std::string>("name");
  facts.backend = config.require<std::string>("backend");
  facts.kind = kind_of_backend(config, facts.backend);
  facts.count = config.get("count", 1);
  facts.chip = config.get<std::string>("chip", "");
  facts.capability = config.get("capability", 0);
  facts.total_bytes = config.get_bytes("total_bytes", 0);
  facts.free_bytes = facts.total_bytes;
  facts.recommended_bytes = config.get_bytes("recommended_bytes", 0);
  facts.max_tensor_bytes = config.get_bytes("max_tensor_bytes", 0);
  facts.native_dtypes = read_dtypes(config);
  facts.instruction_sets = config.get<std::vector<std::string>>("instruction_sets", {});
  facts.cores = config.get("cores", 1);
  facts.memory_gbps = config.get("memory_gbps", 0.0);
  facts.tflops_f32 = config.get("tflops_f32", 0.0);
  facts.tflops_half = config.get("tflops_half", 0.0);
  facts.platform =
      config.get<std::string>("platform", facts.kind == Kind::Mps ? "Darwin" : "Linux");
  facts.os_version = config.get<std::string>("os_version", "");
  facts.torch_version = config.get<std::string>("torch_version", "");
  facts.driver = config.get<std::string>("driver", "");
  check_figures(config, facts);
  return facts;
}

std::vector<FigureSource> read_sources(const Config& config) {
  const auto section = config.section("sources");
  std::vector<FigureSource> sources;
  for (const auto figure : kFigures) {
    if (const auto text = section.find<std::string>(figure)) {
      check(
          config.has(figure), ErrorKind::Usage,
          "[device.profile] {}: a source for a figure that is not there; got sources.{}, expected "
          "{} too.",
          section.where(figure), figure, figure);
      sources.push_back({std::string(figure), *text});
    }
  }
  return sources;
}

}  // namespace

std::vector<std::string> profile_ids() {
  std::vector<std::string> ids;
  for (const auto& file : embedded::profiles()) {
    ids.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Profile read_profile(std::string_view text, const std::string& name) {
  auto config = Config::from_text(text, name);
  config.set_environment({});  // a profile does not depend on the environment
  Profile profile;
  profile.facts = read_facts(config);
  profile.sources = read_sources(config);
  config.finish();
  for (const auto figure : kFigures) {
    const bool sourced = std::any_of(profile.sources.begin(), profile.sources.end(),
                                     [&](const auto& source) { return source.figure == figure; });
    if (config.has(figure) && !sourced) profile.unsourced.emplace_back(figure);
  }
  const auto budget = memory_budget(profile.facts);
  profile.facts.budget_bytes = budget.bytes;
  profile.facts.budget_reason = budget.reason;
  return profile;
}

Profile load_profile(const std::string& id_or_path) {
  if (id_or_path.find('/') != std::string::npos || id_or_path.ends_with(kSuffix)) {
    return read_profile(read_file(id_or_path, std::int64_t{1} << 20), id_or_path);
  }
  for (const auto& file : embedded::profiles()) {
    if (file.name.size() == id_or_path.size() + kSuffix.size() &&
        file.name.starts_with(id_or_path)) {
      return read_profile(file.text, std::string(file.name));
    }
  }
  const auto ids = profile_ids();
  fail(ErrorKind::Usage,
       "[device.profile] unknown profile; got '{}', expected one of the {} that 'ubique plan "
       "--list-profiles' shows, or a YAML file.{}",
       id_or_path, ids.size(), hint(id_or_path, ids));
}

void add_datasheet_rates(Facts& facts) {
  const auto name_line = "\nname: " + facts.name + "\n";  // parsing every profile would be slow
  for (const auto& file : embedded::profiles()) {
    if (file.text.find(name_line) == std::string_view::npos) continue;
    const auto known = read_profile(file.text, std::string(file.name)).facts;
    if (known.backend != facts.backend) continue;
    if (facts.tflops_f32 == 0) facts.tflops_f32 = known.tflops_f32;
    if (facts.tflops_half == 0) facts.tflops_half = known.tflops_half;
    if (facts.memory_gbps == 0) facts.memory_gbps = known.memory_gbps;
    return;
  }
}

}  // namespace ubique::device
