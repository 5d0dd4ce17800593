#pragma once

// How maskfit reports trouble. Three kinds, three means:
//   bad data             a value: Finding, collected and counted (finding.h)
//   bad request, machine Error, thrown; cli/main.cpp prints what / where / hint and exits with its code
//   our own mistake      MASKFIT_CHECK, throws CheckFailed with the expression and the values
// Libraries never print and never exit.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace maskfit::base {

// Exit codes of every command.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kRefused = 3,  // the data or the spec was refused
  kMachine = 4,  // the machine lacks something
  kInterrupted = 130,
};

// A bad request or a bad machine. `where` is a file, "file:line:column" or a command-line option; `hint` is
// the remedy, a sentence that tells what to do. Both may be empty.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what, std::string where = "", std::string hint = "")
      : std::runtime_error(what), code_(code), where_(std::move(where)), hint_(std::move(hint)) {}

  ExitCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  ExitCode code_;
  std::string where_;
  std::string hint_;
};

// A mistake of ours: a broken invariant. The message carries the expression, the place and the values.
class CheckFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* expression, const char* file, int line, const std::string& values);

}  // namespace maskfit::base

// MASKFIT_CHECK(n == shape[0], "n={} shape[0]={}", n, shape[0])
#define MASKFIT_CHECK(expression, ...)                                                            \
  do {                                                                                            \
    if (!(expression)) {                                                                          \
      ::maskfit::base::check_failed(#expression, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    }                                                                                             \
  } while (false)
