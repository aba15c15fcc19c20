#include "core/protovm/state_tree.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <map>
#include <random>

#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

namespace dsl = testing::vm;

VmField ScalarField(uint64_t value) {
  return {{.number = 1, .type = wire::Type::kVarint, .value = value, .bytes = {}}};
}

TEST(StateTree, BehavesLikeAMap) {
  StateTree tree(kProtoVm57, uint64_t{1} << 30);
  Node& root = tree.root();
  ASSERT_EQ(tree.IntoMessage(root), Reason::kNone);
  std::map<uint64_t, uint64_t> model;
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    // Grows, then shrinks.
    const uint64_t key = random() % 700;
    Node* const found = StateTree::Find(root, key);
    ASSERT_EQ(found != nullptr, model.contains(key));
    if (found == nullptr && (i < 10'000 || random() % 4 == 0)) {
      ASSERT_NE(tree.Insert(root, key, *tree.NewNode(ScalarField(i))), nullptr);
      model[key] = i;
    } else if (found != nullptr && random() % 2 == 0) {
      tree.Erase(root, key);
      model.erase(key);
    }
    const auto* const from = StateTree::FindFrom(root, key);
    const auto model_from = model.lower_bound(key);
    ASSERT_EQ(from != nullptr, model_from != model.end());
    if (from != nullptr) {
      EXPECT_EQ(from->first, model_from->first);
      EXPECT_EQ(from->second.scalar, model_from->second);
    }
    ASSERT_EQ(root.count(), model.size());
    ASSERT_EQ(tree.counted(), 96 * model.size());
  }
}

TEST(StateTree, UsesNoMoreThanItsLimitAndAQuarter) {
  // The smallest contents that do not fit into a node are the worst case for what is taken.
  for (const size_t size : {0, 1, 8, 9, 25, 100}) {
    const std::string content(size, 'x');
    for (const uint64_t limit : {4096, 65'536, 1 << 20, 10 << 20}) {
      const size_t before = ::mallinfo2().uordblks;
      StateTree tree(kProtoVm57, limit);
      Node& root = tree.root();
      ASSERT_EQ(tree.IntoMessage(root), Reason::kNone);
      for (uint64_t key = 1;; ++key) {
        const auto node = tree.NewNode({{.number = 1,
                                         .type = wire::Type::kBytes,
                                         .value = 0,
                                         .bytes = wire::AsBytes(content)}});
        if (!node || tree.Insert(root, key, *node) == nullptr) break;
      }
      EXPECT_GT(tree.counted() + 200, limit);
      EXPECT_LE(::mallinfo2().uordblks - before, limit + limit / 4) << size << " " << limit;
    }
  }
}

TEST(StateTree, WritesWhatItRead) {
  const std::string state =
      dsl::Sub(1, dsl::Sub(1, dsl::Uint(1, 5)) + dsl::Sub(1, std::string(200, 'a'))) +
      dsl::Uint(3, UINT64_MAX) + dsl::Sub(4, "");
  StateTree tree(kProtoVm57, 1 << 20);
  ASSERT_EQ(tree.SetBytes(tree.root(), wire::AsBytes(state)), Reason::kNone);
  EXPECT_EQ(tree.counted(), state.size());
  EXPECT_EQ(tree.Serialize(), state);
  ASSERT_EQ(tree.IntoMessage(tree.root()), Reason::kNone);
  Node* const field = StateTree::Find(tree.root(), 1);
  ASSERT_EQ(tree.IntoMessage(*field), Reason::kNone);
  EXPECT_EQ(StateTree::Find(*field, 1)->kind, NodeKind::kIndexed);
  EXPECT_EQ(tree.Serialize(), state);
}

TEST(StateTree, ADeepStateIsNeitherWrittenNorFreedRecursively) {
  StateTree tree(kProtoVm57, uint64_t{1} << 30);
  Node* node = &tree.root();
  for (int depth = 0; depth < 100'000; ++depth) {
    ASSERT_EQ(tree.IntoMessage(*node), Reason::kNone);
    node = tree.Insert(*node, 1, *tree.NewEmptyNode());
    ASSERT_NE(node, nullptr);
  }
  ASSERT_EQ(tree.IntoMessage(*node), Reason::kNone);
  EXPECT_GT(tree.Serialize().size(), 200'000u);
}

}  // namespace
}  // namespace ringscope::protovm
