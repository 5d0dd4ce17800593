#include "spec/text_lexer.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <vector>

namespace maskfit::spec {
namespace {

using google::protobuf::io::Tokenizer;

// Protobuf's tokenizer advances a column a byte and to the next multiple of 8 at a tab; editors count
// characters. Tokens come in order, so the count goes on where the last one stood: a line of a megabyte is
// walked once, not once a token.
class EditorColumns {
 public:
  explicit EditorColumns(std::vector<std::string_view> lines) : lines_(std::move(lines)) {}

  // Both 0-based; the answer is 1-based.
  int at(int line, int tokenizer_column) {
    const auto index = static_cast<std::size_t>(line);
    if (index >= lines_.size()) return 1;
    if (line != line_ || tokenizer_column < column_) {
      line_ = line;
      byte_ = 0;
      column_ = characters_ = 0;
    }
    constexpr int kTabStop = 8;
    for (const std::string_view text = lines_[index]; byte_ < text.size() && column_ < tokenizer_column;
         ++byte_) {
      const char c = text[byte_];
      column_ += c == '\t' ? kTabStop - column_ % kTabStop : 1;
      const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
      if (!continues) ++characters_;
    }
    return characters_ + 1;
  }

 private:
  std::vector<std::string_view> lines_;
  int line_ = -1, column_ = 0, characters_ = 0;
  std::size_t byte_ = 0;
};

// Editors on Windows put it before the text.
std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

}  // namespace

struct TextLexer::Impl : google::protobuf::io::ErrorCollector {
  Impl(std::string_view text, OnError on_error_)
      : on_error(std::move(on_error_)),
        columns(split_lines(text)),
        stream(text.data(), static_cast<int>(text.size())),
        tokenizer(&stream, this) {
    tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokenizer.set_allow_f_after_float(true);
    tokenizer.set_report_whitespace(false);
  }

  void AddError(int line, google::protobuf::io::ColumnNumber tokenizer_column,
                const std::string& message) override {
    on_error(line + 1, columns.at(line, tokenizer_column), message);
  }

  OnError on_error;
  EditorColumns columns;
  google::protobuf::io::ArrayInputStream stream;
  Tokenizer tokenizer;
  Token token;
};

TextLexer::TextLexer(std::string_view text, OnError on_error)
    : impl_(std::make_unique<Impl>(without_byte_order_mark(text), std::move(on_error))) {
  next();
}

TextLexer::~TextLexer() = default;

const Token& TextLexer::current() const {
  return impl_->token;
}

void TextLexer::next() {
  impl_->tokenizer.Next();
  const Tokenizer::Token& from = impl_->tokenizer.current();
  Token& token = impl_->token;
  token.text = from.text;
  token.line = from.line + 1;
  token.column = impl_->columns.at(from.line, from.column);
  switch (from.type) {
    case Tokenizer::TYPE_IDENTIFIER:
      token.kind = TokenKind::kWord;
      break;
    case Tokenizer::TYPE_INTEGER:
      token.kind = TokenKind::kInteger;
      break;
    case Tokenizer::TYPE_FLOAT:
      token.kind = TokenKind::kFloat;
      break;
    case Tokenizer::TYPE_STRING:
      token.kind = TokenKind::kString;
      break;
    case Tokenizer::TYPE_END:
      token.kind = TokenKind::kEnd;
      break;
    default:
      token.kind = TokenKind::kSymbol;
      break;
  }
}

std::string string_value(const Token& token) {
  std::string value;
  Tokenizer::ParseString(token.text, &value);
  return value;
}

}  // namespace maskfit::spec
