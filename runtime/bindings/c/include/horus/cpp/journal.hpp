// Entries of the journal.
#ifndef HORUS_CPP_JOURNAL_HPP
#define HORUS_CPP_JOURNAL_HPP

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "error.hpp"

namespace horus {
inline namespace HORUS_MODE {

// Writes an entry to the journal, or prints it to stderr where there is none: horus::journal(HORUS_JOURNAL_WARNING, "a wheel slips",
// {{"HORUS_WHEEL", "left"}}). It allocates and makes system calls: not for a step.
inline Outcome journal(horus_priority priority, const std::string &message,
                       std::initializer_list<std::pair<const char *, std::string>> fields = {}) {
  std::vector<horus_field> raw;
  for (const auto &[name, value] : fields) raw.push_back({name, value.c_str()});
  return detail::checked(horus_journal(priority, message.c_str(), raw.data(), raw.size()));
}

}  // namespace HORUS_MODE
}  // namespace horus

#endif
