/* The flit pool; see flit.h. */
#include "model/flit.h"

void flit_pool_init(struct flit_pool *pool) {
    *pool = (struct flit_pool){.free_head = FLIT_NONE};
}

void flit_pool_clear(struct flit_pool *pool) {
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        g_free(pool->chunks[i]);
    g_free(pool->chunks);
    flit_pool_init(pool);
}

void flit_pool_grow(struct flit_pool *pool) {
    const uint32_t size = 1u << FLIT_CHUNK_BITS;
    if (pool->chunk_count == pool->chunk_room) {
        pool->chunk_room = pool->chunk_room ? 2 * pool->chunk_room : 4;
        pool->chunks = g_renew(struct flit *, pool->chunks, pool->chunk_room);
    }
    struct flit *chunk = g_new(struct flit, size);
    flit_index base = pool->chunk_count << FLIT_CHUNK_BITS;
    for (uint32_t i = 0; i < size; i++)
        chunk[i].next_free = i + 1 < size ? base + i + 1 : pool->free_head;
    pool->chunks[pool->chunk_count++] = chunk;
    pool->free_head = base;
}
