#include "cli/app.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <ostream>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/standard_output.h"
#include "tensor/library.h"

namespace maskfit::cli {
namespace {
using base::Error;
using base::ExitCode;

using Words = std::vector<std::string>;

const std::vector<std::string> kLogLevels = {"debug", "info", "warn", "error"};

bool colours_wanted() {
  return ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

void print_error(std::ostream& err, const std::string& program, const std::string& what,
                 const std::string& where = "", const std::string& hint = "") {
  const bool colour = colours_wanted();
  err << program << ": " << (colour ? "\033[1;31merror:\033[0m " : "error: ") << what << '\n';
  if (!where.empty()) err << "  where: " << where << '\n';
  if (!hint.empty()) err << "  hint:  " << hint << '\n';
}

void print_version(std::ostream& out) {
  const tensor::LibraryFacts library = tensor::library_facts();
  out << "maskfit " << base::version() << '\n'
      << "LibTorch " << library.version << (library.built_with_cuda ? " with CUDA" : " for the CPU") << '\n'
      << "built with " << base::build_facts() << '\n';
}

// The commands of `group`, or all of them when it is empty.
void print_commands(std::ostream& out, const std::vector<Command>& table, const std::string& group) {
  std::size_t width = 0;
  for (const Command& command : table) width = std::max(width, command.name.size());
  for (const Command& command : table) {
    if (group.empty() || command.name.starts_with(group + " ")) {
      out << fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
    }
  }
}

void print_overview(std::ostream& out, const std::vector<Command>& table) {
  out << "maskfit trains small, fast face-mask detectors.\n\nUsage: maskfit COMMAND [OPTIONS]\n\nCommands:\n";
  print_commands(out, table, "");
  out << "\n  maskfit help COMMAND   the options of one command\n"
         "  maskfit --version      versions and build facts\n\n"
         "Exit codes: 0 done, 1 failed, 2 usage, 3 data or spec refused, 4 the machine lacks something, "
         "130 interrupted.\n";
}

struct Match {
  const Command* command = nullptr;
  std::size_t words = 0;  // how many words its name took
};

// The longest name wins, so that "data import" is found before a command "data".
Match find_command(const std::vector<Command>& table, const Words& words) {
  Match best;
  for (const Command& command : table) {
    const Words name = base::split_words(command.name);
    if (name.size() > best.words && name.size() <= words.size() &&
        std::equal(name.begin(), name.end(), words.begin())) {
      best = {&command, name.size()};
    }
  }
  return best;
}

bool is_group(const std::vector<Command>& table, const std::string& word) {
  return std::any_of(table.begin(), table.end(),
                     [&](const Command& command) { return command.name.starts_with(word + " "); });
}

Error unknown_command(const std::vector<Command>& table, const Words& words) {
  // In a known group only the second word is in doubt; otherwise only the first.
  const bool in_group = words.size() > 1 && is_group(table, words[0]);
  const std::string wanted = in_group ? words[0] + " " + words[1] : words[0];
  Words names;
  for (const Command& command : table) {
    if (!in_group) names.push_back(base::split_words(command.name).front());
    names.push_back(command.name);
  }
  const std::string nearest = base::nearest_name(wanted, names);
  return Error(
      ExitCode::kUsage, fmt::format("there is no command '{}'", wanted), "",
      nearest.empty() ? "`maskfit help` lists the commands" : fmt::format("did you mean '{}'?", nearest));
}

// CLI11 only says that an argument was not expected; say which option it may have been meant for.
Error unexpected_argument(const CLI::App& app) {
  const Words rest = app.remaining();
  const auto option =
      std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.starts_with("-"); });
  const std::string help = fmt::format("`{} --help` lists the options", app.get_name());
  if (option == rest.end()) {
    return Error(ExitCode::kUsage, fmt::format("unexpected argument '{}'", rest.empty() ? "" : rest.front()),
                 "", help);
  }
  const std::string wanted = option->substr(0, option->find('='));
  Words names;
  for (const CLI::Option* known : app.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  const std::string nearest = base::nearest_name(wanted, names);
  return Error(ExitCode::kUsage, fmt::format("unknown option '{}'", wanted), "",
               nearest.empty() ? help : fmt::format("did you mean '{}'?", nearest));
}

// Declares the command's options, parses `words` and runs it.
int run_command(const Command& command, Words words, std::ostream& out) {
  CLI::App app(command.summary, "maskfit " + command.name);
  app.set_help_flag("-h,--help", "Print this help");
  std::string level = "info";
  app.add_option("--log-level", level, "How much to say on stderr")
      ->check(CLI::IsMember(kLogLevels))
      ->capture_default_str();
  int threads = base::usable_cores();
  app.add_option("--threads", threads, "Threads for work on the CPU")
      ->envname("OMP_NUM_THREADS")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  const std::function<int()> body = command.declare(app);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return static_cast<int>(ExitCode::kDone);
  } catch (const CLI::ExtrasError&) {
    throw unexpected_argument(app);
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::kUsage, error.what(), "",
                fmt::format("`{} --help` lists the options", app.get_name()));
  }
  spdlog::set_level(spdlog::level::from_str(level));
  tensor::use_threads(threads);
  return body();
}

int help(const Words& words, const std::vector<Command>& table, std::ostream& out) {
  if (words.empty()) {
    print_overview(out, table);
  } else if (const Match match = find_command(table, words); match.command != nullptr) {
    return run_command(*match.command, {"--help"}, out);
  } else if (words.size() == 1 && is_group(table, words[0])) {
    print_commands(out, table, words[0]);
  } else {
    throw unknown_command(table, words);
  }
  return static_cast<int>(ExitCode::kDone);
}

int dispatch(const Words& words, const std::vector<Command>& table, std::ostream& out, std::ostream& err) {
  if (words.empty()) {
    print_overview(err, table);
    return static_cast<int>(ExitCode::kUsage);
  }
  const std::string& first = words.front();
  if (first == "help" || first == "--help" || first == "-h")
    return help({words.begin() + 1, words.end()}, table, out);
  if (first == "--version" || first == "-V") {
    print_version(out);
    return static_cast<int>(ExitCode::kDone);
  }
  const Match match = find_command(table, words);
  if (match.command != nullptr) {
    return run_command(*match.command,
                       {words.begin() + static_cast<std::ptrdiff_t>(match.words), words.end()}, out);
  }
  if (is_group(table, first) && (words.size() == 1 || words[1] == "--help" || words[1] == "-h")) {
    print_commands(words.size() == 1 ? err : out, table, first);
    return static_cast<int>(words.size() == 1 ? ExitCode::kUsage : ExitCode::kDone);
  }
  throw unknown_command(table, words);
}

// LibTorch appends a C++ backtrace to its messages; a user has no use for it.
std::string without_backtrace(const std::string& what) {
  return what.substr(0, std::min(what.find("\nException raised from"), what.find("\nframe #")));
}

int report_unexpected(std::ostream& err, const std::string& program, const std::exception& error) {
  const std::string what = without_backtrace(error.what());
  if (what.find("out of memory") != std::string::npos ||
      what.find("can't allocate memory") != std::string::npos) {
    print_error(err, program, what, "", "a smaller --batch or --size needs less memory");
    return static_cast<int>(ExitCode::kMachine);
  }
  print_error(err, program, what);
  return static_cast<int>(ExitCode::kFailed);
}

// "maskfit train" for messages, as far as the words name a command.
std::string program_name(const Words& words, const std::vector<Command>& table) {
  const Match match = find_command(table, words);
  return match.command == nullptr ? "maskfit" : "maskfit " + match.command->name;
}

}  // namespace

int run(const Words& words, const std::vector<Command>& table, std::ostream& out, std::ostream& err) {
  const std::string program = program_name(words, table);
  try {
    const int code = dispatch(words, table, out, err);
    require_written(out);
    return code;
  } catch (const Error& error) {
    if (error.code() == ExitCode::kInterrupted) {
      err << program << ": " << error.what() << '\n';
    } else {
      print_error(err, program, error.what(), error.where(), error.hint());
    }
    return static_cast<int>(error.code());
  } catch (const base::CheckFailed& error) {
    print_error(err, program, error.what(), "",
                "this is a mistake in maskfit itself: please report it with this line");
    return static_cast<int>(ExitCode::kFailed);
  } catch (const std::bad_alloc&) {
    print_error(err, program, "out of memory", "", "a smaller --batch or --size needs less memory");
    return static_cast<int>(ExitCode::kMachine);
  } catch (const std::exception& error) {
    return report_unexpected(err, program, error);
  }
}

void set_up_log() {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
      colours_wanted() ? spdlog::color_mode::always : spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("maskfit", std::move(sink));
  logger->set_pattern("%H:%M:%S %^%-7l%$ %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace maskfit::cli
