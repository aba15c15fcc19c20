#ifndef RINGSCOPE_CORE_EXAMINE_HOLES_H_
#define RINGSCOPE_CORE_EXAMINE_HOLES_H_

#include <vector>

#include "core/examine/examination.h"

namespace ringscope {

/// Returns the holes that the replay of a log proves, with their packets and causes.
/// @param examination has its log, account and remedies
std::vector<Hole> HolesOfLog(const Examination& examination);
/// Returns the holes that a trace alone proves: of how many packets is unknown.
/// @param examination has its trace, account and reach
std::vector<Hole> HolesOfTrace(const Examination& examination);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_HOLES_H_
