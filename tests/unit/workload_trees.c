/* The trees that workloads walk: suffix trees and bounding volume hierarchies, against what defines them; and rays that
 * would be lost in them. */
#include "workload.h"

#include "workload/ispass/bvh.h"
#include "workload/ispass/ray_scene.h"
#include "workload/mummer/dna.h"
#include "workload/mummer/suffix_tree.h"
#include "workload/runtime/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct suffixes {
    const char *text;
    uint32_t last; /* position of '$' */
    uint32_t count;
    struct pw_suffix_node *nodes;
    struct pw_suffix_children *children;
};

static uint32_t depth_of(const struct suffixes *s, uint32_t node)
{
    uint32_t depth = 0;
    for (; node > PW_SUFFIX_ROOT; node = s->nodes[node].parent)
        depth += s->nodes[node].end - s->nodes[node].start + 1;
    return depth;
}

/* Where in the text the letters of the path to a node begin: behind them stands its edge. */
static const char *path_of(const struct suffixes *s, uint32_t node)
{
    return &s->text[s->nodes[node].end + 1 - depth_of(s, node)];
}

static void check_node(const struct suffixes *s, uint32_t node)
{
    const struct pw_suffix_node *n = &s->nodes[node];
    uint32_t depth = depth_of(s, node), parent_depth = depth_of(s, n->parent);
    assert_memory_equal(path_of(s, node), path_of(s, n->parent), parent_depth);
    assert_in_range(n->parent, PW_SUFFIX_ROOT, node - 1);
    unsigned base = pw_suffix_base(s->text[n->start]);
    if (base < PW_SUFFIX_BASES)
        assert_int_equal(s->children[n->parent].child[base], node);
    if (n->end == s->last) {
        assert_int_equal(n->suffix, 0);
        return;
    }
    assert_int_equal(depth_of(s, n->suffix), depth - 1);
    assert_memory_equal(path_of(s, n->suffix), path_of(s, node) + 1, depth - 1);
}

/* Every suffix is a leaf, every inner node branches, and edges and links spell what they should. */
static void check_tree(struct pw_host *h, const char *text, uint32_t bases)
{
    struct pw_suffix_tree *tree = pw_suffix_tree_make(h, text, bases);
    struct suffixes s = {.text = text, .last = bases + 1, .count = pw_suffix_tree_nodes(tree)};
    s.nodes = pw_host_keep(h, s.count * sizeof *s.nodes);
    s.children = pw_host_keep(h, s.count * sizeof *s.children);
    pw_suffix_tree_lay_out(h, tree, s.nodes, s.children);
    uint8_t *is_leaf = pw_host_keep(h, bases + 2), *branches = pw_host_keep(h, s.count);
    for (uint32_t n = PW_SUFFIX_ROOT + 1; n < s.count; n++) {
        check_node(&s, n);
        branches[s.nodes[n].parent]++;
        if (s.nodes[n].end == s.last)
            is_leaf[path_of(&s, n) - text]++;
    }
    for (uint32_t i = 1; i <= s.last; i++)
        assert_int_equal(is_leaf[i], 1);
    for (uint32_t n = PW_SUFFIX_ROOT; n < s.count; n++)
        if (n == PW_SUFFIX_ROOT || s.nodes[n].end != s.last)
            assert_in_range(branches[n], bases ? 2 : 1, 5);
}

static void check_suffix_trees(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    check_tree(h, "s$", 0);
    check_tree(h, "sA$", 1);
    check_tree(h, "sAAAAAAA$", 7);
    check_tree(h, "sGATTACAGATTACA$", 14);
    check_tree(h, "sACACACACGACACACACT$", 17);
    for (uint32_t bases = 2; bases < 3000; bases = bases * 2 + 1) {
        char *text = pw_host_keep(h, bases + 3);
        pw_dna_reference(text, bases, bases);
        check_tree(h, text, bases);
    }
}

static void suffix_trees_hold_every_suffix_once_with_true_links(void **state)
{
    (void)state;
    TEST_PROGRAM(program, check_suffix_trees);
    struct pw_error err;
    struct pw_functional_counts counts;
    assert_int_equal(pw_functional_run(&program, 1, false, NULL, NULL, &counts, &err), PW_OK);
}

struct hierarchy {
    const struct pw_bvh_sphere *spheres;
    const struct pw_bvh_node *nodes;
    uint8_t *found;
};

static void check_child(const struct hierarchy *b, int32_t child, const struct pw_bvh_box *box, unsigned depth)
{
    assert_in_range(depth, 0, PW_BVH_STACK - 1);
    if (child < 0) {
        const struct pw_bvh_sphere *s = &b->spheres[~child];
        const float centre[3] = {s->x, s->y, s->z};
        b->found[~child]++;
        for (int axis = 0; axis < 3; axis++)
            assert_true(box->low[axis] < centre[axis] - s->radius && centre[axis] + s->radius < box->high[axis]);
        return;
    }
    const struct pw_bvh_node *n = &b->nodes[child];
    for (int i = 0; i < 2; i++) {
        for (int axis = 0; axis < 3; axis++)
            assert_true(box->low[axis] <= n->box[i].low[axis] && n->box[i].high[axis] <= box->high[axis]);
        check_child(b, n->child[i], &n->box[i], depth + 1);
    }
}

static void check_hierarchies(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    const struct pw_bvh_box world = {{-64, -64, -64}, {64, 64, 64}};
    for (uint32_t count = 1; count < 3000; count = count * 3 + 1) {
        struct pw_bvh_sphere *spheres = pw_host_keep(h, count * sizeof *spheres);
        struct pw_bvh_node *nodes = pw_host_keep(h, count * sizeof *nodes);
        float sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += spheres[i].radius = 0.5F + (float)(i % 7);
        for (uint32_t i = 0; i < count; i++) {
            spheres[i].x = 62.0F * pw_hash_unit(pw_hash(1, i)) - 31.0F;
            spheres[i].y = 10.0F * pw_hash_unit(pw_hash(2, i));
            spheres[i].z = 62.0F * pw_hash_unit(pw_hash(3, i)) - 31.0F;
        }
        pw_bvh_build(h, spheres, count, nodes);
        struct hierarchy b = {spheres, nodes, pw_host_keep(h, count)};
        check_child(&b, pw_bvh_root(count), &world, 0);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(b.found[i], 1);
            sum -= spheres[i].radius;
        }
        assert_true(sum == 0); /* sorting has lost none: sums of halves are exact */
    }
}

static void hierarchies_enclose_every_sphere_and_hold_it_once(void **state)
{
    (void)state;
    TEST_PROGRAM(program, check_hierarchies);
    struct pw_error err;
    struct pw_functional_counts counts;
    assert_int_equal(pw_functional_run(&program, 1, false, NULL, NULL, &counts, &err), PW_OK);
}

/* Where spheres overlap, a mirrored ray may hit so soon that the point is its origin. A mirrored direction that is not
 * a number would enter every box. */
static void a_hit_at_the_origin_of_a_ray_has_a_mirrored_ray(void **state)
{
    (void)state;
    const struct pw_bvh_sphere s = {0.0F, 0.0F, 0.0F, 1.0F};
    const float colour[4] = {1.0F, 1.0F, 1.0F, 1.0F};
    struct pw_ray r = {{0.0F, 0.0F, 1.0F}, {0.6F, 0.0F, -0.8F}};
    struct pw_surface f = pw_ray_surface(&r, 1e-12F, &s, colour);
    struct pw_ray mirrored = pw_surface_mirror(&f);
    assert_true(fabsf(mirrored.direction.x - 0.6F) < 1e-6F && fabsf(mirrored.direction.z - 0.8F) < 1e-6F);
    const struct pw_bvh_box elsewhere = {{-3.0F, 5.0F, -3.0F}, {-2.0F, 6.0F, -2.0F}};
    assert_true(pw_ray_enters_box(&mirrored, pw_ray_inverse(&mirrored), &elsewhere, PW_RAY_FAR) == PW_RAY_FAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffix_trees_hold_every_suffix_once_with_true_links),
        cmocka_unit_test(a_hit_at_the_origin_of_a_ray_has_a_mirrored_ray),
        cmocka_unit_test(hierarchies_enclose_every_sphere_and_hold_it_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
