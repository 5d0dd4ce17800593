#include "dataset/picture_cache.h"

#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

// The number changes whenever the facts do: what they are, or how they are computed.
constexpr std::string_view kMagic = "maskfit picture facts 2\n";
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
  void texts(const std::vector<std::string>& list) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const std::string& one : list) text(one);
  }
  // With the seal behind.
  std::string take() {
    bytes_ += base::sha256(bytes_);
    return std::move(bytes_);
  }

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
  void texts(std::vector<std::string>* list) {
    std::uint32_t size = 0;
    number(&size);
    // A count that the bytes cannot hold ends with the bytes, not with the memory.
    for (std::uint32_t i = 0; i < size && ok_; ++i) text(&list->emplace_back());
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
template <typename Numbers, typename Texts, typename Lists, typename Facts>
void each_field(Facts& f, const Numbers& number, const Texts& text, const Lists& texts) {
  number(f.stamp.bytes);
  number(f.stamp.modified_ns);
  number(f.stamp.changed_ns);
  number(f.seen_ns);
  text(f.digest);
  text(f.error);
  text(f.remedy);
  number(f.upright);
  number(f.orientation);
  text(f.format);
  texts(f.notes);
  number(f.grey);
  number(f.hash);
  number(f.print);
}

void write_record(const std::string& path, const PictureFacts& facts, Writer* writer) {
  writer->text(path);
  each_field(
      facts, [&](const auto& value) { writer->number(value); },
      [&](const std::string& value) { writer->text(value); },
      [&](const std::vector<std::string>& value) { writer->texts(value); });
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string pack_facts(const FactsByPath& facts) {
  Writer writer;
  for (const auto& [path, f] : facts) write_record(path, f, &writer);
  return writer.take();
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
        f, [&](auto& value) { reader.number(&value); }, [&](std::string& value) { reader.text(&value); },
        [&](std::vector<std::string>& value) { reader.texts(&value); });
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

PictureCache::PictureCache(fs::path file) : file_(std::move(file)) {
  std::error_code ignored;
  if (file_.empty() || !fs::is_regular_file(file_, ignored)) return;
  try {
    auto known = unpack_facts(base::read_file(file_));
    if (!known) return;
    for (auto& [path, facts] : *known) entries_.emplace(path, Entry{std::move(facts), false});
  } catch (const base::Error&) {
    // It is only a cache.
  }
}

PictureFacts PictureCache::look_at(const fs::path& picture) {
  const std::string key = fs::absolute(picture).lexically_normal().string();
  const std::int64_t seen = now_ns();
  const FileStamp stamp = stamp_of(picture);
  std::optional<PictureFacts> cached;
  if (!file_.empty()) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      found->second.seen = true;
      cached = found->second.facts;
    }
  }
  if (cached && still_valid(*cached, stamp)) return *cached;
  PictureFacts facts;
  try {
    const std::string bytes = base::read_file(picture);
    if (cached && cached->digest == base::sha256(bytes)) {
      facts = std::move(*cached);
    } else {
      facts = facts_of(bytes, picture.string());
      ++decoded_;
    }
  } catch (const base::Error& error) {
    facts.error = error.what();
    facts.remedy = error.hint();
  }
  facts.stamp = stamp;
  facts.seen_ns = seen;
  // A file that cannot be read is not kept: the next time one may have the right to.
  if (file_.empty() || facts.digest.empty()) return facts;
  const std::lock_guard lock(mutex_);
  entries_[key] = {facts, true};
  changed_ = true;
  return facts;
}

void PictureCache::save(Keep keep) const {
  if (file_.empty()) return;
  bool changed = changed_;
  Writer writer;
  for (const auto& [path, entry] : entries_) {
    if (keep == Keep::kSeen && !entry.seen) {
      changed = true;
    } else {
      write_record(path, entry.facts, &writer);
    }
  }
  if (!changed) return;
  try {
    base::write_file(file_, writer.take());
  } catch (const base::Error&) {
    // A dataset that may not be written to can still be looked at.
  }
}

}  // namespace maskfit::dataset
