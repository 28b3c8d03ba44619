#include <cstdlib>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // An answer that takes longer than a look-up may (ResolverOptions::timeout) is of no use: the
  // system's own patience, ten seconds and more, would only keep a thread from asking for others.
  ::setenv("RES_OPTIONS", "timeout:1 attempts:2", 0);
  return hk::cli::run(argc, argv);
}
