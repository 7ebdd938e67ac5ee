#include "reader/snapshot.h"

#include "test.h"

#include <string.h>

static void every_code_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 1; i < WORD_END; i++) {
        bool is_code = i < KEY_END || i >= WORD_ALLOC;
        assert_int_equal(fl_snapshot_words[i] != NULL, is_code);
        for (size_t j = 1; is_code && j < i; j++)
            if (fl_snapshot_words[j] != NULL)
                assert_string_not_equal(fl_snapshot_words[i], fl_snapshot_words[j]);
    }
}

/* Each shape but the root is reached from one other kind of container at least. */
static void every_shape_has_a_place(void **state)
{
    (void)state;
    bool has_place[FL_SHAPE_LIMIT] = {[FL_SHAPE_NONE] = true};
    has_place[fl_snapshot_schema.root] = has_place[fl_snapshot_schema.root_list] = true;
    size_t count = fl_snapshot_schema.shape_count;
    assert_true(count <= FL_SHAPE_LIMIT);
    for (size_t i = 1; i < count; i++) {
        const fl_shape *shape = &fl_snapshot_schema.shapes[i];
        assert_non_null(shape->what);
        has_place[shape->element] = true;
        for (const fl_shape_child *child = shape->children; child != NULL && child->word != 0;
             child++)
            has_place[child->shape] = true;
    }
    for (size_t i = 0; i < count; i++)
        assert_true(has_place[i]);
}

/* A path never holds a shape twice, so the machine keeps one record for each. */
static void no_shape_nests_in_itself(void **state)
{
    (void)state;
    const fl_shape *shapes = fl_snapshot_schema.shapes;
    uint8_t path[FL_SHAPE_LIMIT] = {fl_snapshot_schema.root};
    size_t depth = 1;
    for (uint8_t shape = path[0]; shape != FL_SHAPE_NONE && depth < FL_SHAPE_LIMIT;) {
        const fl_shape_child *children = shapes[shape].children;
        shape = shapes[shape].is_list ? shapes[shape].element
                : children != NULL    ? children[0].shape
                                      : FL_SHAPE_NONE;
        for (size_t i = 0; i < depth; i++)
            assert_true(shape == FL_SHAPE_NONE || path[i] != shape);
        path[depth++] = shape;
    }
    assert_true(depth < FL_SHAPE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_word_of_its_own),
        cmocka_unit_test(every_shape_has_a_place),
        cmocka_unit_test(no_shape_nests_in_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
