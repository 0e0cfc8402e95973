/* SHA-512 (FIPS 180-4) of up to eight messages of one length, side by side.
 *
 * SHA-512 of one message is a chain of small steps, so a processor works on one of them at a time however many it could
 * do. Here each step is done for eight messages at once, one in each 64-bit lane of AVX-512's registers: four times as
 * many bytes in a second on one core.
 *
 * Optional: `checksum.py` uses hashlib where this was not built or the processor lacks the registers. What it must keep:
 * the same digests as hashlib, which tests/format/blocks/test_checksum.py compares, and no lock of the interpreter while it works.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 8, WORDS = 8, ROUNDS = 80, CHUNK = 128, DIGEST = 64, LENGTH_FIELD = 16 };

#define WIDE __attribute__((target("avx512f,avx512bw")))
#define WIDE_INLINE static inline __attribute__((always_inline)) WIDE

/* One 64-bit word of each message. */
typedef __m512i lanes;

static const uint64_t INITIAL[WORDS] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const uint64_t CONSTANTS[ROUNDS] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

WIDE_INLINE lanes add(lanes x, lanes y) { return _mm512_add_epi64(x, y); }
/* The last argument of a ternary operation is its truth table. */
WIDE_INLINE lanes xor3(lanes x, lanes y, lanes z) { return _mm512_ternarylogic_epi64(x, y, z, 0x96); }
WIDE_INLINE lanes choose(lanes x, lanes y, lanes z) { return _mm512_ternarylogic_epi64(x, y, z, 0xca); }
WIDE_INLINE lanes majority(lanes x, lanes y, lanes z) { return _mm512_ternarylogic_epi64(x, y, z, 0xe8); }
#define RIGHT(x, n) _mm512_ror_epi64(x, n)

WIDE_INLINE lanes big_sigma0(lanes x) { return xor3(RIGHT(x, 28), RIGHT(x, 34), RIGHT(x, 39)); }
WIDE_INLINE lanes big_sigma1(lanes x) { return xor3(RIGHT(x, 14), RIGHT(x, 18), RIGHT(x, 41)); }
WIDE_INLINE lanes sigma0(lanes x) { return xor3(RIGHT(x, 1), RIGHT(x, 8), _mm512_srli_epi64(x, 7)); }
WIDE_INLINE lanes sigma1(lanes x) { return xor3(RIGHT(x, 19), RIGHT(x, 61), _mm512_srli_epi64(x, 6)); }

/* Eight words of each of eight messages become eight messages of each of eight words. */
WIDE_INLINE void transpose(lanes row[LANES]) {
    lanes pair[LANES], quad[LANES];
    for (int i = 0; i < LANES; i += 2) {
        pair[i] = _mm512_unpacklo_epi64(row[i], row[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int j = i; j < i + 2; j++) {
            quad[j] = _mm512_shuffle_i64x2(pair[j], pair[j + 2], 0x88);
            quad[j + 2] = _mm512_shuffle_i64x2(pair[j], pair[j + 2], 0xdd);
        }
    for (int i = 0; i < 4; i++) {
        row[i] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0x88);
        row[i + 4] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0xdd);
    }
}

/* Half a chunk of every message, its words in the processor's own order of bytes. */
WIDE_INLINE void load(lanes word[8], const uint8_t *const message[LANES], size_t at) {
    const lanes swap = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    for (int lane = 0; lane < LANES; lane++)
        word[lane] = _mm512_shuffle_epi8(_mm512_loadu_si512(message[lane] + at), swap);
    transpose(word);
}

/* One round. The letters move on by one from call to call, so that no register has to. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
    do {                                                                                                               \
        if (round)                                                                                                     \
            w[i] = add(add(w[i], sigma0(w[(i + 1) & 15])), add(w[(i + 9) & 15], sigma1(w[(i + 14) & 15])));            \
        h = add(add(h, big_sigma1(e)), add(choose(e, f, g), add(w[i], _mm512_set1_epi64(CONSTANTS[round + i]))));      \
        d = add(d, h);                                                                                                 \
        h = add(h, add(big_sigma0(a), majority(a, b, c)));                                                             \
    } while (0)

#define EIGHT_ROUNDS(i)                                                                                                \
    do {                                                                                                               \
        ROUND(a, b, c, d, e, f, g, h, i);                                                                              \
        ROUND(h, a, b, c, d, e, f, g, i + 1);                                                                          \
        ROUND(g, h, a, b, c, d, e, f, i + 2);                                                                          \
        ROUND(f, g, h, a, b, c, d, e, i + 3);                                                                          \
        ROUND(e, f, g, h, a, b, c, d, i + 4);                                                                          \
        ROUND(d, e, f, g, h, a, b, c, i + 5);                                                                          \
        ROUND(c, d, e, f, g, h, a, b, i + 6);                                                                          \
        ROUND(b, c, d, e, f, g, h, a, i + 7);                                                                          \
    } while (0)

static WIDE void take_chunks(lanes state[WORDS], const uint8_t *const message[LANES], size_t length) {
    for (size_t at = 0; at < length; at += CHUNK) {
        lanes w[16];
        load(w, message, at);
        load(w + 8, message, at + CHUNK / 2);
        lanes a = state[0], b = state[1], c = state[2], d = state[3];
        lanes e = state[4], f = state[5], g = state[6], h = state[7];
        for (int round = 0; round < ROUNDS; round += 16) {
            EIGHT_ROUNDS(0);
            EIGHT_ROUNDS(8);
        }
        const lanes after[WORDS] = {a, b, c, d, e, f, g, h};
        for (int i = 0; i < WORDS; i++) state[i] = add(state[i], after[i]);
    }
}

static WIDE void digest_lanes(const uint8_t *const message[LANES], size_t length, uint8_t digest[LANES][DIGEST]) {
    lanes state[WORDS];
    for (int i = 0; i < WORDS; i++) state[i] = _mm512_set1_epi64(INITIAL[i]);
    const size_t whole = length / CHUNK * CHUNK, left = length - whole;
    take_chunks(state, message, whole);

    /* What is left, one bit, zeros, and the length in bits: one chunk, or two where one is too short for that. */
    uint8_t last[LANES][2 * CHUNK] = {{0}};
    const uint8_t *lasts[LANES];
    const size_t end = left + 1 + LENGTH_FIELD <= CHUNK ? CHUNK : 2 * CHUNK;
    const uint64_t bits = __builtin_bswap64((uint64_t)length * 8);
    for (int lane = 0; lane < LANES; lane++) {
        memcpy(last[lane], message[lane] + whole, left);
        last[lane][left] = 0x80;
        memcpy(last[lane] + end - sizeof bits, &bits, sizeof bits);
        lasts[lane] = last[lane];
    }
    take_chunks(state, lasts, end);

    uint64_t word[WORDS][LANES];
    for (int i = 0; i < WORDS; i++) _mm512_storeu_si512(word[i], state[i]);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < WORDS; i++) {
            const uint64_t turned = __builtin_bswap64(word[i][lane]);
            memcpy(digest[lane] + i * sizeof turned, &turned, sizeof turned);
        }
}

static int has_wide_registers(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

static PyObject *digests_of(const Py_buffer *views, Py_ssize_t count) {
    const uint8_t *message[LANES];
    uint8_t digest[LANES][DIGEST];
    for (int lane = 0; lane < LANES; lane++) {
        /* Lanes that nobody needs do the first message once more: all of them run anyway. */
        message[lane] = views[lane < count ? lane : 0].buf;
        if (views[lane < count ? lane : 0].len != views[0].len) {
            PyErr_SetString(PyExc_ValueError, "the messages must all have one length");
            return NULL;
        }
    }
    Py_BEGIN_ALLOW_THREADS;
    digest_lanes(message, (size_t)views[0].len, digest);
    Py_END_ALLOW_THREADS;
    return PyBytes_FromStringAndSize((const char *)digest, count * DIGEST);
}

static PyObject *digests(PyObject *Py_UNUSED(module), PyObject *messages) {
    if (!PyList_Check(messages)) {
        PyErr_SetString(PyExc_TypeError, "a list of messages is needed");
        return NULL;
    }
    const Py_ssize_t count = PyList_Size(messages);
    if (count < 1 || count > LANES || !has_wide_registers()) {
        PyErr_Format(PyExc_ValueError, "%zd messages, or this processor, cannot be dealt with", count);
        return NULL;
    }
    Py_buffer views[LANES];
    PyObject *result = NULL;
    Py_ssize_t held = 0;
    while (held < count && PyObject_GetBuffer(PyList_GetItem(messages, held), &views[held], PyBUF_SIMPLE) == 0) held++;
    if (held == count) result = digests_of(views, count);
    while (held > 0) PyBuffer_Release(&views[--held]);
    return result;
}

static PyMethodDef METHODS[] = {
    {"digests", digests, METH_O, "The SHA-512 digests of one to LANES messages of one length, one behind the other."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, .m_name = "_sha512_lanes", .m_size = 0, .m_methods = METHODS};

PyMODINIT_FUNC PyInit__sha512_lanes(void) {
    PyObject *module = PyModule_Create(&MODULE);
    /* None of them where the processor cannot do it. */
    if (module && PyModule_AddIntConstant(module, "LANES", has_wide_registers() ? LANES : 0) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
