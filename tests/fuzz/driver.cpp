// Runs a fuzz target without libFuzzer: every file of the corpus, then mutations of them from a
// fixed seed, so that it is an ordinary test with any compiler. A target is one function,
// LLVMFuzzerTestOneInput; linked with clang's -fsanitize=fuzzer in place of this file it is fuzzed
// with coverage feedback.
//
//   hk_fuzz_<name> CORPUS_FOLDER [MUTATIONS] [SEED]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t input_bytes_max = 16'384;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// In the order of their names, so that one seed is one run.
std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::string piece_of(hk::SeededRng& rng, const std::string& text) {
  if (text.empty()) {
    return {};
  }
  return text.substr(rng.below(text.size()), rng.below(64));
}

void mutate(hk::SeededRng& rng, std::string& text, const std::vector<std::string>& corpus) {
  constexpr std::string_view telling = "%&=+./;, \r\n\t:?\0\x7f\xc3\xff";
  const std::size_t place = rng.below(text.size() + 1);
  switch (rng.below(6)) {
    case 0: text.insert(place, 1, static_cast<char>(rng.below(256))); break;
    case 1: text.insert(place, 1, telling[rng.below(telling.size())]); break;
    case 2:
      if (place < text.size()) text[place] = static_cast<char>(rng.below(256));
      break;
    case 3: text.erase(place, rng.below(16)); break;
    case 4: text.insert(place, piece_of(rng, text)); break;
    default: text.insert(place, piece_of(rng, corpus[rng.below(corpus.size())])); break;
  }
  text.resize(std::min(text.size(), input_bytes_max));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER [MUTATIONS] [SEED]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "no files in %s\n", argv[1]);
    return 2;
  }
  const std::uint64_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  hk::SeededRng rng(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);

  for (const std::string& input : corpus) {
    run(input);
  }
  for (std::uint64_t i = 0; i < mutations; ++i) {
    std::string input = corpus[rng.below(corpus.size())];
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
      mutate(rng, input, corpus);
    }
    run(input);
  }
  std::printf("%zu files, %llu mutations\n", corpus.size(),
              static_cast<unsigned long long>(mutations));
  return 0;
}
