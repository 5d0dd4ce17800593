#pragma once

// Commands are a table. A command declares its options, calls one function of the library and returns an exit
// code. "Where to add a command": one file cli/<name>.cpp, its declaration here and its line in
// command_table().

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace maskfit::cli {

struct Command {
  std::string name;     // "train"; "data import" for a command in a group
  std::string summary;  // one line for `maskfit help`
  // Declares options on `app` and returns what runs when the command was chosen: it returns the exit code
  // (see base/error.h). Results go to stdout, everything else to stderr (spdlog). Errors are thrown,
  // cli/app.cpp prints them.
  std::function<std::function<int()>(CLI::App& app)> declare;
};

// All commands, in the order of `maskfit help`.
const std::vector<Command>& command_table();

// One function a command, each in its own file.
Command doctor_command();
Command data_get_command();
Command data_organise_command();
Command data_import_command();
Command data_kitti_command();
Command data_convert_command();
Command data_info_command();
Command data_check_command();
Command data_split_command();
Command data_show_command();
Command train_command();
Command evaluate_command();
Command infer_command();
Command prune_command();
Command export_command();
Command verify_command();
Command demo_command();
Command spec_check_command();
Command spec_show_command();
Command spec_defaults_command();
Command spec_reference_command();

}  // namespace maskfit::cli
