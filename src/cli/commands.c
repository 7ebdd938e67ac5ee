/* The commands of this build, from the list in meson.build. */
#include "cli/session.h"

#define FL_PLUGIN(name) extern const fl_command fl_command_##name;
#include "cli/commands.h"
#undef FL_PLUGIN

#define FL_PLUGIN(name) &fl_command_##name,
static const fl_command *const commands[] = {
#include "cli/commands.h"
};
#undef FL_PLUGIN

const fl_command *fl_command_at(size_t index)
{
    return index < sizeof commands / sizeof *commands ? commands[index] : NULL;
}
