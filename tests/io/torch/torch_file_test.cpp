// SPDX-License-Identifier: Apache-2.0
// PyTorch checkpoints built by hand: views, shared storages and plain values; round trips.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "pickle_samples.h"
#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;
namespace pickled = test::pickled;
using pickled::text;

namespace {

std::vector<float> values_of(const io::HostTensor& tensor) {
  REQUIRE(tensor.dtype == DType::F32);
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

io::TorchFile parsed_file(const std::string& file) {
  return io::parse_torch_file(test::bytes_of(file), "x.pt");
}

/// Tensors of one storage of 0, 1, 2, 3, 4, 5.
io::TorchFile parse_views(const pickled::Pairs& tensors) {
  return parsed_file(
      pickled::archive(pickled::dict(tensors), {pickled::floats({0, 1, 2, 3, 4, 5})}));
}

std::string six() { return pickled::storage("FloatStorage", "0", 6, "mps"); }

}  // namespace

TEST_CASE("torch_file: strided, shifted and repeated views become row-major") {
  const auto file = parse_views({{text("plain"), pickled::tensor(six(), 0, {2, 3}, {3, 1})},
                                 {text("turned"), pickled::tensor(six(), 0, {3, 2}, {1, 3})},
                                 {text("part"), pickled::tensor(six(), 2, {2}, {2})},
                                 {text("repeated"), pickled::tensor(six(), 5, {2, 2}, {0, 0})},
                                 {text("scalar"), pickled::tensor(six(), 4, {}, {})},
                                 {text("ones"), pickled::tensor(six(), 1, {1, 3, 1}, {99, 2, 77})},
                                 {text("none"), pickled::tensor(six(), 6, {0, 3}, {3, 1})}});
  REQUIRE(file.tensors.size() == 7);
  const auto values = [&](const char* name) { return values_of(*file.find(name)); };
  CHECK(values("plain") == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(values("turned") == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(values("part") == std::vector<float>{2, 4});
  CHECK(values("repeated") == std::vector<float>{5, 5, 5, 5});
  CHECK(values("scalar") == std::vector<float>{4});
  CHECK(values("ones") == std::vector<float>{1, 3, 5});
  CHECK(values("none").empty());
  CHECK(file.find("scalar")->shape.empty());
  CHECK(file.find("none")->shape == io::Shape{0, 3});
  CHECK(file.find("other") == nullptr);
  CHECK(file.tensors.front().name == "plain");
}

TEST_CASE("torch_file: nested tensors are named by their path, the rest is JSON") {
  const auto plain = pickled::tensor(six(), 0, {6}, {1});
  const auto file = parse_views(
      {{text("model"), pickled::ordered_dict({{text("conv.weight"), plain}}) + "}" +
                           text("_metadata") + pickled::ordered_dict() + "sb"},
       {text("state"), pickled::dict({{"K\x07", pickled::list({plain, "K\x01"})}})},
       {text("betas"), pickled::tuple({std::string("G\x3f\xe0\0\0\0\0\0\0", 9), "N"})},
       {text("best"), std::string("G\x7f\xf0\0\0\0\0\0\0", 9)},
       {text("flag"), "\x88"},
       {text("dtype"), pickled::global("torch", "float16")},
       {text("device"), pickled::call(pickled::global("torch", "device"), {text("cuda"), "K\x01"})},
       {text("size"), pickled::call(pickled::global("torch", "Size"), {pickled::counts({1, 2})})},
       {text("set"),
        pickled::call(pickled::global("__builtin__", "set"), {pickled::list({text("a")})})},
       {text("bytes"),
        pickled::call(pickled::global("_codecs", "encode"), {text("a\xc3\xbf"), text("latin1")})}});
  CHECK(file.find("model/conv.weight") != nullptr);
  CHECK(file.find("state/7/0") != nullptr);
  CHECK(file.tensors.size() == 2);
  const auto& tree = file.tree;
  CHECK(tree["model"].dump() == R"({"conv.weight":{"$tensor":"model/conv.weight"}})");
  CHECK(tree["state"].dump() == R"({"7":[{"$tensor":"state/7/0"},1]})");
  CHECK(tree["betas"].dump() == "[0.5,null]");
  CHECK(std::isinf(tree["best"].get<double>()));
  CHECK(tree["flag"] == true);
  CHECK(tree["dtype"] == "torch.float16");
  CHECK(tree["device"] == "cuda:1");
  CHECK(tree["size"].dump() == "[1,2]");
  CHECK(tree["set"].dump() == R"(["a"])");
  CHECK(tree["bytes"].dump() == R"({"$bytes":"61ff"})");
}

TEST_CASE("torch_file: NumPy's numbers are numbers") {
  const auto scalar = [](const std::string& type, const std::string& order, std::string bytes) {
    const auto dtype =
        pickled::call(pickled::global("numpy", "dtype"), {text(type), "\x89", "\x88"}) +
        pickled::tuple({"K\x03", text(order)}) + "b";
    const auto raw = "C" + test::little(bytes.size(), 1) + bytes;
    return pickled::call(pickled::global("numpy._core.multiarray", "scalar"), {dtype, raw});
  };
  const auto tree = [&](const std::string& body) {
    return parsed_file(pickled::archive(body)).tree;
  };
  CHECK(tree(scalar("f8", "<", std::string("\0\0\0\0\0\0\xf8\x3f", 8))) == 1.5);
  CHECK(tree(scalar("f4", ">", std::string("\x3f\xc0\0\0", 4))) == 1.5);
  CHECK(tree(scalar("f2", "<", std::string("\0\x3e", 2))) == 1.5);
  CHECK(tree(scalar("i8", "<", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff", 8))) == -2);
  CHECK(tree(scalar("i1", "|", "\xfe")) == -2);
  CHECK(tree(scalar("u1", "|", "\xfe")) == 254);
  CHECK(tree(scalar("b1", "|", "\x01")) == true);
  const auto error = test::refusal_of(ErrorKind::Input, [&] { tree(scalar("U1", "<", "abcd")); });
  CHECK(test::contains(error, "a NumPy value that is no number"));
}

TEST_CASE("torch_file: parameters, newer dtypes and deflated or big-endian archives") {
  const auto plain = pickled::tensor(six(), 0, {6}, {1});
  const auto parameter = pickled::call(pickled::global("torch._utils", "_rebuild_parameter"),
                                       {plain, "\x88", pickled::ordered_dict()});
  CHECK(values_of(*parse_views({{text("p"), parameter}}).find("p")).size() == 6);

  const auto untyped =
      pickled::tuple({text("storage"), pickled::global("torch.storage", "UntypedStorage"),
                      text("0"), text("cpu"), pickled::integer(4)}) +
      "Q";
  const auto v3 =
      pickled::call(pickled::global("torch._utils", "_rebuild_tensor_v3"),
                    {untyped, pickled::integer(1), pickled::counts({1}), pickled::counts({1}),
                     "\x89", pickled::ordered_dict(), pickled::global("torch", "uint16")});
  const auto file = parsed_file(pickled::archive(pickled::list({v3}), {"abcd"}));
  CHECK(file.find("0")->dtype == DType::U16);
  CHECK(test::text_of(file.find("0")->bytes) == "cd");

  const auto body =
      pickled::whole(pickled::tensor(pickled::storage("IntStorage", "0", 1), 0, {1}, {1}));
  const auto big = test::zip_of({{"m/data.pkl", body, test::deflate_block(body)},
                                 {"m/byteorder", "big"},
                                 {"m/data/0", "abcd", test::deflate_block("abcd")}});
  const auto alone = parsed_file(big);
  REQUIRE(alone.tensors.size() == 1);
  CHECK(alone.tensors[0].name.empty());
  CHECK(test::text_of(alone.tensors[0].bytes) == "dcba");
}

TEST_CASE("torch_file: what is written is read back, at the top or under a key") {
  const test::ScratchFolder folder;
  std::vector<io::HostTensor> tensors;
  for (const auto dtype : {DType::Bool, DType::U8, DType::I8, DType::U16, DType::I16, DType::U32,
                           DType::I32, DType::U64, DType::I64, DType::F8E4M3, DType::F8E5M2,
                           DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64}) {
    tensors.push_back({"t." + std::string(to_string(dtype)),
                       dtype,
                       {3, 1, 2},
                       std::vector<std::byte>(6 * size_of(dtype), std::byte{1})});
  }
  tensors.push_back({"scalar", DType::I64, {}, std::vector<std::byte>(8, std::byte{7})});
  tensors.push_back({"none", DType::F32, {0, 4}, {}});
  const Json extra = {{"training_state", {{"epoch", 3}, {"best", 0.5}, {"note", nullptr}}},
                      {"seed", UINT64_MAX}};
  for (const std::string under : {"", "model_state_dict"}) {
    io::write_torch_file(folder / "x.pt", tensors, under, extra);
    const auto file = io::read_torch_file(folder / "x.pt");
    REQUIRE(file.tensors.size() == tensors.size());
    for (const auto& tensor : tensors) {
      const auto* same = file.find(under.empty() ? tensor.name : under + "/" + tensor.name);
      REQUIRE(same != nullptr);
      CHECK(same->dtype == tensor.dtype);
      CHECK(same->shape == tensor.shape);
      CHECK(same->bytes == tensor.bytes);
    }
    CHECK(file.tree["training_state"] == extra["training_state"]);
    CHECK(file.tree["seed"] == extra["seed"]);
  }
}

TEST_CASE("torch_file: names and keys given twice are not written") {
  const test::ScratchFolder folder;
  const io::HostTensor one{"a", DType::U8, {1}, {std::byte{1}}};
  const auto refused = [&](std::vector<io::HostTensor> tensors, const std::string& under,
                           Json extra) {
    test::refusal_of(ErrorKind::Internal,
                     [&] { io::write_torch_file(folder / "x.pt", tensors, under, extra); });
  };
  refused({one, one}, "", Json::object());
  refused({one}, "", {{"a", 1}});
  refused({one}, "model", {{"model", 1}});
  refused({one}, "", Json::array());
  refused({{"a", DType::F32, {1}, {std::byte{1}}}}, "", Json::object());
  CHECK(folder.count() == 0);
}

TEST_CASE("torch_file: its files and the legacy ones are recognised, others are not") {
  const auto looks = [](const std::string& file) {
    return io::looks_like_torch_file(test::bytes_of(file));
  };
  CHECK(looks(pickled::archive("N")));
  CHECK(looks("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."));
  CHECK_FALSE(looks(test::zip_of({{"a.npy", "x"}})));
  CHECK_FALSE(looks(test::small_file()));
  CHECK_FALSE(looks(pickled::archive("N").substr(0, 20)));
  CHECK_FALSE(looks(""));
}
