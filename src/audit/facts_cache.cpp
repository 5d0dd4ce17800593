#include "audit/facts_cache.h"

#include <cstring>

#include "base/files.h"

namespace maskfit::audit {
namespace {

// The number changes whenever the facts do: what they are, or how they are computed.
constexpr std::string_view kMagic = "maskfit picture facts 1\n";
constexpr std::size_t kSealBytes = 64;  // hexadecimal SHA-256 of everything before it

class Writer {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(const std::string& text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_{kMagic};
};

// Never reads beyond the end; ok() tells whether it would have.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }
  template <typename T>
  void number(T* value) {
    const std::string_view bytes = take(sizeof(T));
    if (ok_) std::memcpy(value, bytes.data(), sizeof(T));
  }
  void text(std::string* text) {
    std::uint32_t size = 0;
    number(&size);
    *text = take(size);
  }

 private:
  std::string_view take(std::size_t n) {
    if (n > rest_.size()) ok_ = false;
    const std::string_view taken = ok_ ? rest_.substr(0, n) : std::string_view();
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// The fields of a record in their order, for the writer and the reader alike.
template <typename Numbers, typename Texts, typename Facts>
void each_field(Facts& f, const Numbers& number, const Texts& text) {
  number(f.stamp.bytes);
  number(f.stamp.modified_ns);
  number(f.stamp.changed_ns);
  number(f.seen_ns);
  text(f.digest);
  text(f.error);
  number(f.width);
  number(f.height);
  number(f.orientation);
  text(f.format);
  text(f.notes);
  number(f.grey);
  number(f.hash);
  number(f.print);
}

}  // namespace

std::string pack_facts(const FactsByPath& facts) {
  Writer writer;
  for (const auto& [path, f] : facts) {
    writer.text(path);
    each_field(
        f, [&](const auto& value) { writer.number(value); },
        [&](const std::string& value) { writer.text(value); });
  }
  std::string bytes = writer.take();
  return bytes + base::sha256(bytes);
}

std::optional<FactsByPath> unpack_facts(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kSealBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  const std::string_view content = bytes.substr(0, bytes.size() - kSealBytes);
  if (base::sha256(content) != bytes.substr(content.size())) return std::nullopt;
  Reader reader(content.substr(kMagic.size()));
  FactsByPath facts;
  while (reader.ok() && !reader.done()) {
    std::string path;
    PictureFacts f;
    reader.text(&path);
    each_field(
        f, [&](auto& value) { reader.number(&value); }, [&](std::string& value) { reader.text(&value); });
    if (reader.ok()) facts.emplace(std::move(path), std::move(f));
  }
  if (!reader.ok()) return std::nullopt;
  return facts;
}

bool still_valid(const PictureFacts& cached, const FileStamp& now) {
  constexpr std::int64_t kQuiet = 2'000'000'000;  // ns; file systems keep times to 2 s at the worst
  return cached.stamp == now && now.bytes >= 0 && cached.seen_ns - now.changed_ns > kQuiet &&
         cached.seen_ns - now.modified_ns > kQuiet;
}

}  // namespace maskfit::audit
