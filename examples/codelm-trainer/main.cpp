// SPDX-License-Identifier: Apache-2.0
// What the StarCoder guide does in Python, in C++: the device and its summary, then a training by a
// configuration file. codelm-trainer CONFIG.yaml SEQUENCES EPOCHS OUTPUT [KEY=VALUE...]
#include <ubique/base/error.h>
#include <ubique/engine/walk/library.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s CONFIG.yaml SEQUENCES EPOCHS OUTPUT [KEY=VALUE...]\n", argv[0]);
    return 2;
  }
  try {
    auto config = ubique::Config::from_file(argv[1]);
    config.set_flag("sequences", argv[2]);
    config.set_flag("epochs", argv[3]);
    for (int i = 5; i < argc; ++i) {
      const std::string word = argv[i];
      const auto equals = word.find('=');
      config.set_flag(word.substr(0, equals), word.substr(equals + 1));
    }
    // backend = get_device_backend(); backend.setup(); backend.log_summary()
    std::printf("%s\n", ubique::engine::device_summary_of(config, /*verbose=*/true).c_str());
    // trainer = MetalCudaUnifiedTrainer(config_path); trainer.train(sequences, epochs, output_dir)
    const auto result = ubique::engine::train_family("codelm", config, argv[4]);
    std::printf("%lld steps, training loss %.4f, in %s\n", static_cast<long long>(result.steps),
                result.train_loss, argv[4]);
    return 0;
  } catch (const ubique::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
