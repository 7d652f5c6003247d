// SPDX-License-Identifier: Apache-2.0
// A small table of commands, as the registry would fill it.
#pragma once

#include "ubique/serve/jobs/commands.h"

namespace ubique::test {

inline serve::OptionRow test_option(const std::string& flag, const char* key, const char* type) {
  return {.flag = flag, .key = key, .type = type, .help = "", .group = ""};
}

inline std::vector<serve::OptionRow> song_options() {
  std::vector<serve::OptionRow> options = {test_option("--lora", "lora", "PATH[:WEIGHT]"),
                                           test_option("--from", "from", "FILE"),
                                           test_option("--source", "source", "FILE"),
                                           test_option("--audio", "audio", "PATH"),
                                           test_option("--stereo,!--no-stereo", "stereo", ""),
                                           test_option("--instrumental", "instrumental", ""),
                                           test_option("--python", "python", "PATH")};
  for (const auto* key :
       {"tags",       "lyrics", "negative_prompt", "language", "seconds", "steps",
        "guidance",   "shift",  "fade_in",         "fade_out", "seed",    "retake_seed",
        "variations", "task",   "strength",        "variance", "start",   "end",
        "left",       "right",  "device"}) {
    options.push_back(test_option("--" + std::string(key), key, "X"));
  }
  return options;
}

inline std::vector<serve::CommandRow> test_rows() {
  return {{.verb = "run",
           .family = "acestep",
           .name = "",
           .summary = "music",
           .inputs = "",
           .needs_model = true,
           .options = song_options()},
          {.verb = "run",
           .family = "trm",
           .name = "",
           .summary = "puzzles",
           .inputs = "PUZZLE...",
           .needs_model = true,
           .options = {test_option("--trace", "trace", "")}},
          {.verb = "train",
           .family = "trm",
           .name = "",
           .summary = "puzzles",
           .inputs = "",
           .options = {test_option("-d,--data", "data", "PATH[,...]"),
                       test_option("--lr", "lr", "X"), test_option("--resume", "resume", "")}},
          {.verb = "data",
           .family = "meshnet",
           .name = "synth",
           .summary = "heads",
           .inputs = "",
           .needs_device = false,
           .options = {test_option("--count", "count", "N"), test_option("--size", "size", "N")}},
          {.verb = "doctor",
           .family = "",
           .name = "",
           .summary = "probes",
           .inputs = "[FILE]",
           .options = {test_option("--device", "device", "NAME")}},
          {.verb = "pull",
           .family = "",
           .name = "",
           .summary = "downloads",
           .inputs = "NAME",
           .needs_device = false,
           .options = {}}};
}

}  // namespace ubique::test
