#pragma once

// The processor, asked through cpuid: it answers for the machine we run on (also an emulated one), not for
// the one that built us, and needs no /proc.

#include <cstdint>
#include <string>
#include <vector>

namespace maskfit::hardware {

struct CpuidRegisters {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// What cpuid and xgetbv say; a plain struct so that tests can be other processors.
struct CpuidLeaves {
  CpuidRegisters basic;       // leaf 1
  CpuidRegisters extended7;   // leaf 7, subleaf 0; zeros when the processor has none
  CpuidRegisters extended81;  // leaf 0x80000001
  std::uint64_t xcr0 = 0;     // which register states the operating system saves; 0 without OSXSAVE
  std::string brand;          // leaves 0x80000002..4, may be empty
};

struct Cpu {
  std::string model;  // "Intel(R) Xeon(R) ..."; "unnamed x86-64" when the processor has no name
  std::vector<std::string> instructions;  // found and usable, oldest first: "sse2", "ssse3", ..., "avx512f"
  int level = 1;                          // x86-64-v<level> of the psABI: 1..4
  int cores = 1;                          // that this process may use
  int cores_online = 1;                   // of the machine
};

CpuidLeaves read_cpuid();

// Instruction sets of AVX and later count only when the operating system saves their registers (xcr0): a
// processor may have AVX and still raise SIGILL under an old kernel or hypervisor.
std::vector<std::string> usable_instructions(const CpuidLeaves& leaves);

// The highest psABI level (x86-64-ABI, "Micro-Architecture Levels") all of whose instructions are usable.
int microarchitecture_level(const std::vector<std::string>& instructions);

Cpu inspect_cpu();

}  // namespace maskfit::hardware
