// Preloaded into a simulation: writes "bytes from to start_s finish_s" of every network action to
// TRUTH_FILE. Hosts are numbered in the order of the platform file.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>

namespace
{
using simgrid::kernel::resource::Action;

std::FILE *file = nullptr;
std::map<const void *, int> hosts;

// The class derived for the network is not in the installed headers: Action is its first base, and
// right behind it are references to the two hosts. What does not look so is no simulator we know.
int host_of(const Action &action, int which)
{
    auto *behind = reinterpret_cast<const void *const *>(
        reinterpret_cast<const char *>(&action) + sizeof(Action));
    auto found = hosts.find(behind[which]);
    if (found == hosts.end()) {
        std::fprintf(stderr, "truth: this SimGrid keeps the hosts of an action elsewhere\n");
        std::abort();
    }
    return found->second;
}

void changed(const Action &action)
{
    if (action.get_state() != Action::State::FINISHED)
        return;
    std::fprintf(file, "%.0f %d %d %.17g %.17g\n", action.get_cost(), host_of(action, 0),
                 host_of(action, 1), action.get_start_time(),
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
        int number = 0;
        for (auto *host : simgrid::s4u::Engine::get_instance()->get_all_hosts())
            hosts[host] = number++;
        simgrid::s4u::Link::on_communication_state_change_cb(
            [](simgrid::kernel::resource::NetworkAction &action, auto) {
                changed(reinterpret_cast<Action &>(action));
            });
    });
}

__attribute__((destructor)) void close()
{
    if (file)
        std::fclose(file);
}
} // namespace
