#include <unistd.h>

#include <iostream>

#include "cli/app.h"
#include "cli/standard_output.h"

int main(int argc, char** argv) {
  maskfit::cli::reserve_standard_descriptors();
  maskfit::cli::set_up_log();
  maskfit::cli::DescriptorBuffer buffer(STDOUT_FILENO);
  std::streambuf* const before = std::cout.rdbuf(&buffer);
  const int code =
      maskfit::cli::run({argv + 1, argv + argc}, maskfit::cli::command_table(), std::cout, std::cerr);
  std::cout.rdbuf(before);
  return code;
}
