// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace switchyard::platform {

/// Where text stands, in pixels. `anchor`: "start", "middle" or "end". Turned by `degrees` clockwise about its anchor.
struct SvgText {
    double x = 0, y = 0;
    std::string text;
    const char* anchor = "start";
    double size = 11;
    double degrees = 0;
    bool bold = false;
};

/// Builds an SVG document. Numbers are written with two decimals, so equal drawings are equal bytes. Text is escaped;
/// fonts are the viewer's. `style` holds further attributes, such as `fill="none"`; `hover` is what a viewer shows
/// under the pointer, empty for nothing.
class Svg {
public:
    Svg(double width, double height);

    void rectangle(double x, double y, double width, double height, const std::string& style,
                   const std::string& hover = "");
    void line(double x1, double y1, double x2, double y2, const std::string& style);
    void polyline(const std::vector<std::pair<double, double>>& points, const std::string& style,
                  const std::string& hover = "");
    void circle(double x, double y, double radius, const std::string& style, const std::string& hover = "");
    void text(const SvgText& text);

    std::string document() const { return body_ + "</svg>\n"; }

private:
    void element(const std::string& opening, const std::string& name, const std::string& hover);

    std::string body_;
};

}  // namespace switchyard::platform
