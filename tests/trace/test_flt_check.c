#include "trace/flt.h"

#include "sealed.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPT                                                                                     \
    "S 0x7f0000000000 2097152 0 small=1\nB 1 0x7f0000000200 512 500\n"                             \
    "a 7 512 64 t=5 stack=3 odd=1\n# cat: 7 weights\nb 2.3\na 8 1024\nq 2.3\nF 0.5\nm half\n"      \
    "a 9 512 0 at=4096\nf 7\n"

/* Seals the file and loads it: refused, with a text that ends so. */
static void refused(taker *flt, const char *end)
{
    sealed_again(flt);
    fl_error error = {0};
    fl_trace *trace = sealed_load(flt, &error);
    assert_null(trace);
    assert_int_equal(error.status, FL_ERR_INPUT);
    size_t length = strlen(error.text);
    if (length < strlen(end) || strcmp(error.text + length - strlen(end), end) != 0)
        fail_msg("'%s' does not end with '%s'", error.text, end);
    free(flt->text);
}

static void words_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t tag;
        size_t word;
        uint64_t value;
        const char *end;
    } rows[] = {
        {FLT_FILE, FLT_F_FORMAT, 2, "facts of the file that cannot be"},
        {FLT_FILE, FLT_F_DEVICES, 257, "facts of the file that cannot be"},
        {FLT_FILE, FLT_F_CONF, 1000, "settings or a release without a text"},
        {FLT_FILE, FLT_F_RELEASE, 1000, "settings or a release without a text"},
        {FLT_DEVICE, FLT_D_EVENTS, 3, "a column that has not one entry for each event"},
        {FLT_DEVICE, FLT_D_ALLOCS, 5, "fewer requests than there are numbers"},
        {FLT_DEVICE, FLT_D_FIRST_ID, 5, "facts of a device that cannot be"},
        {FLT_DEVICE, FLT_D_BEFORE, 0, "a start state that the file cannot have told of"},
        {FLT_DEVICE, FLT_D_FLAGS, 0, "a start state that the device does not have"},
        {FLT_NOTES, FLT_N_EVENT, 1000, "notes of no event, or out of order"},
        {FLT_START_SEGMENTS, FLT_S_STREAM, 9, "a segment with a stream or pool that is not there"},
        {FLT_START_SEGMENTS, FLT_S_SEGMENT, 1, "a segment before the first event that cannot be"},
        {FLT_START_SEGMENTS, FLT_S_SIZE, 4096, "blocks that do not fill their segment"},
        {FLT_START_BLOCKS, FLT_B_STATE, 3, "a block in a state that is not known"},
        {FLT_START_BLOCKS, FLT_B_ADDRESS, 4096, "blocks that do not fill their segment"},
        {FLT_START_BLOCKS, FLT_BLOCK_WORDS + FLT_B_ID, 1,
         "blocks before the first event that are not numbered in their order"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        taker flt = sealed_script(SCRIPT);
        sealed_set_word(&flt, rows[i].tag, rows[i].word, rows[i].value);
        refused(&flt, rows[i].end);
    }
}

static void entries_of_columns_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t tag;
        size_t offset;
        uint8_t value;
        const char *end;
    } rows[] = {
        {FLT_KIND, 2, 0, "event 2: a kind that is not known"},
        {FLT_KIND, 2, 38, "event 2: a kind that is not known"},
        {FLT_FLAGS, 0, FL_OP_HELD, "event 0: a flag that means nothing here"},
        {FLT_STREAM, 0, 9, "event 0: a stream that is not there"},
        {FLT_ID, 0, 0, "event 0: a number that is not there"},
        {FLT_ID, 4 * 7, 77, "event 7: a number that is not there"},
        {FLT_ID, 4 * 5, 200, "event 5: a number that is not there"},
        {FLT_SIZE, 8 * 4 + 7, 0x41, "event 4: a fraction that is not from 0 to 1"},
        {FLT_POOL, 2, 9, "event 0: some event has a pool that is not there"},
        {FLT_POOL, 2, 0, "event 1: a scope without a pool"},
        {FLT_STACK, 0, 9, "event 0: some event has a stack that is not there"},
        {FLT_ADDRESS, 8 * 6 + 1, 0, "event 6: a request for no address"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        taker flt = sealed_script(SCRIPT);
        size_t size;
        uint8_t *section = sealed_section(&flt, rows[i].tag, 0, &size);
        assert_true(rows[i].offset < size);
        section[rows[i].offset] = rows[i].value;
        refused(&flt, rows[i].end);
    }
}

static void tables_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t tag, device;
        uint8_t value;
        const char *end;
    } rows[] = {
        {FLT_POOLS, FLT_WHOLE_FILE, 1, "the first pool is not the default one"},
        {FLT_FRAMES, FLT_WHOLE_FILE, 99, "a frame without a text"},
        {FLT_STACK_ENDS, FLT_WHOLE_FILE, 7, "stacks that do not end with their frames"},
        {FLT_STACK_ITEMS, FLT_WHOLE_FILE, 7, "a stack with a frame that is not there"},
        {FLT_TEXTS, FLT_WHOLE_FILE, 0xFF, "a text that is not UTF-8"},
        {FLT_CATEGORIES, 0, 99, "a category without a text"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        taker flt = sealed_script(SCRIPT);
        size_t size;
        uint8_t *section = sealed_section(&flt, rows[i].tag, rows[i].device, &size);
        section[rows[i].tag == FLT_CATEGORIES ? 4 : 0] = rows[i].value;
        if (rows[i].tag == FLT_CATEGORIES)
            memset(section + 5, 0, 3);
        refused(&flt, rows[i].end);
    }
}

static void it_is_fine_as_it_is(void **state)
{
    (void)state;
    taker flt = sealed_script(SCRIPT);
    fl_error error = {0};
    fl_trace *trace = sealed_load(&flt, &error);
    if (trace == NULL)
        fail_msg("%s", error.text);
    fl_trace_free(trace);
    free(flt.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_fine_as_it_is),
        cmocka_unit_test(words_that_cannot_be_are_refused),
        cmocka_unit_test(entries_of_columns_that_cannot_be_are_refused),
        cmocka_unit_test(tables_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
