#include <iostream>

#include "cli/app.h"

int main(int argc, char** argv) {
  maskfit::cli::set_up_log();
  return maskfit::cli::run({argv + 1, argv + argc}, maskfit::cli::command_table(), std::cout, std::cerr);
}
