#ifndef STANDIN_PAGED_MEMORY_H_
#define STANDIN_PAGED_MEMORY_H_

namespace perfetto::base {

class PagedMemory {
 public:
  explicit PagedMemory(void* memory = nullptr) : memory_(memory) {}
  void* Get() const noexcept { return memory_; }

 private:
  void* memory_;
};

}  // namespace perfetto::base

#endif  // STANDIN_PAGED_MEMORY_H_
