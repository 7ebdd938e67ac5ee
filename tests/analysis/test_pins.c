#include "analysis/pins.h"

#include "base/units.h"
#include "test.h"

#include <string.h>

/* A segment drawn as letters, one a MiB: `a` to `z` live blocks, `.` free, `?` pending. */
static void draw(fl_picture *picture, uint64_t address, uint32_t stream, const char *letters)
{
    fl_walk walk = fl_picture_walk(picture);
    fl_segment_view segment = {
        .stream = stream, .address = address, .size = strlen(letters) * FL_MIB};
    walk.segment(walk.user, &segment);
    for (size_t i = 0; letters[i] != '\0';) {
        size_t length = strspn(letters + i, (char[]){letters[i], '\0'});
        fl_block_view block = {
            .state = letters[i] == '.'   ? FL_BLOCK_FREE
                     : letters[i] == '?' ? FL_BLOCK_PENDING
                                         : FL_BLOCK_LIVE,
            .id = (uint32_t)letters[i],
            .address = address + i * FL_MIB,
            .size = length * FL_MIB,
        };
        walk.block(walk.user, &block);
        i += length;
    }
}

/* The live blocks of the cheapest set for so many MiB, in order: "bd", or "-" where there is none;
 * in capitals where the segment goes back whole. */
static void assert_pinned(const char *letters, unsigned mib, unsigned most_mib,
                          const char *expected)
{
    fl_picture picture;
    struct fl_pin_sets sets = {0};
    fl_probe probe = {.rounded_bytes = mib * FL_MIB,
                      .segment_bytes = mib * FL_MIB,
                      .most_bytes = most_mib > 0 ? most_mib * FL_MIB : UINT64_MAX};
    char got[32] = "-";
    size_t used = 0;
    fl_picture_init(&picture, fl_host_default());
    draw(&picture, 0x1000000, 0, letters);
    assert_int_equal(fl_pins_find(fl_host_default(), &picture, &probe, &sets, NULL), FL_OK);
    for (size_t i = 0; sets.count > 0 && i < sets.items[0].count; i++) {
        const fl_block_view *block = &picture.blocks.items[sets.items[0].first_block + i];
        if (block->state == FL_BLOCK_LIVE)
            got[used++] = (char)(block->id - (sets.items[0].goes_back ? 'a' - 'A' : 0));
    }
    if (used > 0)
        got[used] = '\0';
    assert_string_equal(got, expected);
    fl_vector_deinit(fl_host_default(), &sets);
    fl_picture_deinit(&picture);
}

static void the_cheapest_window_is_found(void **state)
{
    (void)state;
    assert_pinned("..a..", 5, 0, "a");
    assert_pinned("..a...b...cccc", 7, 0, "b");
    assert_pinned("aa.b..c..d.", 5, 0, "c");
    assert_pinned("a.b.c.d", 5, 0, "bc");
    assert_pinned("aaaabbc", 3, 0, "bc");
    assert_pinned("aaaabb", 3, 0, "a");
    assert_pinned("abcdef", 1, 0, "a");
}

static void free_pieces_at_the_ends_come_with_it(void **state)
{
    (void)state;
    fl_picture picture;
    struct fl_pin_sets sets = {0};
    fl_probe probe = {.rounded_bytes = 4 * FL_MIB, .most_bytes = UINT64_MAX};
    fl_picture_init(&picture, fl_host_default());
    draw(&picture, 0x1000000, 0, "xx..a...yy");
    assert_int_equal(fl_pins_find(fl_host_default(), &picture, &probe, &sets, NULL), FL_OK);
    assert_int_equal(sets.count, 1);
    assert_int_equal(sets.items[0].gained_bytes, 6 * FL_MIB);
    assert_int_equal(sets.items[0].pinned_bytes, FL_MIB);
    fl_vector_deinit(fl_host_default(), &sets);
    fl_picture_deinit(&picture);
}

/* The whole segment is too small, or its window too large: then only all of it helps. */
static void where_no_window_serves_the_segment_goes_back(void **state)
{
    (void)state;
    assert_pinned("a..b", 5, 0, "AB");
    assert_pinned("a..b..c", 5, 5, "ABC");
    assert_pinned("..a...", 4, 6, "A");
    assert_pinned("......", 4, 6, "-");
}

static void what_is_pending_cannot_be_freed(void **state)
{
    (void)state;
    assert_pinned("..a?.b.", 4, 0, "-");
    assert_pinned("..a?.b..", 4, 0, "b");
}

static void segments_come_cheapest_first(void **state)
{
    (void)state;
    fl_picture picture;
    struct fl_pin_sets sets = {0};
    fl_probe probe = {
        .rounded_bytes = 4 * FL_MIB, .segment_bytes = 8 * FL_MIB, .most_bytes = UINT64_MAX};
    fl_picture_init(&picture, fl_host_default());
    draw(&picture, 0x1000000, 0, "aaa...");
    draw(&picture, 0x8000000, 0, "a..b..");
    draw(&picture, 0xf000000, 1, "aa....");
    assert_int_equal(fl_pins_find(fl_host_default(), &picture, &probe, &sets, NULL), FL_OK);
    assert_int_equal(sets.count, 3);
    assert_int_equal(sets.items[0].segment, 1);
    assert_int_equal(sets.items[1].segment, 2);
    assert_true(sets.items[1].goes_back); /* another stream's serves only through the device */
    assert_int_equal(sets.items[2].segment, 0);
    assert_true(fl_pins_suffice(&sets.items[0], &probe, 0));
    assert_false(fl_pins_suffice(&sets.items[1], &probe, FL_MIB));
    assert_true(fl_pins_suffice(&sets.items[1], &probe, 2 * FL_MIB));
    fl_vector_deinit(fl_host_default(), &sets);
    fl_picture_deinit(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_window_is_found),
        cmocka_unit_test(free_pieces_at_the_ends_come_with_it),
        cmocka_unit_test(where_no_window_serves_the_segment_goes_back),
        cmocka_unit_test(what_is_pending_cannot_be_freed),
        cmocka_unit_test(segments_come_cheapest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
