#include "base/extents.h"

#include <assert.h>

/* Links are index + 1, so that zeroed memory is an empty set. */
static struct fl_extent_node *extents_node(const fl_extents *set, uint32_t link)
{
    return &set->nodes.items[link - 1];
}

static uint32_t extents_height(const fl_extents *set, uint32_t link)
{
    return link == 0 ? 0 : extents_node(set, link)->height;
}

static uint64_t extents_widest(const fl_extents *set, uint32_t link)
{
    return link == 0 ? 0 : extents_node(set, link)->widest;
}

static uint64_t extents_end(const fl_extent *extent)
{
    return extent->address + extent->size;
}

/* Height and widest gap of a node from its children. */
static void extents_pull(fl_extents *set, uint32_t link)
{
    struct fl_extent_node *node = extents_node(set, link);
    uint32_t left = extents_height(set, node->left), right = extents_height(set, node->right);
    node->height = 1 + (left > right ? left : right);
    node->widest = node->gap;
    if (extents_widest(set, node->left) > node->widest)
        node->widest = extents_widest(set, node->left);
    if (extents_widest(set, node->right) > node->widest)
        node->widest = extents_widest(set, node->right);
}

static uint32_t extents_rotate_right(fl_extents *set, uint32_t link)
{
    struct fl_extent_node *node = extents_node(set, link);
    uint32_t top = node->left;
    node->left = extents_node(set, top)->right;
    extents_node(set, top)->right = link;
    extents_pull(set, link);
    extents_pull(set, top);
    return top;
}

static uint32_t extents_rotate_left(fl_extents *set, uint32_t link)
{
    struct fl_extent_node *node = extents_node(set, link);
    uint32_t top = node->right;
    node->right = extents_node(set, top)->left;
    extents_node(set, top)->left = link;
    extents_pull(set, link);
    extents_pull(set, top);
    return top;
}

/* How much taller the left side is. */
static int extents_lean(const fl_extents *set, uint32_t link)
{
    const struct fl_extent_node *node = extents_node(set, link);
    return (int)extents_height(set, node->left) - (int)extents_height(set, node->right);
}

/* Restores the balance of a node whose children differ by at most 2; returns the new top. */
static uint32_t extents_balance(fl_extents *set, uint32_t link)
{
    struct fl_extent_node *node = extents_node(set, link);
    int lean = extents_lean(set, link);
    if (lean > 1) {
        if (extents_lean(set, node->left) < 0)
            node->left = extents_rotate_left(set, node->left);
        return extents_rotate_right(set, link);
    }
    if (lean < -1) {
        if (extents_lean(set, node->right) > 0)
            node->right = extents_rotate_right(set, node->right);
        return extents_rotate_left(set, link);
    }
    extents_pull(set, link);
    return link;
}

/* The tree is at most 1.44 log2(n) high, so recursion is shallow. */
static uint32_t extents_insert_below(fl_extents *set, uint32_t top, uint32_t link)
{
    if (top == 0)
        return link;
    struct fl_extent_node *node = extents_node(set, top);
    if (extents_node(set, link)->extent.address < node->extent.address)
        node->left = extents_insert_below(set, node->left, link);
    else
        node->right = extents_insert_below(set, node->right, link);
    return extents_balance(set, top);
}

static uint32_t extents_take_first(fl_extents *set, uint32_t top, uint32_t *ret_first)
{
    struct fl_extent_node *node = extents_node(set, top);
    if (node->left == 0) {
        *ret_first = top;
        return node->right;
    }
    node->left = extents_take_first(set, node->left, ret_first);
    return extents_balance(set, top);
}

static uint32_t extents_remove_top(fl_extents *set, uint32_t top)
{
    struct fl_extent_node *node = extents_node(set, top);
    if (node->right == 0)
        return node->left;
    uint32_t heir;
    uint32_t right = extents_take_first(set, node->right, &heir);
    extents_node(set, heir)->left = node->left;
    extents_node(set, heir)->right = right;
    return extents_balance(set, heir);
}

static uint32_t extents_remove_below(fl_extents *set, uint32_t top, uint64_t address,
                                     uint32_t *ret_link)
{
    if (top == 0)
        return 0;
    struct fl_extent_node *node = extents_node(set, top);
    if (address == node->extent.address) {
        *ret_link = top;
        return extents_remove_top(set, top);
    }
    if (address < node->extent.address)
        node->left = extents_remove_below(set, node->left, address, ret_link);
    else
        node->right = extents_remove_below(set, node->right, address, ret_link);
    return extents_balance(set, top);
}

static uint32_t extents_floor_link(const fl_extents *set, uint64_t address)
{
    uint32_t found = 0;
    for (uint32_t link = set->root; link != 0;) {
        const struct fl_extent_node *node = extents_node(set, link);
        if (node->extent.address <= address)
            found = link;
        link = node->extent.address <= address ? node->right : node->left;
    }
    return found;
}

static uint32_t extents_ceiling_link(const fl_extents *set, uint64_t address)
{
    uint32_t found = 0;
    for (uint32_t link = set->root; link != 0;) {
        const struct fl_extent_node *node = extents_node(set, link);
        if (node->extent.address >= address)
            found = link;
        link = node->extent.address >= address ? node->left : node->right;
    }
    return found;
}

/* Where the free gap below `address` begins. */
static uint64_t extents_gap_start(const fl_extents *set, uint64_t address)
{
    uint32_t below = address == 0 ? 0 : extents_floor_link(set, address - 1);
    return below == 0 ? set->start : extents_end(&extents_node(set, below)->extent);
}

/* Sets the gap of the node that begins at `address` and pulls on the way up. */
static void extents_set_gap(fl_extents *set, uint32_t top, uint64_t address, uint64_t gap)
{
    struct fl_extent_node *node = extents_node(set, top);
    if (address == node->extent.address)
        node->gap = gap;
    else
        extents_set_gap(set, address < node->extent.address ? node->left : node->right, address,
                        gap);
    extents_pull(set, top);
}

/* After a change around `address`: the gap in front of the first extent at or above it. */
static void extents_refresh_gap(fl_extents *set, uint64_t address)
{
    uint32_t next = extents_ceiling_link(set, address);
    if (next == 0)
        return;
    uint64_t start = extents_node(set, next)->extent.address;
    extents_set_gap(set, set->root, start, start - extents_gap_start(set, start));
}

static uint32_t extents_new_link(const fl_host *host, fl_extents *set, fl_error *error)
{
    uint32_t link = set->spare;
    if (link != 0) {
        set->spare = extents_node(set, link)->left;
        return link;
    }
    if (set->nodes.count == UINT32_MAX - 1) {
        fl_fail(error, FL_ERR_RESOURCE, "more than %zu address ranges", set->nodes.count);
        return 0;
    }
    if (!fl_vector_reserve(host, &set->nodes, 1, error))
        return 0;
    return (uint32_t)++set->nodes.count;
}

void fl_extents_deinit(const fl_host *host, fl_extents *set)
{
    fl_vector_deinit(host, &set->nodes);
    *set = (fl_extents){.start = set->start};
}

bool fl_extents_insert(const fl_host *host, fl_extents *set, fl_extent extent, fl_error *error)
{
    uint32_t link = extents_new_link(host, set, error);
    if (link == 0)
        return false;
    uint64_t gap = extent.address - extents_gap_start(set, extent.address);
    *extents_node(set, link) =
        (struct fl_extent_node){.extent = extent, .gap = gap, .widest = gap, .height = 1};
    set->root = extents_insert_below(set, set->root, link);
    set->count++;
    extents_refresh_gap(set, extents_end(&extent));
    return true;
}

bool fl_extents_remove(fl_extents *set, uint64_t address, fl_extent *ret_extent)
{
    uint32_t link = 0;
    set->root = extents_remove_below(set, set->root, address, &link);
    if (link == 0)
        return false;
    if (ret_extent != NULL)
        *ret_extent = extents_node(set, link)->extent;
    extents_node(set, link)->left = set->spare;
    set->spare = link;
    set->count--;
    extents_refresh_gap(set, address);
    return true;
}

void fl_extents_resize(fl_extents *set, uint64_t address, uint64_t size)
{
    struct fl_extent_node *node = extents_node(set, extents_floor_link(set, address));
    assert(node->extent.address == address);
    node->extent.size = size;
    extents_refresh_gap(set, address + size);
}

bool fl_extents_floor(const fl_extents *set, uint64_t address, fl_extent *ret_extent)
{
    uint32_t link = extents_floor_link(set, address);
    if (link != 0)
        *ret_extent = extents_node(set, link)->extent;
    return link != 0;
}

bool fl_extents_ceiling(const fl_extents *set, uint64_t address, fl_extent *ret_extent)
{
    uint32_t link = extents_ceiling_link(set, address);
    if (link != 0)
        *ret_extent = extents_node(set, link)->extent;
    return link != 0;
}

bool fl_extents_hold(const fl_extents *set, uint64_t address, uint64_t size)
{
    fl_extent extent;
    return fl_extents_floor(set, address, &extent) && size <= extent.size &&
           address - extent.address <= extent.size - size;
}

bool fl_extents_overlap(const fl_extents *set, uint64_t address, uint64_t size)
{
    if (size > UINT64_MAX - address)
        return true;
    uint32_t below = extents_floor_link(set, address);
    if (below != 0 && extents_end(&extents_node(set, below)->extent) > address)
        return true;
    uint32_t above = extents_ceiling_link(set, address);
    return above != 0 && extents_node(set, above)->extent.address < address + size;
}

static bool extents_put_back(const fl_host *host, fl_extents *set, uint64_t from, uint64_t to,
                             uint32_t owner, fl_error *error)
{
    return from >= to || fl_extents_insert(host, set, (fl_extent){from, to - from, owner}, error);
}

bool fl_extents_take(const fl_host *host, fl_extents *set, uint64_t address, uint64_t size,
                     uint64_t *ret_taken, fl_error *error)
{
    uint64_t end = address + size, taken = 0;
    fl_extent extent;
    while (fl_extents_overlap(set, address, size) && fl_extents_floor(set, end - 1, &extent)) {
        uint64_t behind = extent.address + extent.size;
        uint64_t from = extent.address > address ? extent.address : address;
        uint64_t to = behind < end ? behind : end;
        fl_extents_remove(set, extent.address, NULL);
        taken += to - from;
        if (!extents_put_back(host, set, extent.address, from, extent.owner, error) ||
            !extents_put_back(host, set, to, behind, extent.owner, error))
            return false;
    }
    *ret_taken = taken;
    return true;
}

uint64_t fl_extents_lowest_fit(const fl_extents *set, uint64_t size)
{
    uint32_t link = set->root;
    if (link == 0 || extents_widest(set, link) < size)
        return extents_gap_start(set, UINT64_MAX);
    for (;;) {
        const struct fl_extent_node *node = extents_node(set, link);
        if (extents_widest(set, node->left) >= size)
            link = node->left;
        else if (node->gap >= size)
            return node->extent.address - node->gap;
        else
            link = node->right;
    }
}
