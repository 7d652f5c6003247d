// SPDX-License-Identifier: Apache-2.0
// The listing of tensor files of every format, and the texts for error messages.
#include "ubique/io/tensor_list.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/graphs/tf_graph_samples.h"
#include "tests/io/torch/pickle_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;

TEST_CASE("tensor_list: files of every format are listed with names and shapes") {
  const test::ScratchFolder folder;
  std::vector<io::HostTensor> tensors;
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    tensors.push_back({name, DType::F32, {2, 3}, std::vector<std::byte>(24)});
  }
  io::write_torch_file(folder / "x.pth", tensors);
  io::write_npz(folder / "x.npz", tensors);
  io::write_hdf5(folder / "x.h5", tensors);
  std::vector<io::ProtoWriter> nodes;
  for (const auto& tensor : tensors) nodes.push_back(test::tf::constant(tensor));
  write_file(folder / "x.pb", test::tf::graph(nodes).bytes());
  for (const auto* name : {"x.pth", "x.npz", "x.h5", "x.pb"}) {
    CAPTURE(name);
    CHECK(io::list_tensors(folder / name).size() == 5);
    CHECK(io::contents_text(folder / name) ==
          "5 tensors: a [2, 3], b [2, 3], c [2, 3], d [2, 3], ...");
  }
}

TEST_CASE("tensor_list: files that cannot be listed are described") {
  const test::ScratchFolder folder;
  CHECK(io::contents_text(folder.path()) == "a folder");
  write_file(folder / "a.txt", "hello");
  CHECK(io::contents_text(folder / "a.txt") == "a file of unknown kind");
  CHECK(test::contains(test::error_of([&] { io::list_tensors(folder / "a.txt"); }),
                       "input: [io.tensor_list]"));
  const auto code = test::pickled::global("os", "system");
  write_file(folder / "a.pt", test::pickled::archive(code));
  CHECK(test::contains(io::contents_text(folder / "a.pt"), "asks to import os.system"));
}
