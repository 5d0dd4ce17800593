#pragma once

// From the words of a command line to an exit code: finds the command, parses its options, runs it and prints
// what went wrong as what / where / hint.

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/command.h"

namespace maskfit::cli {

// `words` without the program's name. Help and --version go to `out`, errors to `err`. Never throws. Output
// that was lost, because the disk is full say, is an error like any other: exit code 1 (standard_output.h).
//   maskfit COMMAND [OPTIONS]       runs it; the exit code is the command's
//   maskfit help [COMMAND|GROUP]    also: maskfit --help, maskfit COMMAND --help
//   maskfit --version
int run(const std::vector<std::string>& words, const std::vector<Command>& table, std::ostream& out,
        std::ostream& err);

// The log of the whole program: to stderr, colours only on a terminal and without NO_COLOR.
void set_up_log();

}  // namespace maskfit::cli
