// Which table is chosen for a function, bits and parameters, and how often it is made.
#include <cmath>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tables/remembered.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::standard_test {

using test::refusal;

TEST(StandardTable, OfParametersThatAreNoNumbersIsRefusedWhateverWasAskedBefore) {
  const Table one = Table::standard("elu", Bits{3}, {1.0});
  for (const double bad : std::vector<double>{NAN, -NAN, INFINITY}) {
    EXPECT_NE(refusal([&] { Table::standard("elu", Bits{3}, {bad}); }), "accepted") << bad;
  }
  EXPECT_EQ(Table::standard("elu", Bits{3}, {1.0}).data().levels, one.data().levels);
  EXPECT_NE(Table::standard("elu", Bits{3}, {0.5}).data().levels, one.data().levels);
}

TEST(StandardTable, OfAnAliasIsTheFunctionsOwn) {
  const Table swish = Table::standard("swish", Bits{3});
  EXPECT_EQ(swish.function(), "silu");
  EXPECT_EQ(swish.name(), "smoothed_normal_b3");
  EXPECT_EQ(swish.data().levels, Table::standard("silu", Bits{3}).data().levels);
  EXPECT_TRUE(swish.data().json.empty()) << "solved although it comes with the library";
}

TEST(StandardTable, HasTheParametersThatWereGivenInDouble) {
  EXPECT_EQ(Table::standard("leaky_relu", Bits{1}).parameters(), std::vector<double>{0.01});
  EXPECT_EQ(Table::standard("elu", Bits{2}, {0.7}).parameters(), std::vector<double>{0.7});
}

TEST(RememberedTables, AreMadeOnceAndRefusedOnce) {
  RememberedTables tables(4);
  int made = 0;
  const auto make = [&] {
    ++made;
    return Table::builtin("gelu", "levels_normal_b2");
  };
  const auto refuse = [&]() -> Table {
    ++made;
    TORCH_CHECK(false, "no such table");
  };
  for (int i = 0; i < 3; ++i) {
    tables.get(TableKey("a", 2, {NAN}), make);
    tables.get(TableKey("a", 2, {1.0}), make);
    EXPECT_EQ(refusal([&] { tables.get(TableKey("b", 2, {}), refuse); }), "no such table");
  }
  EXPECT_EQ(made, 3);
}

TEST(RememberedTables, AreNoMoreThanTheLastOnes) {
  RememberedTables tables(4);
  int made = 0;
  const auto ask = [&](int parameter) {
    tables.get(TableKey("a", 2, {static_cast<double>(parameter)}), [&] {
      ++made;
      return Table::builtin("gelu", "levels_normal_b2");
    });
  };
  for (int i = 0; i < 100; ++i) {
    ask(i);
    ask(0);
  }
  EXPECT_EQ(made, 100);  // 0 is asked for again in time
  EXPECT_EQ(tables.count(), 4);
}

TEST(RememberedTables, DoNotWaitForOneThatIsBeingMade) {
  RememberedTables tables(4);
  std::promise<void> go;
  std::thread slow([&] {
    tables.get(TableKey("slow", 2, {}), [&] {
      go.get_future().wait();
      return Table::builtin("gelu", "levels_normal_b2");
    });
  });
  while (tables.count() == 0) std::this_thread::yield();
  const auto make = [] { return Table::builtin("gelu", "levels_normal_b3"); };
  EXPECT_EQ(tables.get(TableKey("quick", 3, {}), make).name(), "levels_normal_b3");
  go.set_value();
  slow.join();
  EXPECT_EQ(tables.get(TableKey("slow", 2, {}), make).name(), "levels_normal_b2");
}

TEST(RememberedTables, TryAgainWhereMemoryRanOut) {
  RememberedTables tables(4);
  const TableKey key("a", 2, {});
  EXPECT_THROW(tables.get(key, []() -> Table { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_NO_THROW(tables.get(key, [] { return Table::builtin("gelu", "levels_normal_b2"); }));
}

}  // namespace fewbit::standard_test
