// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;

namespace {

class File {
public:
    explicit File(const std::string& contents) : path_(std::filesystem::temp_directory_path() / "switchyard_test.npy") {
        std::ofstream(path_, std::ios::binary) << contents;
    }
    ~File() { std::filesystem::remove(path_); }
    std::string path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A file of format version 1 as NumPy writes it.
std::string npy(std::string header, const std::string& data) {
    header.resize(118, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
}

const std::string kOneAndTwo("\x00\x00\x80\x3F\x00\x00\x00\x40", 8);  // binary32, little-endian

void check_refused(const std::string& contents, const char* message) {
    const File file(contents);
    CHECK_THROWS_WITH(read_npy(file.path()), Catch::Matchers::ContainsSubstring(message));
}

}  // namespace

TEST_CASE("an array is read as NumPy wrote it", "[npy]") {
    const File file(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", kOneAndTwo));
    const NpyArray array = read_npy(file.path());
    CHECK(array.shape == std::vector<std::size_t>{2, 1});
    CHECK(array.values == std::vector<float>{1, 2});
}

TEST_CASE("an array that was written is read back", "[npy]") {
    const File file("");
    const NpyArray array{{2, 3}, {1, 2, 3, 4, 5, 6.5f}};
    write_npy(array, file.path());
    CHECK(read_npy(file.path()).shape == array.shape);
    CHECK(read_npy(file.path()).values == array.values);
    CHECK(std::filesystem::file_size(file.path()) % 64 == 24);  // data begin on a multiple of 64
}

TEST_CASE("files that are no such arrays are refused", "[npy]") {
    CHECK_THROWS_WITH(read_npy("/no/such.npy"), Catch::Matchers::ContainsSubstring("cannot be read"));
    check_refused("PK\x03\x04 and so on", "expected a .npy file, found another");
    check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", kOneAndTwo),
                  "shape: expected at most 17179869184 bytes, found (4294967296, 4294967296)");
    check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }", kOneAndTwo),
                  "shape: expected whole numbers");
    check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0x2,), }", kOneAndTwo),
                  "shape: expected whole numbers");
    check_refused(npy("{'descr': '<f4', 'fortran_order': None, 'shape': (2,), }", kOneAndTwo),
                  "expected fortran_order in the header, found none");
    check_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f{", 13),
                  "expected a header of at most 10000 bytes, found 2147483647");
    check_refused(std::string("\x93NUMPY\x01\x00\x76\x00{", 11), "expected a whole header, found the end of the file");
    check_refused(std::string("\x93NUMPY\x09\x00\x76\x00{", 11), "expected format version 1 to 3, found 9");
    check_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", kOneAndTwo),
                  "expected <f4 (little-endian binary32), found <f8");
    check_refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", kOneAndTwo), "Fortran order");
    check_refused(npy("{'descr': '<f4', 'fortran_order': False, }", kOneAndTwo),
                  "expected shape in the header, found none");
    check_refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", kOneAndTwo),
                  "expected 12 bytes of data for its shape, found 8");
}

TEST_CASE("outputs are compared number by number and label by label", "[npy]") {
    const NpyArray expected{{3, 2}, {1, 0, 0, 1, 0.5f, 0.51f}};
    const NpyArray got{{3, 2}, {1, 0.25f, 1, 0, 0.5f, 0.49f}};
    const OutputComparison found = compare_outputs(got, expected, 0.1);
    CHECK(found.samples == 3);
    CHECK(found.largest_error == 1);
    CHECK(found.mean_error == Approx((0.25 + 1 + 1 + 0.02) / 6));
    CHECK(found.different_labels == 2);
    CHECK(found.wrong_labels == 1);  // the third sample's outputs are too close for a verdict
    CHECK_THROWS_WITH(compare_outputs(NpyArray{{1, 3}, {1, 2, 3}}, expected, 0.1, "x.npy"),
                      "x.npy: shape: expected (1, 3), found (3, 2)");
    // A label of a network with one output has no second one to differ from.
    CHECK(compare_outputs(NpyArray{{2, 1}, {1, 2}}, NpyArray{{2, 1}, {1, 2.5f}}, 0.1).largest_error == 0.5);
}

TEST_CASE("an expectation that lacks a part of the outputs is refused", "[npy]") {
    const NpyArray got{{4, 2}, std::vector<float>(8, 1)};
    for (const std::vector<std::size_t>& shape :
         {std::vector<std::size_t>{}, {0, 2}, {1, 2}, {3, 2}, {4, 1}, {4, 3}, {2, 4}, {8}, {4, 2, 2}, {4}}) {
        CAPTURE(shape);
        std::size_t count = 1;
        for (const std::size_t size : shape) count *= size;
        CHECK_THROWS_WITH(compare_outputs(got, NpyArray{shape, std::vector<float>(count, 1)}, 0.1, "x.npy"),
                          Catch::Matchers::StartsWith("x.npy: shape: expected (4, 2), found "));
    }
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{4, 2}, {4, 2, 1, 1}, {4, 1, 2}, {9, 2}})
        CHECK(compare_outputs(got, NpyArray{shape, std::vector<float>(shape[0] * 2, 1)}, 0.1).samples == 4);
    CHECK_THROWS_AS(compare_outputs(NpyArray{{0, 2}, {}}, NpyArray{{0, 2}, {}}, 0.1), InputError);
}

TEST_CASE("a file that is no array is refused before its contents are read", "[npy]") {
    const File file("PK");
    std::filesystem::resize_file(file.path(), std::uintmax_t{4} << 30);  // sparse
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    CHECK_THROWS_WITH(read_npy(file.path()), Catch::Matchers::EndsWith("expected a .npy file, found another"));
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 100000);  // KiB
}

TEST_CASE("our arrays can be told from those of NumPy", "[npy]") {
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{}, {1}, {2, 3}}) {
        std::size_t count = 1;
        for (const std::size_t size : shape) count *= size;
        CHECK(has_output_marker(npy_bytes({shape, std::vector<float>(count)})));
    }
    CHECK_FALSE(has_output_marker(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", kOneAndTwo)));
    CHECK_FALSE(has_output_marker(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", kOneAndTwo)));
    CHECK_FALSE(has_output_marker(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", kOneAndTwo)));
}
