/* The flit pools; see flit.h. A batch is a list of FLIT_BATCH free flits; the store keeps batches by their first flit.
 */
#include "model/flit.h"

#include <glib.h>

enum {
    STORE_CHUNKS = 1 << 18, /* 2^30 flits; the table's unused pages cost nothing */
};

struct flit_store {
    GMutex lock;
    struct flit **chunks;
    uint32_t chunk_count;
    GArray *batches; /* of flit_index */
};

void flit_pool_init(struct flit_pool *pool) {
    struct flit_store *store = g_new0(struct flit_store, 1);
    g_mutex_init(&store->lock);
    store->chunks = g_new0(struct flit *, STORE_CHUNKS);
    store->batches = g_array_new(FALSE, FALSE, sizeof(flit_index));
    *pool = (struct flit_pool){
        .chunks = store->chunks, .store = store, .owner = true, .free_head = FLIT_NONE, .spare = FLIT_NONE};
}

void flit_pool_init_shared(struct flit_pool *pool, const struct flit_pool *first) {
    *pool =
        (struct flit_pool){.chunks = first->chunks, .store = first->store, .free_head = FLIT_NONE, .spare = FLIT_NONE};
}

void flit_pool_clear(struct flit_pool *pool) {
    struct flit_store *store = pool->store;
    if (pool->owner) {
        for (uint32_t i = 0; i < store->chunk_count; i++)
            g_free(store->chunks[i]);
        g_free(store->chunks);
        g_array_unref(store->batches);
        g_mutex_clear(&store->lock);
        g_free(store);
    }
    *pool = (struct flit_pool){.free_head = FLIT_NONE, .spare = FLIT_NONE};
}

/* Adds a chunk to the store, cut into batches. */
static void grow(struct flit_store *store) {
    const uint32_t size = 1u << FLIT_CHUNK_BITS;
    if (store->chunk_count == STORE_CHUNKS)
        g_error("more than 2^30 flits are in use at once");
    struct flit *chunk = g_new(struct flit, size);
    flit_index base = store->chunk_count << FLIT_CHUNK_BITS;
    for (uint32_t i = 0; i < size; i++)
        chunk[i].next_free = (i + 1) % FLIT_BATCH ? base + i + 1 : FLIT_NONE;
    store->chunks[store->chunk_count++] = chunk;
    for (uint32_t i = size; i > 0; i -= FLIT_BATCH) {
        flit_index first = base + i - FLIT_BATCH;
        g_array_append_val(store->batches, first);
    }
}

void flit_pool_refill(struct flit_pool *pool) {
    pool->free_head = pool->spare;
    pool->spare = FLIT_NONE;
    if (pool->free_head == FLIT_NONE) {
        struct flit_store *store = pool->store;
        g_mutex_lock(&store->lock);
        if (!store->batches->len)
            grow(store);
        guint last = store->batches->len - 1;
        pool->free_head = g_array_index(store->batches, flit_index, last);
        g_array_set_size(store->batches, last);
        g_mutex_unlock(&store->lock);
    }
    pool->free_count = FLIT_BATCH;
}

void flit_pool_spill(struct flit_pool *pool) {
    flit_index full = pool->free_head;
    pool->free_head = FLIT_NONE;
    pool->free_count = 0;
    if (pool->spare != FLIT_NONE) {
        g_mutex_lock(&pool->store->lock);
        g_array_append_val(pool->store->batches, pool->spare);
        g_mutex_unlock(&pool->store->lock);
    }
    pool->spare = full;
}
