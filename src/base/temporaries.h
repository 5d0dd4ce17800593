#pragma once

// The temporary files of base::write_file: "<folder of the file>/.tmp<process>-<number>". Short, because the
// name of the file itself may be as long as the file system allows; hidden, because they are nobody's
// business.

#include <filesystem>

namespace maskfit::base {

// A name that no other thread or living process uses.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

// Removes what writers that were killed left in `folder`, not in folders inside: temporary files of processes
// that are not alive, and of this process's number, which in a container is the number of the one before.
// REQUIRES that this process is not writing there at the moment. Failures are ignored: they are litter, not
// harm.
void remove_stale_temporaries(const std::filesystem::path& folder);

}  // namespace maskfit::base
