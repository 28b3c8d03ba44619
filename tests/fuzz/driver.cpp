// Runs a fuzz target without libFuzzer: every file of the corpus, then mutations of them from a
// fixed seed, so that it is an ordinary test with any compiler. A target is one function,
// LLVMFuzzerTestOneInput; linked with clang's -fsanitize=fuzzer in place of this file it is fuzzed
// with coverage feedback.
//
// When the target stops the process, the input is left in crash-<seed>-<number>; it can be given in
// place of the folder.
//
//   hk_fuzz_<name> CORPUS_FOLDER|FILE [MUTATIONS] [SEED]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t input_bytes_max = 16'384;

const std::string* running = nullptr;  ///< for the signal handler alone
std::string crash_path;

/// Only what a signal handler may do.
extern "C" void keep_input(int signal) {
  if (running != nullptr) {
    const int file = ::open(crash_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const bool kept = file >= 0 && ::write(file, running->data(), running->size()) ==
                                       static_cast<ssize_t>(running->size());
    const std::string_view told = kept ? "the input is in " : "the input could not be kept in ";
    (void)!::write(STDERR_FILENO, told.data(), told.size());
    (void)!::write(STDERR_FILENO, crash_path.data(), crash_path.size());
    (void)!::write(STDERR_FILENO, "\n", 1);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const std::string& input, const std::string& name) {
  crash_path = "crash-" + name;
  running = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  running = nullptr;
}

/// In the order of their names, so that one seed is one run.
std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  } else {
    paths.push_back(folder);
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

constexpr const char* numbers[] = {"0",
                                   "-1",
                                   "00",
                                   "1e9",
                                   "0.1",
                                   "65535",
                                   "65536",
                                   "2147483648",
                                   "4294967296",
                                   "9223372036854775807",
                                   "18446744073709551616",
                                   "99999999999999999999999999999999999999",
                                   "0x7f"};

void mutate(hk::SeededRng& rng, std::string& text, const std::vector<std::string>& corpus) {
  using namespace std::string_view_literals;
  static constexpr std::string_view telling =
      "%&=+./;, \r\n\t:?\0\x7f\xc3\xff\"\\{}[]()*-@#$<>|019aAzZ"sv;
  const std::size_t place = rng.below(text.size() + 1);
  switch (rng.below(8)) {
    case 0: text.insert(place, 1, static_cast<char>(rng.below(256))); break;
    case 1: text.insert(place, 1, telling[rng.below(telling.size())]); break;
    case 2:
      if (place < text.size()) text[place] = static_cast<char>(rng.below(256));
      break;
    case 3: text.erase(place, rng.below(16)); break;
    case 4: text.insert(place, piece_of(rng, text)); break;
    case 5:  // a neighbour: the number after, the bit beside
      if (place < text.size()) text[place] = static_cast<char>(text[place] ^ (1 << rng.below(8)));
      break;
    case 6: text.insert(place, numbers[rng.below(std::size(numbers))]); break;
    default: text.insert(place, piece_of(rng, corpus[rng.below(corpus.size())])); break;
  }
  text.resize(std::min(text.size(), input_bytes_max));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER|FILE [MUTATIONS] [SEED]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "no files in %s\n", argv[1]);
    return 2;
  }
  const std::uint64_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  hk::SeededRng rng(seed);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) {
    std::signal(signal, keep_input);
  }

  for (const std::string& input : corpus) {
    run(input, "corpus");
  }
  for (std::uint64_t i = 0; i < mutations; ++i) {
    std::string input = corpus[rng.below(corpus.size())];
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
      mutate(rng, input, corpus);
    }
    run(input, std::to_string(seed) + "-" + std::to_string(i));
  }
  std::printf("%zu files, %llu mutations\n", corpus.size(),
              static_cast<unsigned long long>(mutations));
  return 0;
}
