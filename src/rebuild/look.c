/* One walk over the heap; what is there is told by address. */
#include "rebuild/look.h"

static void look_segment(void *user, const fl_segment_view *segment)
{
    fl_look *look = user;
    look->walked = *segment;
    look->last = (fl_block_view){0};
    look->is_behind = false;
}

static void look_block(void *user, const fl_block_view *block)
{
    fl_look *look = user;
    if (look->is_behind)
        look->behind = *block;
    look->is_behind = block->address == look->address;
    if (look->is_behind) {
        look->found = true;
        look->segment = look->walked;
        look->before = look->last;
        look->block = *block;
    }
    look->last = *block;
}

fl_status fl_look_at(const fl_replay *replay, uint64_t address, fl_look *ret_look, fl_error *error)
{
    *ret_look = (fl_look){.address = address};
    fl_walk walk = {look_segment, look_block, ret_look};
    return fl_replay_walk(replay, &walk, error);
}
