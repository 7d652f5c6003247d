// SPDX-License-Identifier: Apache-2.0
// Converts files of other programs to safetensors and back, and texts to tokens, for the
// comparisons in tests/peers: one entry of kVerbs per direction. Other values go to stdout or come
// as JSON text.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/text/jinja/template.h"
#include "ubique/io/text/tokenizer_encode.h"
#include "ubique/io/text/tokenizer_trainer.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;

namespace {

using Arguments = std::vector<std::string>;

std::vector<io::HostTensor> load(const std::string& path) {
  const io::SafetensorsFile file(path);
  std::vector<io::HostTensor> tensors;
  for (const auto& tensor : file.tensors()) {
    const auto bytes = file.bytes(tensor);
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, {bytes.begin(), bytes.end()}});
  }
  return tensors;
}

void save(const std::string& path, const std::vector<io::HostTensor>& tensors) {
  std::vector<io::TensorData> data;
  for (const auto& tensor : tensors) {
    data.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
  }
  io::write_safetensors(path, data);
}

void from_torch(const Arguments& in) {
  const auto file = io::read_torch_file(in.at(0));
  save(in.at(1), file.tensors);
  std::puts(file.tree.dump(-1, ' ', true).c_str());
}

void to_torch(const Arguments& in) {
  io::write_torch_file(in.at(1), load(in.at(0)), in.at(2), parse_json(in.at(3), "extra"));
}

// A JSON list of texts, the size, the special tokens...; the result is tokenizer.json.
void learn_tokenizer(const Arguments& in) {
  io::TokenizerTrainer trainer(
      {.size = std::stoll(in.at(2)), .special = {in.begin() + 3, in.end()}});
  for (const auto& text : parse_json(read_file(in.at(0)), in.at(0))) {
    trainer.add(text.get<std::string>());
  }
  io::write_tokenizer(in.at(1), trainer.train());
}

// The ids of each text of a JSON list; with a third argument, framed as the file says.
void tokenize(const Arguments& in) {
  const auto tokenizer = io::read_tokenizer(in.at(0));
  const io::EncodeOptions options{.special = io::SpecialTokens::Parse, .frame = in.size() > 2};
  io::TokenEncoder encoder(tokenizer);
  auto rows = Json::array();
  for (const auto& text : parse_json(read_file(in.at(1)), in.at(1))) {
    rows.push_back(encoder.encode(text.get<std::string>(), options));
  }
  std::puts(rows.dump().c_str());
}

// The text of each list of ids of a JSON list.
void detokenize(const Arguments& in) {
  const auto tokenizer = io::read_tokenizer(in.at(0));
  auto rows = Json::array();
  for (const auto& ids : parse_json(read_file(in.at(1)), in.at(1))) {
    rows.push_back(tokenizer.decode(ids.get<std::vector<std::int32_t>>()));
  }
  std::puts(rows.dump().c_str());
}

// A JSON list of {"template", "variables"}; the result is a list of {"text"} or {"error"}, with the
// parts of {% generation %} as byte ranges.
void render_templates(const Arguments& in) {
  auto rows = Json::array();
  for (const auto& each : parse_json(read_file(in.at(0)), in.at(0))) {
    try {
      const io::jinja::Template made(each.at("template").get<std::string>(), "template");
      const auto variables = io::jinja::from_json(each.at("variables"), 0);
      const auto rendered = made.render(*variables.dict(), 1'700'000'000);
      rows.push_back({{"text", rendered.text.bytes()}, {"generated", rendered.generated}});
    } catch (const Error& error) {
      rows.push_back({{"error", error.what()}});
    }
  }
  std::puts(rows.dump().c_str());
}

const std::map<std::string, std::function<void(const Arguments&)>> kVerbs = {
    {"from-torch", from_torch},
    {"to-torch", to_torch},
    {"learn-tokenizer", learn_tokenizer},
    {"tokenize", tokenize},
    {"detokenize", detokenize},
    {"rewrite-tokenizer",
     [](const Arguments& in) {
       io::write_tokenizer(in.at(1), io::read_tokenizer(in.at(0)).model());
     }},
    {"render-templates", render_templates},
    {"from-npz", [](const Arguments& in) { save(in.at(1), io::read_npz(in.at(0))); }},
    {"to-npz",
     [](const Arguments& in) { io::write_npz(in.at(1), load(in.at(0)), in.at(2) == "deflate"); }},
    {"from-npy", [](const Arguments& in) { save(in.at(1), {io::read_npy(in.at(0))}); }},
    {"to-npy", [](const Arguments& in) { io::write_npy(in.at(1), load(in.at(0)).at(0)); }},
};

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments all(words + 1, words + count);
    kVerbs.at(all.at(0))({all.begin() + 1, all.end()});
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(exit_code(error.kind()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "driver: %s\n", error.what());
    return 1;
  }
}
