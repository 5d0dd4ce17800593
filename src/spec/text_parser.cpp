#include "spec/text_parser.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "spec/rules.h"
#include "spec/text_lexer.h"
#include "spec/value.h"

namespace maskfit::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string shown(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the file" : fmt::format("\"{}\"", token.text);
}

class TextParser {
 public:
  TextParser(std::string_view text, const Message& root, Source* source, base::Findings* findings,
             ParseMode mode)
      : root_(*root.GetDescriptor()),
        source_(*source),
        findings_(*findings),
        mode_(mode),
        lexer_(text, [this](int line, int column, const std::string& what) {
          // protobuf writes sentences; our findings are clauses.
          add(Token{TokenKind::kSymbol, "", line, column}, "",
              "unreadable text: " + what.substr(0, what.find('.')));
          unreadable_line_ = line;
        }) {}

  void parse_file(Message* message) {
    parse_fields(message, "", nullptr);
    while (token().kind != TokenKind::kEnd) {
      add(token(), "", fmt::format("{} closes nothing", shown(token())), "delete it");
      next();
      parse_fields(message, "", nullptr);
    }
  }

 private:
  const Token& token() const { return lexer_.current(); }
  void next() { lexer_.next(); }
  bool at(std::string_view symbol) const {
    return token().kind == TokenKind::kSymbol && token().text == symbol;
  }
  bool take(std::string_view symbol) {
    const bool here = at(symbol);
    if (here) next();
    return here;
  }

  void add(const Token& where, const std::string& path, std::string what, std::string remedy = "") {
    // What follows unreadable text in its line is noise.
    if (where.line == unreadable_line_) return;
    base::Finding finding{base::Severity::kRefused, source_.file(),   where.line, path,
                          std::move(what),          std::move(remedy)};
    finding.column = where.column;
    findings_.push_back(std::move(finding));
  }

  // Fields up to the bracket that closes `opening` (consumed), or up to the end or a stray bracket when it is
  // null.
  void parse_fields(Message* message, const std::string& path, const Token* opening) {
    while (true) {
      if (token().kind == TokenKind::kEnd || at("}") || at(">")) {
        if (opening == nullptr) return;
        const std::string_view closing = opening->text == "{" ? "}" : ">";
        if (token().kind == TokenKind::kEnd) {
          add(*opening, path, fmt::format("the \"{}\" is never closed", opening->text),
              fmt::format("add the missing \"{}\"", closing));
        } else {
          if (!at(closing))
            add(token(), path, fmt::format("expected \"{}\", found {}", closing, shown(token())));
          next();
        }
        return;
      }
      if (token().kind == TokenKind::kWord) {
        parse_field(message, path);
        if (!take(",")) take(";");
      } else {
        add(token(), path, fmt::format("expected the name of a field, found {}", shown(token())));
        skip_value(token().line);
      }
    }
  }

  void parse_field(Message* message, const std::string& parent) {
    const Token name = token();
    next();
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name.text);
    const std::string path = field_path(parent, name.text);
    if (field == nullptr) {
      add(name, path, parent.empty() ? "unknown field at the top level" : "unknown field in " + parent,
          unknown_field_remedy(name.text, *message->GetDescriptor(), root_));
      take(":");
      skip_value(name.line);
      return;
    }
    const bool is_section = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!take(":") && !is_section) {
      add(token(), path, fmt::format("expected \":\" after {}, found {}", name.text, shown(token())));
      skip_value(name.line);
      return;
    }
    if (!prepare(message, *field, path, name)) {
      skip_value(name.line);
      return;
    }
    if (!field->is_repeated()) {
      source_.set(path, place(name));
      parse_one(message, *field, path, name);
    } else if (at("[")) {
      parse_list(message, *field, path, name);
    } else {
      parse_one(message, *field, path, name);
    }
  }

  // Refuses what was set before; in an overlay, makes room for what comes. True when the field may be set.
  bool prepare(Message* message, const FieldDescriptor& field, const std::string& path, const Token& name) {
    if (field.is_repeated()) {
      const bool first = !seen_.has(path);
      if (first) seen_.set(path, place(name));
      if (first && mode_ == ParseMode::kOverlay && !field.is_map()) {
        message->GetReflection()->ClearField(message, &field);
        source_.erase_under(path);
      }
      if (first || !source_.has(path)) source_.set(path, place(name));
      return true;
    }
    if (seen_.has(path)) {
      add(name, path, fmt::format("{} is set twice, first in line {}", name.text, seen_.at(path).line),
          "keep one of them");
      return false;
    }
    seen_.set(path, place(name));
    const auto* oneof = field.real_containing_oneof();
    if (oneof == nullptr) return true;
    const std::string choice = field_path(parent_path(path), "<" + oneof->name() + ">");
    if (seen_.has(choice)) {
      const FieldDescriptor* other = message->GetReflection()->GetOneofFieldDescriptor(*message, oneof);
      add(name, path,
          fmt::format("{} excludes {} of line {}", name.text,
                      other != nullptr ? other->name() : "the other choice", seen_.at(choice).line),
          "keep one of them");
      return false;
    }
    seen_.set(choice, place(name));
    return true;
  }

  void parse_list(Message* message, const FieldDescriptor& field, const std::string& path,
                  const Token& name) {
    const Token opening = token();
    next();
    if (take("]")) return;
    while (true) {
      const std::size_t before = findings_.size();
      parse_one(message, field, path, token());
      if (take("]")) return;
      if (take(",")) continue;
      if (findings_.size() == before) {
        if (token().kind == TokenKind::kEnd) {
          add(opening, path, "the \"[\" is never closed", "add the missing \"]\"");
        } else {
          add(token(), path, fmt::format("expected \",\" or \"]\" in the list, found {}", shown(token())));
        }
      }
      skip_list(name.line);
      return;
    }
  }

  // One value or section of the field. `name` is where it is said to be: the field's name, or the item in a
  // list.
  void parse_one(Message* message, const FieldDescriptor& field, const std::string& path, const Token& name) {
    if (field.is_map()) {
      parse_map_entry(message, field, path, name);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const auto& reflection = *message->GetReflection();
      std::string inner = path;
      if (field.is_repeated()) {
        inner = item_path(path, reflection.FieldSize(*message, &field));
        source_.set(inner, place(name));
      }
      const std::optional<Token> opening = take_opening(field, inner, name);
      if (!opening) return;
      Message* section = field.is_repeated() ? reflection.AddMessage(message, &field)
                                             : reflection.MutableMessage(message, &field);
      parse_fields(section, inner, &*opening);
    } else {
      parse_scalar(message, field, path, name);
    }
  }

  std::optional<Token> take_opening(const FieldDescriptor& field, const std::string& path,
                                    const Token& name) {
    if (at("{") || at("<")) {
      Token opening = token();
      next();
      return opening;
    }
    add(token(), path, fmt::format("{} is a section, found {}", field.name(), shown(token())),
        fmt::format("write {} {{ ... }}", field.name()));
    skip_value(name.line);
    return std::nullopt;
  }

  void parse_scalar(Message* message, const FieldDescriptor& field, const std::string& path,
                    const Token& name) {
    const Token where = token();
    const std::optional<ValueText> value = take_value();
    if (!value) {
      const bool brackets = at("{") || at("<") || at("[");
      add(where, path,
          brackets ? fmt::format("{} is one value, found {}", field.name(), shown(where))
                   : fmt::format("expected a value for {}, found {}", field.name(), shown(where)),
          "allowed: " + allowed_text(field));
      source_.erase_under(path);
      skip_value(name.line);
      return;
    }
    std::string of = path;
    if (field.is_repeated()) {
      of = item_path(path, message->GetReflection()->FieldSize(*message, &field));
      source_.set(of, place(where));
    }
    if (auto error = set_value(message, field, *value)) {
      source_.erase_under(of);  // not set, so no later check may complain of the value
      add(where, of, std::move(error->what), std::move(error->remedy));
    }
  }

  // One value: a word, a number with or without sign, neighbouring strings joined. Nothing is consumed
  // otherwise, but a lone minus sign.
  std::optional<ValueText> take_value() {
    ValueText value;
    if (token().kind == TokenKind::kString) {
      value.kind = TokenKind::kString;
      for (; token().kind == TokenKind::kString; next()) value.text += string_value(token());
      return value;
    }
    value.negative = take("-");
    if (token().kind == TokenKind::kSymbol || token().kind == TokenKind::kEnd) return std::nullopt;
    if (value.negative && token().kind == TokenKind::kString) return std::nullopt;
    value.kind = token().kind;
    value.text = token().text;
    next();
    return value;
  }

  void parse_map_entry(Message* message, const FieldDescriptor& field, const std::string& path,
                       const Token& name) {
    // The key may stand behind the value, so the entry is read under a path of its own and renamed.
    const std::string reading = path + "[?]";
    const std::optional<Token> opening = take_opening(field, reading, name);
    if (!opening) return;
    const auto& reflection = *message->GetReflection();
    std::unique_ptr<Message> entry(reflection.GetMessageFactory()->GetPrototype(field.message_type())->New());
    source_.set(reading, place(name));
    const std::size_t before = findings_.size();
    if (token().text == "key") {
      parse_field(entry.get(), reading);
      if (mode_ == ParseMode::kOverlay) copy_entry(*message, field, entry.get());
    }
    parse_fields(entry.get(), reading, &*opening);

    const std::string key = map_key(*entry);
    const std::string renamed = entry_path(path, key);
    if (!seen_.has(reading + ".key"))
      add(*opening, renamed, "the entry has no key", "write key: \"...\" first");
    if (!seen_.has(reading + ".value") && map_value(field).cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      add(*opening, renamed, "the entry has no value", "allowed: " + allowed_text(field));
    }
    source_.erase_under(renamed);
    source_.rename_under(reading, renamed);
    source_.rename_under(field_path(renamed, "value"), renamed);
    seen_.erase_under(reading);
    for (std::size_t i = before; i < findings_.size(); ++i)
      rename_entry(&findings_[i].field, reading, renamed);
    put_entry(message, field, key, std::move(entry));
  }

  // "map[?].value.x" -> "map[key].x"
  static void rename_entry(std::string* path, const std::string& from, const std::string& to) {
    if (!is_under(*path, from)) return;
    std::string rest = path->substr(from.size());
    if (is_under(rest, ".value")) rest = rest.substr(6);
    *path = to + rest;
  }

  // In an overlay an entry with a known key keeps what the text does not mention (if the key comes first).
  static void copy_entry(const Message& message, const FieldDescriptor& field, Message* entry) {
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& old = reflection.GetRepeatedMessage(message, &field, i);
      if (map_key(old) != map_key(*entry)) continue;
      entry->CopyFrom(old);
      return;
    }
  }

  void put_entry(Message* message, const FieldDescriptor& field, const std::string& key,
                 std::unique_ptr<Message> entry) {
    const auto& reflection = *message->GetReflection();
    for (int i = 0; i < reflection.FieldSize(*message, &field); ++i) {
      Message* old = reflection.MutableRepeatedMessage(message, &field, i);
      if (map_key(*old) == key) {
        old->CopyFrom(*entry);
        return;
      }
    }
    reflection.AddAllocatedMessage(message, &field, entry.release());
  }

  // Behind an error: skips a bracketed value, or the rest of the line.
  void skip_value(int line) {
    if (at("{") || at("<") || at("[")) {
      skip_brackets();
      return;
    }
    while (token().kind != TokenKind::kEnd && token().line == line && !at("}") && !at(">")) {
      if (at("{") || at("<") || at("[")) {
        skip_brackets();
        return;
      }
      next();
      if (at(",") || at(";")) return;
    }
  }

  void skip_brackets() {
    int depth = 0;
    do {
      if (at("{") || at("<") || at("[")) ++depth;
      if (at("}") || at(">") || at("]")) --depth;
      next();
    } while (depth > 0 && token().kind != TokenKind::kEnd);
  }

  void skip_list(int line) {
    while (token().kind != TokenKind::kEnd && token().line == line && !at("]") && !at("}")) next();
    take("]");
  }

  Place place(const Token& token) const { return Place{source_.file(), token.line, token.column}; }

  const google::protobuf::Descriptor& root_;
  Source& source_;
  base::Findings& findings_;
  ParseMode mode_;
  int unreadable_line_ = 0;
  Source seen_;  // fields set by this text, as opposed to those that the message had before
  TextLexer lexer_;
};

}  // namespace

void parse_text(std::string_view text, Message* message, Source* source, base::Findings* findings,
                ParseMode mode) {
  TextParser(text, *message, source, findings, mode).parse_file(message);
}

}  // namespace maskfit::spec
