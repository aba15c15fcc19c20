#include "core/protovm/state_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

namespace dsl = testing::vm;

VmField ScalarField(uint64_t value) {
  return {{.number = 1, .type = wire::Type::kVarint, .value = value, .bytes = {}}};
}

/// The height of a balanced subtree; fails where it is not.
int CheckedHeight(const Node* node) {
  if (node == nullptr) return 0;
  const int left = CheckedHeight(node->left), right = CheckedHeight(node->right);
  EXPECT_LE(std::abs(left - right), 1);
  EXPECT_EQ(node->height, 1 + std::max(left, right));
  return node->height;
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
      ASSERT_TRUE(tree.Insert(root, key, tree.NewNode(ScalarField(i))));
      model[key] = i;
    } else if (found != nullptr && random() % 2 == 0) {
      tree.Remove(root, *found);
      tree.Free(found);
      model.erase(key);
    }
    const Node* const from = StateTree::FindFrom(root, key);
    const auto model_from = model.lower_bound(key);
    ASSERT_EQ(from != nullptr, model_from != model.end());
    if (from != nullptr) {
      EXPECT_EQ(from->key, model_from->first);
      EXPECT_EQ(from->scalar, model_from->second);
    }
    if (i % 100 == 0) CheckedHeight(root.root);
    ASSERT_EQ(root.size, model.size());
    ASSERT_EQ(tree.counted(), 96 * model.size());
  }
  Node* last = StateTree::FindUpTo(root, UINT64_MAX);
  for (auto at = model.rbegin(); at != model.rend(); ++at) {
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->key, at->first);
    last = at->first == 0 ? nullptr : StateTree::FindUpTo(root, at->first - 1);
  }
}

TEST(StateTree, UsesNoMoreThanItsLimitAndAQuarter) {
  // The smallest contents that do not fit into a node are the worst case for what is taken.
  for (const size_t size : {0, 1, 8, 9, 25, 100}) {
    const std::string content(size, 'x');
    for (const uint64_t limit : {4096, 65'536, 1 << 20, 10 << 20}) {
      StateTree tree(kProtoVm57, limit);
      Node& root = tree.root();
      ASSERT_EQ(tree.IntoMessage(root), Reason::kNone);
      uint64_t allocations = 0;
      for (uint64_t key = 1;; ++key) {
        Node* const node = tree.NewNode({{.number = 1,
                                          .type = wire::Type::kBytes,
                                          .value = 0,
                                          .bytes = wire::AsBytes(content)}});
        if (node == nullptr) break;
        if (!tree.Insert(root, key, node)) {
          tree.Free(node);
          break;
        }
        allocations += size > 8 ? 1 : 0;
      }
      EXPECT_GT(tree.counted() + 200, limit);
      // An allocator adds up to 23 bytes to each small block.
      EXPECT_LE(tree.taken() + 23 * allocations, limit + limit / 4) << size << " " << limit;
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
    Node* const child = tree.NewEmptyNode();
    ASSERT_TRUE(tree.Insert(*node, 1, child));
    node = child;
  }
  ASSERT_EQ(tree.IntoMessage(*node), Reason::kNone);
  EXPECT_GT(tree.Serialize().size(), 200'000u);
}

}  // namespace
}  // namespace ringscope::protovm
