// HORUS for C++17: topics, nodes and tests in virtual time, header-only over horus.h.
//
//   #include <horus/horus.hpp>
//   using namespace std::chrono_literals;
//
//   int main() {
//     horus::App app{"balance"};
//     auto imu = app.input<horus::Imu>("imu");
//     auto cmd = app.output<horus::CmdVel>("base.cmd");
//     app.node("control", [&](const horus::Cycle&) {
//       if (auto m = imu.latest()) cmd.set({0.8 * m->angular_velocity.y, 0.0});
//     }).period(1ms).deadline(800us);
//     return app.run();
//   }
//
// What cannot be done throws horus::Error. With HORUS_NO_EXCEPTIONS, or where the compiler has none, what opens something gives a
// horus::Result, and calls give a horus::Outcome to look at. docs/languages.md is the guide.
#ifndef HORUS_HPP
#define HORUS_HPP

#include "cpp/action.hpp"
#include "cpp/journal.hpp"
#include "cpp/log.hpp"
#include "cpp/message.hpp"
#include "cpp/node.hpp"
#include "cpp/param.hpp"
#include "cpp/payload.hpp"
#include "cpp/service.hpp"
#include "cpp/topic.hpp"
#include "cpp/transform.hpp"
#include "cpp/wait.hpp"
#include "cpp/world.hpp"
#include "messages.hpp"

#endif
