// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/platform/experiment/database.h"
#include "switchyard/platform/experiment/point_store.h"
#include "switchyard/platform/experiment/run_sweep.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ScratchFolder folder("switchyard-fuzz");
    const std::string store = folder.file("store.sqlite", fuzz::text_of(data, size));
    fuzz::try_reading([&] { platform::query_store(store, "SELECT * FROM point", platform::RowFormat::json); });
    fuzz::try_reading([&] {
        platform::PointStore points(store);
        points.find("key");
        points.find("");
    });
    return 0;
}
