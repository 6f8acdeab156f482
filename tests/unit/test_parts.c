/* How routers are dealt to parts, and what parts share: pools of flits and the hazard log. */
#include "bare_machine.h"
#include "noc/mesh.h"

static unsigned split(unsigned nx, unsigned ny, unsigned group, unsigned threads, const bool *pinned,
                      uint32_t *part_of) {
    struct machine machine = bare_machine(nx, ny);
    machine.engine.routers_per_actor = group;
    machine.engine.threads = threads;
    unsigned parts = mesh_split(&machine, pinned, part_of);
    for (unsigned part = 0; part < parts; part++) { /* none is empty */
        bool used = false;
        for (unsigned i = 0; i < nx * ny; i++)
            used |= part_of[i] == part;
        g_assert_true(used);
    }
    for (unsigned i = 0; i < nx * ny; i++)
        g_assert_cmpuint(part_of[i], <, parts);
    return parts;
}

static void groups_follow_reading_order(void) {
    uint32_t part_of[1024];
    g_assert_cmpuint(split(4, 4, 1, 1, NULL, part_of), ==, 16);
    g_assert_cmpuint(split(4, 4, 4, 1, NULL, part_of), ==, 4);
    g_assert_cmpuint(part_of[3], ==, 0);
    g_assert_cmpuint(part_of[4], ==, 1);
    g_assert_cmpuint(split(4, 4, 5, 1, NULL, part_of), ==, 4);
    g_assert_cmpuint(split(4, 4, 16, 1, NULL, part_of), ==, 1);
    g_assert_cmpuint(split(4, 4, 1000, 1, NULL, part_of), ==, 1);
    g_assert_cmpuint(split(4, 4, 0, 1, NULL, part_of), ==, 1);
    g_assert_cmpuint(split(4, 4, 0, 2, NULL, part_of), ==, 1); /* too small to share */
    g_assert_cmpuint(split(32, 32, 0, 2, NULL, part_of), ==, 2);
    g_assert_cmpuint(part_of[511], ==, 0);
    g_assert_cmpuint(part_of[512], ==, 1);
}

static void pinned_routers_are_part_0(void) {
    uint32_t part_of[16];
    bool pinned[16] = {[0] = true, [4] = true, [15] = true};
    g_assert_cmpuint(split(4, 4, 4, 1, pinned, part_of), ==, 1 + 4); /* 13 others */
    for (unsigned i = 0; i < 16; i++)
        g_assert_true((part_of[i] == 0) == pinned[i]);
    g_assert_cmpuint(split(4, 4, 16, 1, pinned, part_of), ==, 1);
    for (unsigned i = 0; i < 16; i++)
        pinned[i] = true;
    g_assert_cmpuint(split(4, 4, 1, 1, pinned, part_of), ==, 1);
}

/* Two parts stepped by hand in either order, with flits across the cut both ways and the far side slow to take them. */
struct end {
    struct flit_pool *pool;
    unsigned taken, slow;
    uint64_t hash;
};

static bool accepts(void *self, const struct flit *flit, cycle_t now) {
    (void)flit;
    const struct end *end = self;
    return now % end->slow == 0;
}

static void deliver(void *self, flit_index flit, cycle_t now) {
    struct end *end = self;
    end->taken++;
    end->hash = end->hash * 31 + now;
    flit_free(end->pool, flit);
}

/* True if the flit got in. */
static bool send(struct mesh *mesh, struct link_sink *way, unsigned x, cycle_t now) {
    struct flit_pool *pool = mesh_part_at(mesh, 3 - x, 1)->pool;
    flit_index index = flit_new(pool);
    *flit_at(pool, index) = (struct flit){.dst_x = (uint16_t)x, .dst_y = 1};
    bool accepted = way->accepts(way->self, flit_at(pool, index), now);
    if (accepted)
        way->deliver(way->self, index, now);
    else
        flit_free(pool, index);
    return accepted;
}

static uint64_t across_the_cut(const uint32_t *part_of, unsigned parts, bool backwards) {
    struct machine machine = bare_machine(2, 1);
    struct flit_pool pool;
    struct hazard_log hazards;
    struct mesh mesh;
    struct end ends[2];
    struct link_sink ways[2];
    uint64_t sent = 0;
    machine.noc.fifo_depth = 1;
    flit_pool_init(&pool);
    hazard_log_init(&hazards);
    mesh_init_parts(&mesh, &machine, &pool, &hazards, part_of, parts);
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = (struct end){.pool = mesh_part_at(&mesh, i + 1, 1)->pool, .slow = 1 + 2 * i};
        ways[i] = mesh_attach(&mesh, i + 1, 1, (struct link_sink){&ends[i], accepts, deliver});
    }
    for (cycle_t now = 0; now < 1000; now++) {
        sent = sent * 31 + now * send(&mesh, &ways[0], 2, now);
        if (now % 3)
            sent = sent * 31 + now * send(&mesh, &ways[1], 1, now);
        for (unsigned p = 0; p < parts; p++)
            mesh_part_step(&mesh.parts[backwards ? parts - 1 - p : p], now);
    }
    uint64_t live = pool.live, hash = ends[0].hash ^ ends[1].hash * 7 ^ sent;
    for (unsigned p = 1; p < parts; p++)
        live += mesh.parts[p].pool->live;
    g_assert_cmpuint(live, ==, mesh_held(&mesh));
    g_assert_cmpuint(ends[0].taken, >, 300);
    g_assert_cmpuint(ends[1].taken, >, 300);
    mesh_clear(&mesh);
    hazard_log_clear(&hazards);
    flit_pool_clear(&pool);
    return hash;
}

static void order_of_parts_is_free(void) {
    static const uint32_t together[] = {0, 0}, apart[] = {0, 1}, swapped[] = {1, 0};
    uint64_t hash = across_the_cut(together, 1, false);
    g_assert_cmphex(across_the_cut(apart, 2, false), ==, hash);
    g_assert_cmphex(across_the_cut(apart, 2, true), ==, hash);
    g_assert_cmphex(across_the_cut(swapped, 2, false), ==, hash);
}

static void one_way_flits_come_back(void) {
    struct flit_pool here, there;
    flit_pool_init(&here);
    flit_pool_init_shared(&there, &here);
    flit_index highest = 0;
    for (unsigned round = 0; round < 100000; round++) {
        flit_index flit = flit_new(&here);
        highest = MAX(highest, flit);
        flit_free(&there, flit);
    }
    g_assert_cmpuint(highest, <, 1u << FLIT_CHUNK_BITS); /* one chunk was enough */
    g_assert_cmpuint(here.live + there.live, ==, 0);
    flit_pool_clear(&there);
    flit_pool_clear(&here);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parts/groups_follow_reading_order", groups_follow_reading_order);
    g_test_add_func("/parts/pinned_routers_are_part_0", pinned_routers_are_part_0);
    g_test_add_func("/parts/order_of_parts_is_free", order_of_parts_is_free);
    g_test_add_func("/parts/one_way_flits_come_back", one_way_flits_come_back);
    return g_test_run();
}
