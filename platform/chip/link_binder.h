// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "switchyard/tlm/base_protocol_checker.h"

namespace switchyard::platform {

/// Binds an initiator socket to a target socket, with a base-protocol checker between them if the platform asks for it.
/// Owns the checkers. To be used while the owning module is constructed: they become its children.
class LinkBinder {
public:
    explicit LinkBinder(bool checked) : checked_(checked) {}

    template <class Initiator, class Target>
    void bind(Initiator& initiator, Target& target, const std::string& name) {
        if (!checked_) {
            initiator.bind(target);
            return;
        }
        checkers_.push_back(std::make_unique<BaseProtocolChecker<>>((name + "_checker").c_str()));
        initiator.bind(checkers_.back()->target_socket);
        checkers_.back()->initiator_socket.bind(target);
    }

private:
    bool checked_;
    std::vector<std::unique_ptr<BaseProtocolChecker<>>> checkers_;
};

}  // namespace switchyard::platform
