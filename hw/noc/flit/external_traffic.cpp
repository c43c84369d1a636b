// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/external_traffic.h"

#include <algorithm>

namespace switchyard::hw::flit {

std::string text_of(const PinFlit& flit) {
    if (!flit.valid) return "none";
    std::string text = "packet " + std::to_string(flit.packet) + " in VC " + std::to_string(flit.vc);
    if (flit.head) text += " head";
    if (flit.tail) text += " tail";
    if (!flit.head) return text;
    if (flit.control) text += " control";
    if (flit.multicast) text += " multicast of " + std::to_string(flit.flits);
    text += " to";
    for (const PinDestination& to : flit.destinations)
        text += " (" + std::to_string(to.x) + "," + std::to_string(to.y) + ")." + std::to_string(to.local);
    return text;
}

ExternalTraffic::ExternalTraffic(unsigned ports, unsigned vcs)
    : ports_(ports), vcs_(vcs), held_(ports * vcs), arriving_(ports * vcs), leaving_(ports * vcs) {}

void ExternalTraffic::take(unsigned port, const PinFlit& flit, std::uint32_t flits) {
    const unsigned input = port * vcs_ + flit.vc;
    ++held_[input];
    ++held_flits_;
    if (flit.head) {
        arriving_[input] = flit.packet;
        Inside packet;
        packet.flits = flits;
        packet.head = flit;
        packet.to = flit.destinations;
        inside_[flit.packet] = std::move(packet);
    }
    if (const auto packet = inside_.find(arriving_[input]); packet != inside_.end()) ++packet->second.arrived;
}

std::string ExternalTraffic::leave(unsigned port, const PinFlit& flit) {
    if (port >= ports_) return "there is no port " + std::to_string(port);
    if (flit.vc >= vcs_) return "there is no VC " + std::to_string(flit.vc) + " among " + std::to_string(vcs_);
    Leaving& way = leaving_[port * vcs_ + flit.vc];
    if (flit.head != !way.any)
        return flit.head ? "a head comes among the flits of packet " + std::to_string(way.packet)
                         : "a flit comes that no head precedes";
    const auto found = inside_.find(flit.packet);
    if (found == inside_.end()) return "no such packet is in the router";
    Inside& packet = found->second;
    const std::uint32_t number = flit.head ? 1 : way.sent + 1;
    if (!flit.head && way.packet != flit.packet)
        return "it comes among the flits of packet " + std::to_string(way.packet);
    if (number > packet.arrived) return "only " + std::to_string(packet.arrived) + " of its flits have arrived";
    if (flit.tail != (number == packet.flits))
        return "it is flit " + std::to_string(number) + " of " + std::to_string(packet.flits);
    if (flit.head) {
        if (std::string wrong = leave_head(flit, way); !wrong.empty()) return wrong;
    }
    way.sent = number;
    if (!flit.tail) return "";
    way.any = false;
    if (--packet.branches == 0 && packet.to.empty()) inside_.erase(found);
    return "";
}

std::string ExternalTraffic::leave_head(const PinFlit& flit, Leaving& way) {
    Inside& packet = inside_.at(flit.packet);
    if (flit.control != packet.head.control || flit.multicast != packet.head.multicast ||
        flit.flits != packet.head.flits)
        return "it came as " + text_of(packet.head);
    if (flit.destinations.empty()) return "it has no destination";
    std::vector<PinDestination> left = packet.to;
    for (const PinDestination& to : flit.destinations) {
        const auto at = std::find(left.begin(), left.end(), to);
        if (at == left.end()) return "it came as " + text_of(packet.head);
        left.erase(at);
    }
    packet.to = std::move(left);
    ++packet.branches;
    way = {true, flit.packet, 0};
    return "";
}

std::string ExternalTraffic::free_slot(unsigned port, unsigned vc) {
    if (port >= ports_ || vc >= vcs_)
        return "there is no VC " + std::to_string(vc) + " of port " + std::to_string(port);
    if (held_[port * vcs_ + vc] == 0) return "its buffer is empty";
    --held_[port * vcs_ + vc];
    --held_flits_;
    return "";
}

bool ExternalTraffic::passed_all() const {
    if (held_flits_ > 0) return false;
    for (const Leaving& way : leaving_)
        if (way.any && inside_.at(way.packet).arrived > way.sent) return false;
    return std::all_of(inside_.begin(), inside_.end(), [](const auto& packet) { return packet.second.to.empty(); });
}

bool ExternalTraffic::can_move(const std::function<unsigned(const PinDestination&)>& way,
                               const std::function<unsigned(unsigned, unsigned)>& credits) const {
    for (unsigned output = 0; output < leaving_.size(); ++output) {
        const Leaving& leaving = leaving_[output];
        if (leaving.any && inside_.at(leaving.packet).arrived > leaving.sent &&
            credits(output / vcs_, output % vcs_) > 0)
            return true;
    }
    for (const auto& [id, packet] : inside_) {
        const unsigned room = packet.head.multicast ? packet.head.flits : 1;
        for (const PinDestination& to : packet.to)
            for (unsigned vc = 0; vc < vcs_; ++vc)
                if (!leaving_[way(to) * vcs_ + vc].any && credits(way(to), vc) >= room) return true;
    }
    return false;
}

std::string ExternalTraffic::text() const {
    std::string text = std::to_string(held_flits_) + " flits in its buffers, of packets";
    for (const auto& [id, packet] : inside_) text += " " + std::to_string(id);
    return text;
}

}  // namespace switchyard::hw::flit
