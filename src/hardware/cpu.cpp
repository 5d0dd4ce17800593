#include "hardware/cpu.h"

#include <cpuid.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "base/text.h"

namespace maskfit::hardware {
namespace {

enum class Leaf { kBasic, kExtended7, kExtended81 };
enum class Register { kEbx, kEcx, kEdx };
enum class State { kNone, kYmm, kZmm };  // registers that the operating system has to save

struct Feature {
  const char* name;
  Leaf leaf;
  Register reg;
  int bit;
  State state;
  int level;  // the psABI level that needs it; 0: none
};

// Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E (leaf 0x80000001). In the order of their age.
constexpr Feature kFeatures[] = {
    {"sse2", Leaf::kBasic, Register::kEdx, 26, State::kNone, 1},
    {"sse3", Leaf::kBasic, Register::kEcx, 0, State::kNone, 2},
    {"ssse3", Leaf::kBasic, Register::kEcx, 9, State::kNone, 2},
    {"cx16", Leaf::kBasic, Register::kEcx, 13, State::kNone, 2},
    {"lahf", Leaf::kExtended81, Register::kEcx, 0, State::kNone, 2},
    {"sse4.1", Leaf::kBasic, Register::kEcx, 19, State::kNone, 2},
    {"sse4.2", Leaf::kBasic, Register::kEcx, 20, State::kNone, 2},
    {"popcnt", Leaf::kBasic, Register::kEcx, 23, State::kNone, 2},
    {"avx", Leaf::kBasic, Register::kEcx, 28, State::kYmm, 3},
    {"f16c", Leaf::kBasic, Register::kEcx, 29, State::kYmm, 3},
    {"fma", Leaf::kBasic, Register::kEcx, 12, State::kYmm, 3},
    {"movbe", Leaf::kBasic, Register::kEcx, 22, State::kNone, 3},
    {"lzcnt", Leaf::kExtended81, Register::kEcx, 5, State::kNone, 3},
    {"bmi1", Leaf::kExtended7, Register::kEbx, 3, State::kNone, 3},
    {"bmi2", Leaf::kExtended7, Register::kEbx, 8, State::kNone, 3},
    {"avx2", Leaf::kExtended7, Register::kEbx, 5, State::kYmm, 3},
    {"avx512f", Leaf::kExtended7, Register::kEbx, 16, State::kZmm, 4},
    {"avx512bw", Leaf::kExtended7, Register::kEbx, 30, State::kZmm, 4},
    {"avx512cd", Leaf::kExtended7, Register::kEbx, 28, State::kZmm, 4},
    {"avx512dq", Leaf::kExtended7, Register::kEbx, 17, State::kZmm, 4},
    {"avx512vl", Leaf::kExtended7, Register::kEbx, 31, State::kZmm, 4},
    {"avx512vnni", Leaf::kExtended7, Register::kEcx, 11, State::kZmm, 0},
};

constexpr std::uint64_t kXcr0Ymm = 0x6;   // SSE and AVX state
constexpr std::uint64_t kXcr0Zmm = 0xE6;  // and opmask, ZMM_Hi256, Hi16_ZMM

std::uint32_t pick(const CpuidLeaves& leaves, const Feature& feature) {
  const CpuidRegisters& r = feature.leaf == Leaf::kBasic       ? leaves.basic
                            : feature.leaf == Leaf::kExtended7 ? leaves.extended7
                                                               : leaves.extended81;
  return feature.reg == Register::kEbx ? r.ebx : feature.reg == Register::kEcx ? r.ecx : r.edx;
}

bool state_saved(State state, std::uint64_t xcr0) {
  const std::uint64_t needed = state == State::kZmm ? kXcr0Zmm : state == State::kYmm ? kXcr0Ymm : 0;
  return (xcr0 & needed) == needed;
}

CpuidRegisters ask(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  CpuidRegisters r;
  // Returns 0, and leaves the registers alone, for a leaf that the processor does not have.
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

std::string read_brand() {
  std::array<std::uint32_t, 12> words{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const CpuidRegisters r = ask(0x80000002u + i);
    const std::uint32_t part[] = {r.eax, r.ebx, r.ecx, r.edx};
    std::copy(std::begin(part), std::end(part), words.begin() + 4 * i);
  }
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words.data(), sizeof(words));
  return base::trim(text);
}

}  // namespace

CpuidLeaves read_cpuid() {
  CpuidLeaves leaves;
  leaves.basic = ask(1);
  leaves.extended7 = ask(7);
  leaves.extended81 = ask(0x80000001u);
  constexpr std::uint32_t kOsxsave = 1u << 27;  // without it xgetbv itself is an illegal instruction
  if (leaves.basic.ecx & kOsxsave) {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    leaves.xcr0 = (static_cast<std::uint64_t>(high) << 32) | low;
  }
  leaves.brand = read_brand();
  return leaves;
}

std::vector<std::string> usable_instructions(const CpuidLeaves& leaves) {
  std::vector<std::string> found;
  for (const Feature& feature : kFeatures) {
    if ((pick(leaves, feature) >> feature.bit & 1u) && state_saved(feature.state, leaves.xcr0)) {
      found.emplace_back(feature.name);
    }
  }
  return found;
}

int microarchitecture_level(const std::vector<std::string>& instructions) {
  int level = 4;
  for (const Feature& feature : kFeatures) {
    const bool found =
        std::find(instructions.begin(), instructions.end(), feature.name) != instructions.end();
    if (feature.level > 1 && !found) level = std::min(level, feature.level - 1);
  }
  return level;
}

Cpu inspect_cpu() {
  const CpuidLeaves leaves = read_cpuid();
  Cpu cpu;
  cpu.model = leaves.brand.empty() ? "unnamed x86-64" : leaves.brand;
  cpu.instructions = usable_instructions(leaves);
  cpu.level = microarchitecture_level(cpu.instructions);
  cpu.cores = base::usable_cores();
  cpu.cores_online = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  return cpu;
}

}  // namespace maskfit::hardware
