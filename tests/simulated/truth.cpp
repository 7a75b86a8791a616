// Preloaded into a simulation: writes "bytes start_s finish_s" of every network action to
// TRUTH_FILE.
#include <cstdio>
#include <cstdlib>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>

namespace
{
std::FILE *file = nullptr;

void changed(const simgrid::kernel::resource::Action &action)
{
    if (action.get_state() == simgrid::kernel::resource::Action::State::FINISHED)
        std::fprintf(file, "%.0f %.17g %.17g\n", action.get_cost(), action.get_start_time(),
                     simgrid::s4u::Engine::get_clock());
}

__attribute__((constructor)) void connect()
{
    const char *name = std::getenv("TRUTH_FILE");
    if (!name)
        return;
    simgrid::s4u::Engine::on_platform_created_cb([name]() {
        file = std::fopen(name, "w");
        if (!file)
            std::abort();
        std::setvbuf(file, nullptr, _IOLBF, 0);
        simgrid::s4u::Link::on_communication_state_change_cb(
            [](simgrid::kernel::resource::NetworkAction &action, auto) {
                // the derived class is not in the installed headers; Action is its first base
                changed(reinterpret_cast<simgrid::kernel::resource::Action &>(action));
            });
    });
}
} // namespace
