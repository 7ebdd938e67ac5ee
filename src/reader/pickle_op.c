/* The instructions of protocols 1 to 5, and the table of all of them. */
#include "reader/pickle_machine.h"

/* Makes `want` bytes of the instruction's argument lie at hand. */
static bool pickle_need(fl_pickle *m, size_t want)
{
    fl_input *input = m->input;
    if ((size_t)(input->end - input->at) >= want)
        return true;
    if (m->at != NULL)
        m->at_offset = input->offset_end - (uint64_t)(input->end - m->at);
    m->at = NULL;
    m->status = fl_input_fill(input, want, m->error);
    if (m->status != FL_OK)
        return false;
    return (size_t)(input->end - input->at) >= want || fl_pickle_cut(m);
}

static bool pickle_skip(fl_pickle *m, uint64_t length)
{
    while (length > 0) {
        if (!pickle_need(m, 1))
            return false;
        size_t here = (size_t)(m->input->end - m->input->at);
        if (here > length)
            here = (size_t)length;
        m->input->at += here;
        length -= here;
    }
    return true;
}

/* Plain values. */

static bool op_none(fl_pickle *m)
{
    return fl_pickle_push(m, (fl_value){.tag = FL_TAG_NONE});
}

static bool op_true(fl_pickle *m)
{
    return fl_pickle_push(m, (fl_value){.tag = FL_TAG_BOOL, .bits = 1});
}

static bool op_false(fl_pickle *m)
{
    return fl_pickle_push(m, (fl_value){.tag = FL_TAG_BOOL, .bits = 0});
}

static bool op_int1(fl_pickle *m)
{
    return fl_pickle_push(m, fl_value_int(m->args[0]));
}

static bool op_int2(fl_pickle *m)
{
    return fl_pickle_push(m, fl_value_int((int64_t)fl_load_little(m->args, 2)));
}

static bool op_int4(fl_pickle *m)
{
    return fl_pickle_push(m, fl_value_int((int32_t)(uint32_t)fl_load_little(m->args, 4)));
}

static bool op_float(fl_pickle *m)
{
    return fl_pickle_push(m, (fl_value){.tag = FL_TAG_REAL});
}

/* A signed number of 0 to 9 bytes, little end first. */
static fl_value value_long(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return fl_value_int(0);
    if (size == 9)
        return (fl_value){.tag = bytes[8] == 0 && bytes[7] >= 0x80 ? FL_TAG_UINT : FL_TAG_WIDE,
                          .bits = fl_load_little(bytes, 8)};
    return fl_value_short_long(fl_load_little(bytes, size), (unsigned)size);
}

static bool pickle_long(fl_pickle *m, uint64_t size)
{
    if (size > 9)
        return pickle_skip(m, size) && fl_pickle_push(m, (fl_value){.tag = FL_TAG_WIDE});
    if (!pickle_need(m, (size_t)size))
        return false;
    fl_pickle_push(m, value_long(m->input->at, (size_t)size));
    m->input->at += size;
    return true;
}

static bool op_long1(fl_pickle *m)
{
    return pickle_long(m, m->args[0]);
}

static bool op_long4(fl_pickle *m)
{
    return pickle_long(m, fl_load_little(m->args, 4));
}

/* A text that does not fit the input's room is no name of anything that matters. */
static bool pickle_text(fl_pickle *m, uint64_t length)
{
    if (length > FL_INPUT_ROOM)
        return pickle_skip(m, length) && fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
    fl_value value;
    if (!pickle_need(m, (size_t)length) ||
        !fl_pickle_keep_text(m, (const char *)m->input->at, (size_t)length, &value))
        return false;
    m->input->at += length;
    return fl_pickle_push(m, value);
}

static bool op_text1(fl_pickle *m)
{
    return pickle_text(m, m->args[0]);
}

static bool op_text4(fl_pickle *m)
{
    return pickle_text(m, fl_load_little(m->args, 4));
}

static bool op_text8(fl_pickle *m)
{
    return pickle_text(m, fl_load_little(m->args, 8));
}

static bool op_bytes1(fl_pickle *m)
{
    return pickle_skip(m, m->args[0]) && fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
}

static bool op_bytes4(fl_pickle *m)
{
    return pickle_skip(m, fl_load_little(m->args, 4)) &&
           fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
}

static bool op_bytes8(fl_pickle *m)
{
    return pickle_skip(m, fl_load_little(m->args, 8)) &&
           fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
}

/* The memo. */

static bool op_memoize(fl_pickle *m)
{
    return fl_pickle_memo_put(m, m->memo.count);
}

static bool op_put1(fl_pickle *m)
{
    return fl_pickle_memo_put(m, m->args[0]);
}

static bool op_put4(fl_pickle *m)
{
    return fl_pickle_memo_put(m, fl_load_little(m->args, 4));
}

static bool op_get1(fl_pickle *m)
{
    return fl_pickle_memo_get(m, m->args[0]);
}

static bool op_get4(fl_pickle *m)
{
    return fl_pickle_memo_get(m, fl_load_little(m->args, 4));
}

/* Containers. */

static bool op_mark(fl_pickle *m)
{
    if (m->marks.count == MARK_LIMIT)
        return fl_pickle_fail(m, FL_ERR_INPUT, "nested deeper than %d levels", MARK_LIMIT);
    if (!fl_vector_reserve(m->host, &m->marks, 1, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    m->marks.items[m->marks.count++] = m->stack.count;
    return fl_pickle_run_records(m);
}

/* Takes the innermost mark; the values above it start at *ret_first. */
static bool mark_take(fl_pickle *m, size_t *ret_first)
{
    if (m->marks.count == 0) {
        fl_pickle_fail(m, FL_ERR_INPUT, "expected a mark on the stack");
        return false;
    }
    *ret_first = m->marks.items[--m->marks.count];
    return true;
}

/* At least this many values above the innermost mark? */
static bool stack_holds(fl_pickle *m, size_t count)
{
    if (m->stack.count - fl_pickle_base(m) < count)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected %zu values on the stack", count);
    return true;
}

static bool op_empty_dict(fl_pickle *m)
{
    return fl_shape_open(m, false);
}

static bool op_empty_list(fl_pickle *m)
{
    return fl_shape_open(m, true);
}

/* Protocol 0 begins every container with a mark, and fills it item by item. */
static bool container_marked(fl_pickle *m, bool is_list)
{
    size_t first;
    if (!mark_take(m, &first))
        return false;
    if (first != m->stack.count)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected no items between a mark and %s",
                              is_list ? "LIST" : "DICT");
    return fl_shape_open(m, is_list);
}

static bool op_dict(fl_pickle *m)
{
    return container_marked(m, false);
}

static bool op_list(fl_pickle *m)
{
    return container_marked(m, true);
}

static bool op_set(fl_pickle *m)
{
    return fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
}

static bool op_append(fl_pickle *m)
{
    return stack_holds(m, 2) && fl_shape_append(m, m->stack.count - 2, m->stack.count - 1);
}

/* The container that lies below the innermost mark. */
static bool container_below(fl_pickle *m, size_t *ret_container, size_t *ret_first)
{
    if (!mark_take(m, ret_first))
        return false;
    if (*ret_first == 0 || *ret_first - 1 < fl_pickle_base(m)) {
        fl_pickle_fail(m, FL_ERR_INPUT, "expected a container below the mark");
        return false;
    }
    *ret_container = *ret_first - 1;
    return true;
}

static bool op_appends(fl_pickle *m)
{
    size_t container, first;
    return container_below(m, &container, &first) && fl_shape_append(m, container, first);
}

static bool op_setitem(fl_pickle *m)
{
    return stack_holds(m, 3) && fl_shape_set(m, m->stack.count - 3, m->stack.count - 2, false);
}

static bool op_setitems(fl_pickle *m)
{
    size_t container, first;
    return container_below(m, &container, &first) && fl_shape_set(m, container, first, true);
}

/* The values from `first` on become one tuple. */
static bool tuple_from(fl_pickle *m, size_t first)
{
    const fl_value *values = m->stack.items + first;
    fl_value tuple = {.tag = FL_TAG_OTHER};
    bool is_pair = m->stack.count - first == 2 && fl_value_is_count(&values[0]) &&
                   fl_value_is_count(&values[1]);
    if (is_pair && !fl_pickle_keep_pair(m, values[0].bits, values[1].bits, &tuple))
        return false;
    return fl_shape_drop(m, first) && fl_pickle_push(m, tuple);
}

static bool op_tuple0(fl_pickle *m)
{
    return tuple_from(m, m->stack.count);
}

static bool op_tuple1(fl_pickle *m)
{
    return stack_holds(m, 1) && tuple_from(m, m->stack.count - 1);
}

static bool op_tuple2(fl_pickle *m)
{
    return stack_holds(m, 2) && tuple_from(m, m->stack.count - 2);
}

static bool op_tuple3(fl_pickle *m)
{
    return stack_holds(m, 3) && tuple_from(m, m->stack.count - 3);
}

static bool op_tuple(fl_pickle *m)
{
    size_t first;
    return mark_take(m, &first) && tuple_from(m, first);
}

/* Frame of the pickle. */

static bool op_proto(fl_pickle *m)
{
    if (m->args[0] > 5)
        return fl_pickle_fail(m, FL_ERR_UNAVAILABLE,
                              "pickle protocol %u, of which this build knows none above 5",
                              m->args[0]);
    return true;
}

/* A hint on how much follows, which the input does not need. */
static bool op_frame(fl_pickle *m)
{
    (void)m;
    return true;
}

bool fl_pickle_stop(fl_pickle *m)
{
    if (m->marks.count > 0 || m->stack.count != 1 || m->depth == 0 || m->path[0].slot != 0)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected %s and nothing else on the stack",
                              m->schema->shapes[m->schema->root].what);
    m->is_stopped = true;
    return fl_shape_close_to(m, 0);
}

const op_row fl_pickle_ops[256] = {
    ['('] = {"MARK", op_mark, 0},
    ['.'] = {"STOP", fl_pickle_stop, 0},
    ['0'] = {"POP", NULL, 0},
    ['1'] = {"POP_MARK", NULL, 0},
    ['2'] = {"DUP", NULL, 0},
    ['F'] = {"FLOAT", fl_pickle_op_float, 0},
    ['I'] = {"INT", fl_pickle_op_int, 0},
    ['J'] = {"BININT", op_int4, 4},
    ['K'] = {"BININT1", op_int1, 1},
    ['L'] = {"LONG", fl_pickle_op_long, 0},
    ['M'] = {"BININT2", op_int2, 2},
    ['N'] = {"NONE", op_none, 0},
    ['P'] = {"PERSID", NULL, 0},
    ['Q'] = {"BINPERSID", NULL, 0},
    ['R'] = {"REDUCE", NULL, 0},
    ['S'] = {"STRING", NULL, 0},
    ['T'] = {"BINSTRING", NULL, 0},
    ['U'] = {"SHORT_BINSTRING", NULL, 0},
    ['V'] = {"UNICODE", fl_pickle_op_unicode, 0},
    ['X'] = {"BINUNICODE", op_text4, 4},
    ['a'] = {"APPEND", op_append, 0},
    ['b'] = {"BUILD", NULL, 0},
    ['c'] = {"GLOBAL", NULL, 0},
    ['d'] = {"DICT", op_dict, 0},
    ['}'] = {"EMPTY_DICT", op_empty_dict, 0},
    ['e'] = {"APPENDS", op_appends, 0},
    ['g'] = {"GET", fl_pickle_op_get, 0},
    ['h'] = {"BINGET", op_get1, 1},
    ['i'] = {"INST", NULL, 0},
    ['j'] = {"LONG_BINGET", op_get4, 4},
    ['l'] = {"LIST", op_list, 0},
    [']'] = {"EMPTY_LIST", op_empty_list, 0},
    ['o'] = {"OBJ", NULL, 0},
    ['p'] = {"PUT", fl_pickle_op_put, 0},
    ['q'] = {"BINPUT", op_put1, 1},
    ['r'] = {"LONG_BINPUT", op_put4, 4},
    ['s'] = {"SETITEM", op_setitem, 0},
    ['t'] = {"TUPLE", op_tuple, 0},
    [')'] = {"EMPTY_TUPLE", op_tuple0, 0},
    ['u'] = {"SETITEMS", op_setitems, 0},
    ['G'] = {"BINFLOAT", op_float, 8},
    ['B'] = {"BINBYTES", op_bytes4, 4},
    ['C'] = {"SHORT_BINBYTES", op_bytes1, 1},
    [0x80] = {"PROTO", op_proto, 1},
    [0x81] = {"NEWOBJ", NULL, 0},
    [0x82] = {"EXT1", NULL, 0},
    [0x83] = {"EXT2", NULL, 0},
    [0x84] = {"EXT4", NULL, 0},
    [0x85] = {"TUPLE1", op_tuple1, 0},
    [0x86] = {"TUPLE2", op_tuple2, 0},
    [0x87] = {"TUPLE3", op_tuple3, 0},
    [0x88] = {"NEWTRUE", op_true, 0},
    [0x89] = {"NEWFALSE", op_false, 0},
    [0x8A] = {"LONG1", op_long1, 1},
    [0x8B] = {"LONG4", op_long4, 4},
    [0x8C] = {"SHORT_BINUNICODE", op_text1, 1},
    [0x8D] = {"BINUNICODE8", op_text8, 8},
    [0x8E] = {"BINBYTES8", op_bytes8, 8},
    [0x8F] = {"EMPTY_SET", op_set, 0},
    [0x90] = {"ADDITEMS", op_appends, 0},
    [0x91] = {"FROZENSET", op_tuple, 0},
    [0x92] = {"NEWOBJ_EX", NULL, 0},
    [0x93] = {"STACK_GLOBAL", NULL, 0},
    [0x94] = {"MEMOIZE", op_memoize, 0},
    [0x95] = {"FRAME", op_frame, 8},
    [0x96] = {"BYTEARRAY8", op_bytes8, 8},
    [0x97] = {"NEXT_BUFFER", NULL, 0},
    [0x98] = {"READONLY_BUFFER", NULL, 0},
};
