/* Open transfers by the handle of their request: open addressing with linear probing. A slot's key
 * says who owns it: EMPTY, BUSY (one thread fills or empties it), or a handle. Threads that call at
 * the same time take and give slots by compare-and-swap of the key alone. */
#include "internal.h"

enum { EMPTY = 0, BUSY = 1 };
enum { ONE, PERSISTENT, GROUP };
enum { INACTIVE, ACTIVE, ENDING };

/* Name spaces of keys: requests, groups, and slots that only a token or a group finds. */
#define REQUEST_KEY (UINT64_C(1) << 61)
#define GROUP_KEY (UINT64_C(2) << 61)
#define TOKEN_KEY (UINT64_C(3) << 61)
#define HANDLE_BITS (REQUEST_KEY - 1)

typedef struct slot {
    ix_open open;
    ix_transfer template; /* PERSISTENT: what each start begins */
    _Atomic uint64_t sequence;
    _Atomic uint32_t members; /* slot + 1 of the first of a group or of the partitions */
    uint32_t next;            /* in a list of members or of what ends with a call */
    int32_t tag;
    uint32_t operation; /* PERSISTENT: of the init call */
    _Atomic uint8_t kind;
    uint8_t state; /* PERSISTENT */
    _Atomic uint8_t duplicate;
} slot;

enum { SHARED_MAX = 64 };

static struct {
    _Atomic uint64_t *keys;
    slot *slots;
    _Atomic uint16_t *reach; /* how far from their home the keys of a home were ever put */
    uint32_t mask, capacity;
    _Atomic uint64_t live, sequence;
    uint64_t shared[SHARED_MAX];
    uint32_t shared_count;
    uint64_t shared_bits; /* of the handles in `shared` */
} table;

size_t ix_requests_bytes(uint32_t capacity)
{
    size_t slots = ix_power_of_two(2 * capacity);
    return slots * (sizeof(slot) + sizeof(uint64_t) + sizeof(uint16_t));
}

void ix_requests_start(void *memory, uint32_t capacity)
{
    uint32_t slots = ix_power_of_two(2 * capacity);
    table.mask = slots - 1;
    table.capacity = capacity;
    table.slots = memory;
    table.keys = (void *)(table.slots + slots);
    table.reach = (void *)(table.keys + slots);
    atomic_store(&table.live, 0);
    atomic_store(&table.sequence, 0);
    table.shared_count = 0;
    table.shared_bits = 0;
}

static uint32_t home_of(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & table.mask;
}

static uint64_t key_at(uint32_t i)
{
    return atomic_load_explicit(&table.keys[i], memory_order_acquire);
}

/* Become the owner of slot i, whose key is `key`. */
static int own(uint32_t i, uint64_t key)
{
    if (ix_engine.concurrent)
        return atomic_compare_exchange_strong_explicit(&table.keys[i], &key, BUSY,
                                                       memory_order_acq_rel, memory_order_relaxed);
    atomic_store_explicit(&table.keys[i], BUSY, memory_order_relaxed);
    return 1;
}

static void release(slot *s)
{
    atomic_store_explicit(&table.keys[s - table.slots], EMPTY, memory_order_release);
    ix_add(&table.live, UINT64_MAX);
}

static void extend_reach(uint32_t home, uint32_t distance)
{
    uint16_t known = atomic_load_explicit(&table.reach[home], memory_order_relaxed);
    uint16_t wanted = distance > UINT16_MAX ? UINT16_MAX : (uint16_t)distance;
    while (known < wanted &&
           !atomic_compare_exchange_weak_explicit(&table.reach[home], &known, wanted,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static uint32_t reach_of(uint32_t home)
{
    uint16_t reach = atomic_load_explicit(&table.reach[home], memory_order_acquire);
    return reach == UINT16_MAX ? table.mask : reach;
}

/* An owned slot near the home of `key`; NULL when the table is full. */
static slot *reserve(uint64_t key)
{
    if (atomic_load_explicit(&table.live, memory_order_relaxed) >= table.capacity)
        return NULL;
    ix_add(&table.live, 1);
    uint32_t home = home_of(key);
    for (uint32_t d = 0; d <= table.mask; d++) {
        uint32_t i = (home + d) & table.mask;
        if (key_at(i) == EMPTY && own(i, EMPTY)) {
            slot *s = table.slots + i;
            uint64_t order = atomic_load_explicit(&table.sequence, memory_order_relaxed);
            if (ix_engine.concurrent)
                order = atomic_fetch_add(&table.sequence, 1);
            else
                atomic_store_explicit(&table.sequence, order + 1, memory_order_relaxed);
            atomic_store_explicit(&s->sequence, order, memory_order_relaxed);
            atomic_store_explicit(&s->members, 0, memory_order_relaxed);
            atomic_store_explicit(&s->duplicate, 0, memory_order_relaxed);
            atomic_store_explicit(&s->kind, ONE, memory_order_relaxed);
            s->state = INACTIVE;
            s->next = 0;
            extend_reach(home, d);
            return s;
        }
    }
    ix_add(&table.live, UINT64_MAX);
    return NULL;
}

/* Let others find the slot. Whoever sees another slot of the same handle marks both. */
static void publish(slot *s, uint64_t key)
{
    uint32_t self = (uint32_t)(s - table.slots), home = home_of(key), reach = reach_of(home);
    atomic_store_explicit(&table.keys[self], key, memory_order_release);
    if (ix_engine.concurrent)
        atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t d = 0; d <= reach; d++) {
        uint32_t i = (home + d) & table.mask;
        if (i != self && key_at(i) == key) {
            atomic_store_explicit(&table.slots[i].duplicate, 1, memory_order_relaxed);
            atomic_store_explicit(&s->duplicate, 1, memory_order_relaxed);
        }
    }
}

/* The oldest slot of a key. */
static slot *find(uint64_t key)
{
    uint32_t home = home_of(key), reach = reach_of(home);
    slot *best = NULL;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t d = 0; d <= reach; d++) {
        uint32_t i = (home + d) & table.mask;
        if (key_at(i) != key)
            continue;
        slot *s = table.slots + i;
        uint64_t order = atomic_load_explicit(&s->sequence, memory_order_relaxed);
        if (order < best_order) {
            best_order = order;
            best = s;
        }
    }
    return best;
}

static int is_persistent(const slot *s)
{
    return atomic_load_explicit(&s->kind, memory_order_relaxed) == PERSISTENT;
}

/* find, and own what is not persistent. Until the slot is owned another thread may give it away:
 * then its key has changed. */
static slot *take(uint64_t key)
{
    for (;;) {
        slot *s = find(key);
        if (!s)
            return NULL;
        uint32_t i = (uint32_t)(s - table.slots);
        if (is_persistent(s)) {
            if (key_at(i) == key)
                return s;
        } else if (own(i, key)) {
            return s;
        }
    }
}

static uint64_t request_key(uint64_t handle)
{
    return (handle & HANDLE_BITS) | REQUEST_KEY;
}

/* ---- Begin */

static uint64_t shared_bit(uint64_t handle)
{
    return UINT64_C(1) << (ix_hash(handle) & 63);
}

static inline int is_shared(uint64_t handle)
{
    if (IX_LIKELY(!(table.shared_bits & shared_bit(handle))))
        return 0;
    for (uint32_t i = 0; i < table.shared_count; i++)
        if (table.shared[i] == handle)
            return 1;
    return 0;
}

void ix_shared_handle(uint64_t handle)
{
    if (table.shared_count == SHARED_MAX || is_shared(handle))
        return;
    table.shared[table.shared_count++] = handle;
    table.shared_bits |= shared_bit(handle);
}

void ix_begin(ix_thread *t, uint64_t handle, const ix_transfer *transfer)
{
    if (!ix_begins(t, transfer))
        return;
    if (is_shared(handle)) {
        ix_blocking(t, transfer);
        return;
    }
    uint64_t key = request_key(handle);
    slot *s = reserve(key);
    ix_open none, *open = s ? &s->open : &none;
    ix_open_transfer(t, transfer, t->operation, open);
    ix_note_begin(t, open);
    if (s)
        publish(s, key);
    else
        ix_close_unknown(t, open);
}

void ix_persistent(ix_thread *t, uint64_t handle, const ix_transfer *transfer)
{
    if (!ix_outermost(t))
        return;
    uint64_t key = request_key(handle);
    slot *s = reserve(key);
    if (!s) { /* its starts will not be seen */
        ix_count(&ix_engine.part->rank.overflow);
        return;
    }
    atomic_store_explicit(&s->kind, PERSISTENT, memory_order_relaxed);
    s->template = *transfer;
    s->operation = t->operation;
    publish(s, key);
}

void ix_start_request(ix_thread *t, uint64_t handle)
{
    slot *s = ix_outermost(t) ? find(request_key(handle)) : NULL;
    if (!s || !is_persistent(s) || s->state != INACTIVE || !ix_begins(t, &s->template))
        return;
    ix_open_transfer(t, &s->template, s->operation, &s->open);
    ix_note_begin(t, &s->open);
    s->state = ACTIVE;
}

/* ---- Groups */

static void add_member(slot *group, slot *s)
{
    uint32_t head = atomic_load_explicit(&group->members, memory_order_relaxed);
    do {
        s->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&group->members, &head,
                                                    (uint32_t)(s - table.slots) + 1,
                                                    memory_order_release, memory_order_relaxed));
}

static slot *group_slot(uint64_t group)
{
    uint64_t key = (group & HANDLE_BITS) | GROUP_KEY;
    slot *s = find(key);
    if (s)
        return s;
    s = find(request_key(group));
    if (s && is_persistent(s))
        return s;
    s = reserve(key);
    if (!s)
        return NULL;
    atomic_store_explicit(&s->kind, GROUP, memory_order_relaxed);
    publish(s, key);
    slot *first = find(key); /* another thread may have made the same group: the older one stays */
    if (first != s)
        release(s);
    return first;
}

void ix_begin_in_group(ix_thread *t, uint64_t group, int32_t tag, const ix_transfer *transfer)
{
    if (!ix_begins(t, transfer))
        return;
    slot *g = group_slot(group);
    uint64_t key =
        (atomic_load_explicit(&table.sequence, memory_order_relaxed) & HANDLE_BITS) | TOKEN_KEY;
    slot *s = g ? reserve(key) : NULL;
    ix_open none, *open = s ? &s->open : &none;
    ix_transfer alone = *transfer;
    alone.flags |= IX_CALL_ONLY;
    ix_open_transfer(t, &alone, g && is_persistent(g) ? g->operation : t->operation, open);
    ix_note_begin(t, open);
    if (!s) {
        ix_close_unknown(t, open);
        return;
    }
    s->tag = tag;
    add_member(g, s);
}

static void end_with_call(ix_thread *t, slot *s)
{
    s->next = t->finished;
    t->finished = (uint32_t)(s - table.slots) + 1;
}

static void end_members(ix_thread *t, slot *group, int32_t tag, uint8_t slack)
{
    uint32_t i = atomic_exchange_explicit(&group->members, 0, memory_order_acquire);
    while (i) {
        slot *s = table.slots + i - 1;
        i = s->next;
        if (tag == IX_ALL || s->tag == tag) {
            s->open.slack = ix_larger_slack(s->open.slack, slack);
            end_with_call(t, s);
        } else {
            add_member(group, s);
        }
    }
}

void ix_finish_group(ix_thread *t, uint64_t group, int32_t tag, enum ix_slack slack)
{
    if (!t || !t->depth || t->off)
        return;
    slot *g = find((group & HANDLE_BITS) | GROUP_KEY);
    if (g)
        end_members(t, g, tag, (uint8_t)slack);
}

/* ---- End */

void ix_finish(ix_thread *t, uint64_t handle, int64_t bytes, int path)
{
    slot *s = t && t->depth && !t->off ? take(request_key(handle)) : NULL;
    if (!s)
        return;
    if (is_persistent(s)) {
        end_members(t, s, IX_ALL, IX_SLACK_NONE);
        if (s->state != ACTIVE)
            return;
        s->state = ENDING;
    }
    if (s->open.flags & IX_UP_TO)
        ix_received(t, &s->open, bytes, path);
    end_with_call(t, s);
}

void ix_requests_close_finished(ix_thread *t, const ix_end *end)
{
    uint32_t i = t->finished;
    while (i) {
        slot *s = table.slots + i - 1;
        i = s->next;
        if (atomic_load_explicit(&s->duplicate, memory_order_relaxed))
            s->open.slack = IX_SLACK_UNKNOWN;
        if (s->open.flags & IX_UP_TO)
            ix_close_unknown(t, &s->open);
        else
            ix_close(t, &s->open, end);
        if (is_persistent(s))
            s->state = INACTIVE;
        else
            release(s);
    }
    t->finished = 0;
}

static void lose_members(ix_thread *t, slot *group)
{
    uint32_t i = atomic_exchange_explicit(&group->members, 0, memory_order_acquire);
    while (i) {
        slot *s = table.slots + i - 1;
        i = s->next;
        ix_close_unknown(t, &s->open);
        release(s);
    }
}

static void lose(ix_thread *t, slot *s, int cancelled)
{
    if (s->kind == ONE || s->state == ACTIVE) {
        s->open.unsized |= (uint8_t)cancelled;
        ix_close_unknown(t, &s->open);
        s->state = INACTIVE;
    }
    lose_members(t, s);
}

void ix_request_free(ix_thread *t, uint64_t handle)
{
    slot *s = t && t->depth && !t->off ? take(request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 0);
    release(s);
}

void ix_cancel(ix_thread *t, uint64_t handle)
{
    slot *s = t && t->depth && !t->off ? take(request_key(handle)) : NULL;
    if (!s)
        return;
    lose(t, s, 1);
    if (s->kind == ONE)
        release(s);
}

/* What is open when measuring stops. */
void ix_requests_stop(ix_thread *t)
{
    for (uint32_t i = 0; i <= table.mask; i++) {
        slot *s = table.slots + i;
        uint64_t key = key_at(i);
        /* a member of a group and a posted transfer stay BUSY: nobody finds them by a key */
        if (key != EMPTY && (s->kind == ONE || s->state == ACTIVE))
            ix_close_unknown(t, &s->open);
    }
}

/* ---- Sources inside the library */

/* Clocks of this thread at `time_ns`. */
static ix_end at(const ix_thread *t, int64_t time_ns)
{
    int64_t now = ix_now();
    int64_t since = ix_most(0, ix_least(time_ns, now) - t->last_ns);
    int in_call = t->depth > 0 && !t->unrecorded;
    ix_end end = {t->compute_ns, t->call_ns, t->paused_ns, 0, time_ns};
    if (t->muted || t->unrecorded) {
        end.paused_ns += since;
    } else if (in_call) {
        end.call_ns += since;
        end.in_call_ns = since;
    } else {
        end.compute_ns += since;
    }
    return end;
}

/* Another thread paused or resumed since this one's last boundary: its clocks are stale. */
static int stale(ix_thread *t)
{
    if (t->epoch == atomic_load_explicit(&ix_share.epoch, memory_order_relaxed))
        return 0;
    if (t->depth)
        return 1;
    t->compute_ns += ix_unpaused(t, ix_now());
    return 0;
}

/* After a begin or an end outside calls: the next call has nothing to do with it, and no call
 * covers what may have moved outside. */
static void outside_calls(ix_thread *t)
{
    if (t->depth)
        return;
    if (t->outside_ns)
        ix_add(&ix_share.debt_ns, (uint64_t)t->outside_ns);
    t->outside_ns = 0;
    t->moving_min_ns = 0;
    t->begun_here_ns = 0;
    t->touched = 0;
}

uint32_t ix_post(ix_thread *t, const ix_transfer *transfer, int64_t time_ns, enum ix_source source)
{
    if (!t || transfer->bytes <= 0 || transfer->path == IX_PATH_NONE)
        return 0;
    int unsure = stale(t);
    if (t->off)
        return 0;
    uint64_t key =
        (atomic_load_explicit(&table.sequence, memory_order_relaxed) & HANDLE_BITS) | TOKEN_KEY;
    slot *s = reserve(key);
    ix_open none, *open = s ? &s->open : &none;
    if (!t->depth)
        t->site = 0;
    ix_open_transfer(t, transfer, t->operation, open);
    ix_end begin = at(t, time_ns);
    open->compute0_ns = begin.compute_ns;
    open->call0_ns = begin.call_ns;
    open->paused0_ns = begin.paused_ns;
    open->source = (uint8_t)source;
    open->silent = t->muted;
    if (unsure)
        open->slack = IX_SLACK_UNKNOWN;
    if (!s)
        ix_close_unknown(t, open);
    outside_calls(t);
    return s ? (uint32_t)(s - table.slots) + 1 : 0;
}

void ix_complete(ix_thread *t, uint32_t token, int64_t time_ns, int64_t bytes, enum ix_slack slack,
                 enum ix_source source)
{
    if (!t || !token || t->off)
        return;
    slot *s = table.slots + token - 1;
    int unsure = stale(t);
    ix_open *open = &s->open;
    open->slack = unsure ? IX_SLACK_UNKNOWN : ix_larger_slack(open->slack, (uint8_t)slack);
    if (source < open->source)
        open->source = (uint8_t)source;
    uint8_t silent = open->silent;
    ix_received(t, open, bytes, IX_AS_POSTED);
    open->silent = silent;
    ix_end end = at(t, time_ns);
    if (open->flags & IX_UP_TO)
        ix_close_unknown(t, open);
    else
        ix_close(t, open, &end);
    release(s);
    outside_calls(t);
}
