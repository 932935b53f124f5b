# cmake -D OUTPUT=templates_data.cpp -D FOLDER=... -D NAMES=a,b -P embed.cmake: the files as strings.
string(REPLACE "," ";" NAMES "${NAMES}")
set(ENTRIES "")
foreach(NAME IN LISTS NAMES)
  file(READ "${FOLDER}/${NAME}" TEXT)
  string(APPEND ENTRIES "    {\"${NAME}\", R\"fewbit(${TEXT})fewbit\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include <stdexcept>
#include <string>
#include <utility>

#include \"codegen/templates.hpp\"

namespace fewbit::codegen {

std::string_view template_text(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kTemplates[] = {
${ENTRIES}  };
  for (const auto& [known, text] : kTemplates) {
    if (known == name) return text;
  }
  throw std::logic_error(\"unknown template: \" + std::string(name));
}

}  // namespace fewbit::codegen
")
