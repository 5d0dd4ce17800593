#pragma once

// Habits of the C library and of the OpenMP run time that cost a training dearly, changed for this process.

namespace maskfit::tensor {

// Freed memory stays with the process. glibc gives large blocks back to the system at once, and every step of
// a training then faults its buffers in anew, page by page: a third of the time of a small network.
void keep_freed_memory();

// OpenMP's threads go to sleep at a barrier instead of spinning for a millisecond. Spinning pays on an idle
// machine and is a disaster on a busy one, where the thread that is waited for does not get a core: 55 s
// instead of 4 s of CPU time for the same epoch beside a compiler run. Call it after use_threads(). Can be
// called again.
void sleep_at_barriers();

}  // namespace maskfit::tensor
