// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/svg.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/xml_text.h"

namespace switchyard::platform {

Svg::Svg(double width, double height)
    : body_(fmt::format("{2}\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n",
                        width, height, kWrittenElement)) {
    rectangle(0, 0, width, height, "fill=\"#ffffff\"");
}

void Svg::element(const std::string& opening, const std::string& name, const std::string& hover) {
    if (hover.empty())
        body_ += opening + "/>\n";
    else
        body_ += fmt::format("{}><title>{}</title></{}>\n", opening, xml_escaped(hover), name);
}

void Svg::rectangle(double x, double y, double width, double height, const std::string& style,
                    const std::string& hover) {
    element(fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}", x, y, width, height,
                        style),
            "rect", hover);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& style) {
    element(fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}", x1, y1, x2, y2, style),
            "line", "");
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, const std::string& style,
                   const std::string& hover) {
    std::string list;
    for (const auto& [x, y] : points) list += fmt::format("{}{:.2f},{:.2f}", list.empty() ? "" : " ", x, y);
    element(fmt::format("<polyline points=\"{}\" fill=\"none\" {}", list, style), "polyline", hover);
}

void Svg::circle(double x, double y, double radius, const std::string& style, const std::string& hover) {
    element(fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" {}", x, y, radius, style), "circle", hover);
}

void Svg::text(const SvgText& t) {
    std::string turned;
    if (t.degrees != 0) turned = fmt::format(" transform=\"rotate({:.2f} {:.2f} {:.2f})\"", t.degrees, t.x, t.y);
    body_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:g}\" text-anchor=\"{}\"{}{} fill=\"#222222\">{}</text>\n", t.x,
        t.y, t.size, t.anchor, t.bold ? " font-weight=\"bold\"" : "", turned, xml_escaped(t.text));
}

}  // namespace switchyard::platform
