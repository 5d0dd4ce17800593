#include "tests/architecture/size_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/text.h"

namespace maskfit::architecture {
namespace {

enum class Scope {
  kNamespace,
  kType,
  kFunction,
  kOther
};  // kOther: an initialiser, or anything inside a function

// The head of a block: what stands before its "{" since the last ";", "{" or "}".
Scope classify(const std::string& head, Scope around) {
  static const std::regex is_namespace(R"(\b(namespace\b|extern\s*$))");
  static const std::regex is_type(
      R"(^(template\s*<.*>\s*)?(typedef\s+)?(class|struct|union|enum)\b[^()=]*$)");
  static const std::regex is_operator_or_plain(R"(^[^=(]*(operator\s*[^\s\w]+\s*)?\()");
  if (around == Scope::kFunction || around == Scope::kOther) return Scope::kOther;
  const std::string trimmed = base::trim(head);
  if (trimmed.find('(') == std::string::npos && std::regex_search(trimmed, is_namespace))
    return Scope::kNamespace;
  if (std::regex_search(trimmed, is_type)) return Scope::kType;
  // "x = [] (int) {" and "int x[] = {" are initialisers; "bool operator==(" and "f(int n = 3)" are not.
  if (std::regex_search(trimmed, is_operator_or_plain)) return Scope::kFunction;
  return Scope::kOther;
}

// "a_{1}" in a constructor's list of members, or a brace among the arguments: the head goes on behind it.
bool is_brace_inside_head(const std::string& head) {
  const auto open = std::count(head.begin(), head.end(), '(');
  const auto close = std::count(head.begin(), head.end(), ')');
  if (open > close) return true;
  static const std::regex member_list(R"(\)\s*(noexcept\s*)?:[^:])");
  const std::string trimmed = base::trim(head);
  if (trimmed.empty() || !std::regex_search(trimmed, member_list)) return false;
  const char last = trimmed.back();
  return std::isalnum(static_cast<unsigned char>(last)) != 0 || last == '_' || last == '>';
}

std::string function_name(const std::string& head) {
  static const std::regex before_parenthesis(R"(([\w:~<>]+|operator\s*[^\s\w]+)\s*\()");
  std::smatch match;
  return std::regex_search(head, match, before_parenthesis) ? match[1].str() : base::trim(head);
}

bool is_access_specifier(const std::string& head) {
  const std::string word = base::trim(head);
  return word == "public" || word == "protected" || word == "private";
}

// A directive and its continuation lines hold no statement of the program.
std::string without_directives(std::string code) {
  bool directive = false;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::size_t first = code.find_first_not_of(" \t", begin);
    directive = directive || (first < end && code[first] == '#');
    const bool goes_on = end > begin && code[end - 1] == '\\';
    if (directive)
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin),
                code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    directive = directive && goes_on;
    begin = end + 1;
  }
  return code;
}

class Scanner {
 public:
  std::vector<Function> scan(const std::string& text) {
    for (const char c : without_directives(without_comments_and_strings(text))) take(c);
    return functions_;
  }

 private:
  struct Block {
    Scope scope;
    std::size_t function;  // index, for Scope::kFunction
    bool continues_head;   // a brace inside a head: the head stays
  };

  Scope around() const { return blocks_.empty() ? Scope::kNamespace : blocks_.back().scope; }

  void take(char c) {
    if (c == '{') {
      open();
    } else if (c == '}') {
      close();
    } else if (c == ';' &&
               std::count(head_.begin(), head_.end(), '(') <= std::count(head_.begin(), head_.end(), ')')) {
      head_.clear();
    } else if (c == ':' && is_access_specifier(head_)) {
      head_.clear();
    } else {
      if (head_.empty() && !std::isspace(static_cast<unsigned char>(c))) head_line_ = line_;
      if (!head_.empty() || !std::isspace(static_cast<unsigned char>(c))) head_ += c == '\n' ? ' ' : c;
    }
    if (c == '\n') ++line_;
  }

  void open() {
    const bool outside_functions = around() == Scope::kNamespace || around() == Scope::kType;
    if (outside_functions && is_brace_inside_head(head_)) {
      blocks_.push_back({Scope::kOther, 0, true});
      return;
    }
    const Scope scope = classify(head_, around());
    if (scope == Scope::kFunction) functions_.push_back({function_name(head_), head_line_, 0});
    blocks_.push_back({scope, functions_.size() - 1, false});
    head_.clear();
  }

  void close() {
    if (blocks_.empty()) return;
    const Block block = blocks_.back();
    blocks_.pop_back();
    if (block.continues_head) return;
    if (block.scope == Scope::kFunction) {
      Function& function = functions_[block.function];
      function.lines = line_ - function.line + 1;
    }
    head_.clear();
  }

  std::vector<Function> functions_;
  std::vector<Block> blocks_;
  std::string head_;
  int head_line_ = 1, line_ = 1;
};

void check_file(const SourceFile& file, const Budget& budget, SizeReport& report) {
  const int lines = file.lines();
  const std::string message = fmt::format("{} has {} lines", file.path, lines);
  if (lines > budget.file_fail) {
    report.violations.push_back(fmt::format("{}, at most {} are allowed", message, budget.file_fail));
  } else if (lines > budget.file_warn) {
    report.warnings.push_back(message);
  }
}

void check_functions(const SourceFile& file, const Budget& budget, SizeReport& report) {
  const bool command = file.folder() == "cli" && !file.is_test();
  const int limit = command ? budget.command_fail : budget.function_fail;
  for (const Function& function : find_functions(file.text)) {
    const std::string message =
        fmt::format("{}:{}: {}() has {} lines", file.path, function.line, function.name, function.lines);
    if (function.lines > limit) {
      report.violations.push_back(fmt::format("{}, at most {} are allowed", message, limit));
    } else if (function.lines > budget.function_warn) {
      report.warnings.push_back(message);
    }
  }
}

}  // namespace

std::vector<Function> find_functions(const std::string& text) {
  return Scanner().scan(text);
}

SizeReport check_sizes(const SourceTree& tree, const Budget& budget) {
  SizeReport report;
  for (const SourceFile& file : tree.files) {
    check_file(file, budget, report);
    if (file.ending() != ".proto") check_functions(file, budget, report);
  }
  return report;
}

Violations check_test_ratio(const SourceTree& tree, double ratio) {
  int tests = 0, product = 0;
  for (const SourceFile& file : tree.files) {
    if (file.ending() != ".proto") (file.is_test() ? tests : product) += file.lines();
  }
  if (tests >= ratio * product) return {};
  return {fmt::format("{} lines of tests for {} lines of product: at least {} are wanted", tests, product,
                      static_cast<int>(ratio * product))};
}

}  // namespace maskfit::architecture
