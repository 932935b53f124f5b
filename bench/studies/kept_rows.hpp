#pragma once

#include <functional>
#include <string>
#include <vector>

/// Long studies write their page after every network and go on from there.
namespace fewbit::bench {

/// Of a table, in columns; the first is the network's name.
using Rows = std::vector<std::vector<std::string>>;

/// The table of that title on a page in Markdown that was measured in the same conditions, a
/// paragraph of it; empty where there is no such page.
Rows kept_rows(const std::string& page, const std::string& conditions, const std::string& title);

/// Appends what is measured of the networks that have no rows, and calls `write` after each.
void complete(Rows& rows, const std::vector<std::string>& networks,
              const std::function<Rows(const std::string& network)>& measured,
              const std::function<void()>& write);

}  // namespace fewbit::bench
