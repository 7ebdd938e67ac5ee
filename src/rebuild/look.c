/* One walk over the heap; what is there is told by address. */
#include "rebuild/look.h"

static void look_segment(void *user, const fl_segment_view *segment)
{
    fl_look *look = user;
    look->walked = *segment;
    look->last = (fl_block_view){0};
    look->is_behind = false;
}

static bool is_looked_for(const fl_look *look, const fl_block_view *block)
{
    uint64_t offset = look->address - block->address;
    return offset == 0 || (look->is_wide && offset < block->size);
}

static void look_block(void *user, const fl_block_view *block)
{
    fl_look *look = user;
    if (look->is_behind)
        look->behind = *block;
    look->is_behind = is_looked_for(look, block);
    if (look->is_behind) {
        look->found = true;
        look->segment = look->walked;
        look->before = look->last;
        look->block = *block;
    }
    look->last = *block;
}

static fl_status look(const fl_replay *replay, uint64_t address, bool is_wide, fl_look *ret_look,
                      fl_error *error)
{
    *ret_look = (fl_look){.address = address, .is_wide = is_wide};
    fl_walk walk = {look_segment, look_block, ret_look};
    return fl_replay_walk(replay, &walk, error);
}

fl_status fl_look_at(const fl_replay *replay, uint64_t address, fl_look *ret_look, fl_error *error)
{
    return look(replay, address, false, ret_look, error);
}

fl_status fl_look_around(const fl_replay *replay, uint64_t address, fl_look *ret_look,
                         fl_error *error)
{
    return look(replay, address, true, ret_look, error);
}
