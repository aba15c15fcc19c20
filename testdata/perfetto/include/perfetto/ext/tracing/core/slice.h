#ifndef STANDIN_SLICE_H_
#define STANDIN_SLICE_H_

#include <cstddef>
#include <vector>

namespace perfetto {

struct Slice {
  Slice(const void* its_start, size_t its_size) : start(its_start), size(its_size) {}
  Slice(Slice&&) = default;
  Slice& operator=(Slice&&) = default;

  const void* start;
  size_t size;
};

using Slices = std::vector<Slice>;

}  // namespace perfetto

#endif  // STANDIN_SLICE_H_
