#include "observer/shares.h"

#include "test.h"

static void a_share_keeps_its_totals_and_their_most(void **state)
{
    (void)state;
    static const fl_change changes[] = {
        {.kind = FL_CHANGE_ACQUIRE, .size = 2000},
        {.kind = FL_CHANGE_PLACE, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_PLACE, .size = 1024, .requested = 1000},
        {.kind = FL_CHANGE_FREE_ASKED, .size = 512, .requested = 100},
        {.kind = FL_CHANGE_FREE_DONE, .size = 512, .requested = 100},
    };
    fl_share share = {0};
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        fl_share_change(&share, &changes[i]);
    assert_int_equal(share.placed, 2);
    assert_int_equal(share.now.allocated_bytes, 1024);
    assert_int_equal(share.most.allocated_bytes, 1536);
    assert_int_equal(share.most.reserved_bytes, 2000);
    fl_emit_value cells[FL_SHARE_COLUMNS];
    fl_share_cells(&share, cells);
    assert_int_equal(cells[FL_SHARE_COLUMNS - 1].number, 976); /* free */
}

static void shares_are_made_when_they_are_asked_for(void **state)
{
    (void)state;
    struct fl_shares shares = {0};
    assert_non_null(fl_shares_at(&shares, fl_host_default(), 3, NULL));
    assert_int_equal(shares.count, 4);
    assert_ptr_equal(fl_shares_at(&shares, fl_host_default(), 1, NULL), &shares.items[1]);
    fl_vector_deinit(fl_host_default(), &shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_keeps_its_totals_and_their_most),
        cmocka_unit_test(shares_are_made_when_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
