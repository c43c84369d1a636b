// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <boost/property_tree/xml_parser.hpp>

#include "switchyard/platform/experiment/chart.h"
#include "switchyard/platform/experiment/svg.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::platform;
using boost::property_tree::ptree;

namespace {

/// Throws if the text is not well-formed XML.
ptree parse(const std::string& document) {
    std::istringstream stream(document);
    ptree tree;
    boost::property_tree::read_xml(stream, tree);
    return tree.get_child("svg");
}

struct Element {
    std::string name, hover;
    ptree attributes;
    double number(const char* key) const { return attributes.get<double>(key); }
};

/// The elements of a class, in the order of the document; of all if it is empty.
std::vector<Element> elements(const std::string& document, const std::string& wanted) {
    std::vector<Element> found;
    const ptree svg = parse(document);
    for (const auto& [name, node] : svg) {
        if (name == "<xmlattr>") continue;
        const ptree attributes = node.get_child("<xmlattr>");
        if (wanted.empty() || attributes.get("class", "") == wanted)
            found.push_back({name, node.get("title", ""), attributes});
    }
    return found;
}

Chart two_by_two() {
    Chart chart;
    chart.title = "a < b & \"c\"";
    chart.value_label = "speedup";
    chart.groups = {"one", "two"};
    chart.series = {{"s", {{1.0}, {2.0}}, {std::nullopt, std::nullopt}}, {"t", {{0.5}, {3.0}}, {std::nullopt, 1.5}}};
    return chart;
}

}  // namespace

TEST_CASE("numbers for people have three digits", "[experiment]") {
    CHECK(short_number(1.7) == "1.70");
    CHECK(short_number(23.46) == "23.5");
    CHECK(short_number(466.2) == "466");
    CHECK(short_number(4331) == "4331");
    CHECK(short_number(9.999) == "10.0");
    CHECK(short_number(99.99) == "100");
    CHECK(short_number(0.01234) == "0.0123");
    CHECK(short_number(0) == "0.00");
    CHECK(short_number(-1.5) == "-1.50");
}

TEST_CASE("an SVG document is XML, whatever its texts", "[experiment]") {
    Svg svg(100, 50);
    svg.text({1, 2, "<&>\"", "end", 9, -90, true});
    svg.rectangle(1, 2, 3, 4, "fill=\"none\"", "a & b");
    svg.line(0, 0, 1, 1, "stroke=\"#000000\"");
    svg.polyline({{0, 0}, {1, 2}}, "stroke=\"#000000\"");
    svg.circle(1, 2, 3, "fill=\"none\"");
    const ptree tree = parse(svg.document());
    CHECK(tree.get<double>("<xmlattr>.width") == 100);
    CHECK(tree.get<std::string>("text") == "<&>\"");
    CHECK(tree.get<std::string>("polyline.<xmlattr>.points") == "0.00,0.00 1.00,2.00");
    const std::vector<Element> all = elements(svg.document(), "");
    CHECK(all[2].hover == "a & b");
}

TEST_CASE("bars are as high as their values, published ones are hollow", "[experiment]") {
    const std::string document = bar_chart(two_by_two());
    const std::vector<Element> bars = elements(document, "bar"), published = elements(document, "published");
    REQUIRE(bars.size() == 4);  // one: s, t; two: s, t
    REQUIRE(published.size() == 1);
    const double unit = bars[0].number("height");
    CHECK(unit > 10);
    CHECK(bars[1].number("height") == Approx(0.5 * unit).margin(0.02));
    CHECK(bars[2].number("height") == Approx(2 * unit).margin(0.02));
    CHECK(bars[3].number("height") == Approx(3 * unit).margin(0.02));
    CHECK(published[0].number("height") == Approx(1.5 * unit).margin(0.02));
    CHECK(published[0].attributes.get<std::string>("fill") == "none");
    CHECK(bars[3].hover == "t, two: 3.00");
    CHECK(published[0].hover == "t, published, two: 1.50");
    // All stand on one line, side by side, inside the drawing.
    double right = 0;
    const ptree svg = parse(document);
    for (const Element& bar : {bars[0], bars[1], bars[2], bars[3], published[0]}) {
        CHECK(bar.number("y") + bar.number("height") == Approx(bars[0].number("y") + unit).margin(0.02));
        CHECK(bar.number("x") >= right);
        right = bar.number("x") + bar.number("width");
    }
    CHECK(right < svg.get<double>("<xmlattr>.width"));
}

TEST_CASE("equal charts are equal bytes", "[experiment]") {
    CHECK(bar_chart(two_by_two()) == bar_chart(two_by_two()));
}

TEST_CASE("bars below zero hang from it", "[experiment]") {
    Chart chart = two_by_two();
    chart.series[0].values[0] = {-1.0};
    const std::vector<Element> bars = elements(bar_chart(chart), "bar");
    CHECK(bars[0].number("height") == Approx(bars[2].number("height") / 2).margin(0.02));
    CHECK(bars[0].number("y") == Approx(bars[2].number("y") + bars[2].number("height")).margin(0.02));
}

TEST_CASE("parts of a stack stand on each other", "[experiment]") {
    Chart chart = two_by_two();
    chart.parts = {"pe", "hbm"};
    chart.series = {{"s", {{1, 3}, {2, 0}}, {}}, {"t", {{0.5, 0.5}, {4, 4}}, {}}};
    const std::vector<Element> parts = elements(stack_chart(chart), "part");
    REQUIRE(parts.size() == 8);
    const double unit = parts[0].number("height");
    const std::vector<double> values{1, 3, 0.5, 0.5, 2, 0, 4, 4};
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(parts[i].number("height") == Approx(values[i] * unit).margin(0.03));
    for (std::size_t i = 0; i < values.size(); i += 2) {
        CHECK(parts[i].number("x") == parts[i + 1].number("x"));
        CHECK(parts[i + 1].number("y") + parts[i + 1].number("height") == Approx(parts[i].number("y")).margin(0.02));
    }
    CHECK(parts[0].attributes.get<std::string>("fill") != parts[1].attributes.get<std::string>("fill"));
    CHECK(parts[0].attributes.get<std::string>("fill") == parts[2].attributes.get<std::string>("fill"));
}

TEST_CASE("lines go through their points, to scale", "[experiment]") {
    Chart chart = two_by_two();
    chart.groups = {"0", "1", "4"};
    chart.x = {0, 1, 4};
    chart.series = {{"s", {{0.0}, {1.0}, {2.0}}, {std::nullopt, std::nullopt, 1.0}}};
    chart.marks = {{2, "here"}, {9, "outside"}};
    chart.published_points = {{1, 2, "1.00"}};
    const std::string document = line_chart(chart);
    const std::vector<Element> lines = elements(document, "line"), published = elements(document, "published");
    REQUIRE(lines.size() == 1);
    std::istringstream points(lines[0].attributes.get<std::string>("points"));
    std::vector<double> x(3), y(3);
    char comma = 0;
    for (std::size_t i = 0; i < 3; ++i) points >> x[i] >> comma >> y[i];
    REQUIRE(points);
    CHECK(x[2] - x[0] == Approx(4 * (x[1] - x[0])).margin(0.05));
    CHECK(y[0] - y[2] == Approx(2 * (y[0] - y[1])).margin(0.05));
    CHECK(y[0] > y[1]);
    REQUIRE(published.size() == 2);
    CHECK(published[0].number("cx") == Approx(x[2]).margin(0.02));
    CHECK(published[0].number("cy") == Approx(y[1]).margin(0.02));
    CHECK(published[1].number("cx") == Approx(x[1]).margin(0.02));
    CHECK(published[1].number("cy") == Approx(y[2]).margin(0.02));
    CHECK(document.find("here") != std::string::npos);
    CHECK(document.find("outside") == std::string::npos);
}

TEST_CASE("a line of one point, and values that are all alike, are drawn", "[experiment]") {
    Chart chart;
    chart.groups = {"3"};
    chart.x = {3};
    chart.series = {{"s", {{0.0}}, {std::nullopt}}};
    CHECK(elements(line_chart(chart), "line").size() == 1);
    chart.series[0].values = {{5.0}};
    CHECK(elements(line_chart(chart), "line").size() == 1);
    CHECK(line_chart(chart).find("nan") == std::string::npos);
    CHECK(line_chart(chart).find("inf") == std::string::npos);
    CHECK(elements(bar_chart(chart), "bar").size() == 1);
}

TEST_CASE("long labels are turned and stay inside", "[experiment]") {
    Chart chart = two_by_two();
    chart.groups = {"a label that is very much longer than two bars are wide", "two"};
    std::size_t turned = 0;
    for (const Element& text : elements(bar_chart(chart), ""))
        turned += text.attributes.get("transform", "").rfind("rotate(-25", 0) == 0 ? 1 : 0;
    CHECK(turned == 2);
}

TEST_CASE("a gap interrupts a line, and no bar stands there", "[experiment]") {
    Chart chart = two_by_two();
    chart.groups = {"1", "2", "3", "4"};
    chart.x = {1, 2, 3, 4};
    chart.series = {{"s", {{1.0}, {}, {3.0}, {4.0}}, std::vector<std::optional<double>>(4)}};
    const std::string lines = line_chart(chart), bars = bar_chart(chart);
    CHECK(elements(lines, "line").size() == 2);
    std::size_t dots = 0;
    for (const Element& element : elements(lines, "")) dots += element.name == "circle" ? 1 : 0;
    CHECK(dots == 3);
    CHECK(elements(bars, "bar").size() == 3);
    REQUIRE(elements(bars, "gap").size() == 1);
    CHECK(elements(bars, "gap")[0].hover == "s, 2: does not fit");
}

TEST_CASE("charts of gaps alone can be drawn", "[experiment]") {
    Chart chart = two_by_two();
    chart.series = {{"s", {{}, {}}, {std::nullopt, std::nullopt}}};
    CHECK(elements(bar_chart(chart), "gap").size() == 2);
    CHECK(elements(stack_chart(chart), "gap").size() == 2);
    chart.x = {1, 2};
    CHECK(elements(line_chart(chart), "line").empty());
    chart.groups.clear();
    chart.x.clear();
    chart.series = {{"s", {}, {}}};
    CHECK(elements(line_chart(chart), "line").empty());
}

TEST_CASE("a scatter chart has a dot a point, and the diagonal where both axes have it", "[experiment]") {
    Chart chart;
    chart.title = "t";
    chart.series = {{"s", {}, {}, {{1, 2}, {2, 1}, {4, 4}}}, {"u", {}, {}, {{3, 1}}}};
    chart.diagonal = true;
    const std::string document = scatter_chart(chart);
    const std::vector<Element> dots = elements(document, "dot"), diagonal = elements(document, "diagonal");
    REQUIRE(dots.size() == 4);
    CHECK(dots[0].hover == "s: 1.00, 2.00");
    CHECK(dots[0].number("cx") < dots[1].number("cx"));
    CHECK(dots[0].number("cy") < dots[1].number("cy"));  // above
    REQUIRE(diagonal.size() == 1);
    // The third dot is on the line's end.
    CHECK(diagonal[0].number("x2") == Approx(dots[2].number("cx")));
    CHECK(diagonal[0].number("y2") == Approx(dots[2].number("cy")));
    chart.diagonal = false;
    CHECK(elements(scatter_chart(chart), "diagonal").empty());
    chart.series = {{"s", {}, {}, {}}};
    CHECK(elements(scatter_chart(chart), "dot").empty());
}
