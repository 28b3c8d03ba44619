#include "cli/cli.h"

int main(int argc, char** argv) { return hk::cli::run(argc, argv); }
