// SPDX-License-Identifier: Apache-2.0
/* Compiled twice, by the host's compiler and for RV32IM, and run twice: the results must be the same. Everything is
 * defined by C and IEEE 754; on RV32IM, doubles and 64-bit divisions are the compiler's own library code. */
#include <stdint.h>

#include "compute.h"

static uint32_t random_state;

static uint32_t random_word(void) { /* xorshift32 */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static uint32_t rotated(uint32_t x, unsigned by) {
    return x >> by | x << (32 - by);
}

/* SHA-256 (FIPS 180-4) of one padded block. Its constants are the first bits of roots of primes: made here. */
static uint32_t root_bits(uint32_t prime, int cubic) {
    /* floor(root(prime) * 2^32), bit by bit: the largest r with r^2 <= prime * 2^64 or r^3 <= prime * 2^96. */
    uint64_t root = 0;
    int bit;
    for (bit = 35; bit >= 0; --bit) {
        const uint64_t r = root | (uint64_t)1 << bit;
        /* Products in limbs of 32 bits. */
        uint32_t value[4] = {(uint32_t)r, (uint32_t)(r >> 32), 0, 0};
        int times, i, j;
        for (times = cubic ? 2 : 1; times > 0; --times) {
            uint32_t product[6] = {0};
            for (i = 0; i < 4; ++i) {
                uint64_t carry = 0;
                for (j = 0; j < 2; ++j) {
                    const uint64_t sum =
                        (uint64_t)value[i] * (j == 0 ? (uint32_t)r : (uint32_t)(r >> 32)) + product[i + j] + carry;
                    product[i + j] = (uint32_t)sum;
                    carry = sum >> 32;
                }
                product[i + 2] += (uint32_t)carry;
            }
            for (i = 0; i < 4; ++i) value[i] = product[i];
        }
        {
            const uint32_t high = value[cubic ? 3 : 2];
            const uint32_t rest = cubic ? value[0] | value[1] | value[2] : value[0] | value[1];
            const uint32_t above = cubic ? 0 : value[3];
            if (above == 0 && (high < prime || (high == prime && rest == 0))) root = r;
        }
    }
    return (uint32_t)root;
}

static void sha256(const uint8_t block[64], uint32_t hash[8]) {
    static uint32_t k[64];
    uint32_t w[64], v[8];
    uint32_t prime = 2;
    int found = 0, i;
    while (found < 64) {
        uint32_t divisor = 2;
        while (divisor * divisor <= prime && prime % divisor != 0) ++divisor;
        if (divisor * divisor > prime) {
            k[found] = root_bits(prime, 1);
            if (found < 8) hash[found] = root_bits(prime, 0);
            ++found;
        }
        ++prime;
    }
    for (i = 0; i < 16; ++i)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (i = 16; i < 64; ++i) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    for (i = 0; i < 8; ++i) v[i] = hash[i];
    for (i = 0; i < 64; ++i) {
        const uint32_t t1 = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
                            ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        const uint32_t t2 = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) +
                            ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + t1;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = t1 + t2;
    }
    for (i = 0; i < 8; ++i) hash[i] += v[i];
}

static void sort(int16_t* values, int count) {
    int i, j;
    for (i = 1; i < count; ++i) {
        const int16_t value = values[i];
        for (j = i; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
        values[j] = value;
    }
}

static uint32_t mix(uint32_t sum, uint64_t value) {
    return (rotated(sum, 5) ^ (uint32_t)value) * 2654435761u + (uint32_t)(value >> 32);
}

void compute(uint32_t* results) {
    uint8_t block[64] = {'a', 'b', 'c', 0x80};
    int16_t values[100];
    uint32_t sum = 0;
    int i;
    block[63] = 24; /* bits of the message */
    sha256(block, results);
    results += 8;

    random_state = 0x2545F491;
    for (i = 0; i < 100; ++i) values[i] = (int16_t)random_word();
    sort(values, 100);
    for (i = 0; i < 100; ++i) sum = mix(sum, (uint64_t)(int64_t)values[i]);
    *results++ = sum;

    for (i = 0; i < 200; ++i) { /* 32 and 64 bits, signed and unsigned; divisors are not zero */
        /* One call a statement: the order of two in an expression is the compiler's. */
        const uint64_t high = random_word(), low = random_word(), by = random_word();
        const uint64_t divisor_high = random_word(), divisor_low = random_word();
        const uint64_t a = high << (by & 31) << 1 | low;
        const uint64_t b = (divisor_high << 32 | divisor_low) >> (by >> 8 & 63) | 1;
        const int64_t sa = (int64_t)(a >> 1), sb = -(int64_t)(b >> 1) - 1;
        const uint32_t c = (uint32_t)a, d = (uint32_t)b;
        const int32_t sc = (int32_t)(c >> 1), sd = -(int32_t)(d >> 1) - 1;
        sum = mix(sum, a + b);
        sum = mix(sum, a * b);
        sum = mix(sum, a / b);
        sum = mix(sum, a % b);
        sum = mix(sum, (uint64_t)(sa / sb));
        sum = mix(sum, (uint64_t)(sa % sb));
        sum = mix(sum, c / d);
        sum = mix(sum, c % d);
        sum = mix(sum, (uint64_t)(int64_t)(sc / sd));
        sum = mix(sum, (uint64_t)(int64_t)(sc % sd));
        sum = mix(sum, (uint64_t)(sc < sd) << 3 | (uint64_t)(c < d) << 2 | (uint64_t)(sa < sb) << 1 | (a < b));
        sum = mix(sum, (uint64_t)(sa >> (d & 63)));
        *results++ = sum;
    }

    {
        double x = 0.5, series = 0;
        for (i = 1; i <= 100; ++i) { /* each operation is rounded once, everywhere */
            const double term = x / i;
            series = series + (i % 2 ? term : -term);
            x = x * 0.984375 + 0.0078125;
            sum = mix(sum, (uint64_t)(series * 1e15));
        }
        sum = mix(sum, (uint64_t)(int64_t)(-series * 1e9));
        *results++ = sum;
    }
}
