#pragma once

#include <stdexcept>

namespace switchyard {

/// The twin of a model, RTL that runs in its place or beside it in lockstep, is broken or differs from the model. One
/// line without time and module: the module behind which the twin runs adds them (ModelError). Knows no SystemC.
class TwinFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace switchyard
