#include "cli/command.h"

namespace maskfit::cli {

const std::vector<Command>& command_table() {
  // One a line, so that two new commands do not meet in one line.
  // clang-format off
  static const std::vector<Command> table = {
      demo_command(),
      doctor_command(),
      data_get_command(),
      data_organise_command(),
      data_import_command(),
      data_kitti_command(),
      data_convert_command(),
      data_info_command(),
      data_check_command(),
      data_split_command(),
      data_show_command(),
      train_command(),
      evaluate_command(),
      infer_command(),
      prune_command(),
      export_command(),
      verify_command(),
      spec_check_command(),
      spec_show_command(),
      spec_defaults_command(),
      spec_reference_command(),
  };
  // clang-format on
  return table;
}

}  // namespace maskfit::cli
