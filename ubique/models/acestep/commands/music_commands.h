// SPDX-License-Identifier: Apache-2.0
// The commands about synthetic music, and how they show what was heard.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/music/analysis.h"
#include "ubique/engine/contract/request.h"

namespace ubique::acestep {

/// data acestep synth, new and analyse.
std::vector<engine::Command> music_commands();
engine::Command synth_command();           ///< data acestep synth
engine::Command evaluate_music_command();  ///< evaluate acestep music
engine::Command demo_command();            ///< demo acestep

/// Cells of a table: name, chord, timbre, tempo, side, melody.
std::vector<std::string> heard_row(const std::string& name, const data::MusicHeard& heard);
Json heard_json(const data::MusicHeard& heard);
Json music_scores_json(const data::MusicScores& scores);
std::string music_scores_text(const data::MusicScores& scores);

}  // namespace ubique::acestep
