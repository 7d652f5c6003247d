// SPDX-License-Identifier: Apache-2.0
// The commands that a job may be, as rows of texts: the command line's table of verbs and families
// without the functions behind it. Whoever starts the server fills it from the registry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json_fwd.h"

namespace ubique::serve {

struct OptionRow {
  std::string flag;  ///< "--channels", "-c,--channels"
  std::string key;
  std::string type;  ///< empty: a switch
  std::string help, group;

  std::string long_flag() const;  ///< "--channels"
  bool is_switch() const { return type.empty(); }
  bool is_path() const;  ///< names files: a job gives references
};

/// "model:x:0.75" for an option of type "PATH[:WEIGHT]": the reference, and ":0.75" or nothing.
struct WeightedReference {
  std::string reference, weight;
};
WeightedReference weighted_reference(const OptionRow& option, const std::string& text);

struct CommandRow {
  std::string verb, family, name, summary;
  std::string inputs;  ///< as help shows them; empty: none
  bool needs_model = false, needs_device = true;
  std::vector<OptionRow> options;

  const OptionRow* find(std::string_view key) const;
  bool takes_several_inputs() const { return inputs.find("...") != std::string::npos; }
  bool resumes() const { return verb == "train"; }  ///< goes on where it was stopped
  std::string words() const;                        ///< "data meshnet synth"
};

class CommandTable {
 public:
  CommandTable() = default;
  /// Leaves out options that a job may not have: they run programs or say where to write.
  explicit CommandTable(std::vector<CommandRow> rows);

  const std::vector<CommandRow>& rows() const { return rows_; }
  /// Usage error, with what may have been meant, if there is none.
  const CommandRow& find(const std::string& verb, const std::string& family,
                         const std::string& name) const;
  bool has_verb(const std::string& verb) const;
  std::vector<std::string> families() const;
  Json json() const;

 private:
  std::vector<CommandRow> rows_;
};

}  // namespace ubique::serve
