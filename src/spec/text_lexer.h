#pragma once

// Text-proto files as tokens, with the line and column that an editor shows.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace maskfit::spec {

enum class TokenKind { kWord, kInteger, kFloat, kString, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // as written; a string with its quotes
  int line = 0;      // 1-based
  int column = 0;    // 1-based, in characters (UTF-8), a tab being one
};

class TextLexer {
 public:
  // Called for text that is no token at all: an open string, a stray control character.
  using OnError = std::function<void(int line, int column, const std::string& what)>;

  // `text` must outlive the lexer. Stands on the first token at once.
  TextLexer(std::string_view text, OnError on_error);
  ~TextLexer();

  const Token& current() const;
  void next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a string token says: without quotes, escapes resolved.
std::string string_value(const Token& token);

}  // namespace maskfit::spec
