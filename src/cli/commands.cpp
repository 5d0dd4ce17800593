#include "cli/command.h"

namespace maskfit::cli {

const std::vector<Command>& command_table() {
  static const std::vector<Command> table = {
      doctor_command(),
  };
  return table;
}

}  // namespace maskfit::cli
