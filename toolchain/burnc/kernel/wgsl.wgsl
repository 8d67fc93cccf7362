// What WGSL lacks, a function a paragraph: the renderer takes those that a kernel calls, and those that these call.
// A 64-bit integer is vec2<u32>(low, high).

fn min_f32(a: f32, b: f32) -> f32 { return select(a, b, b < a); }

fn max_f32(a: f32, b: f32) -> f32 { return select(a, b, a < b); }

// Hides the bits from the compiler, which refuses constants that are infinite or no number.
fn float_of_bits(bits: u32) -> f32 { return bitcast<f32>(bits | no_bits); }

fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

// Correctly rounded, bit by bit; WGSL's own division may be off by 2.5 units in the last place, which a quantized result
// would show. What is not in the range of normal numbers is left to it.
fn divide_f32(a: f32, b: f32) -> f32 {
    let exponent_a = (bitcast<u32>(a) >> 23u) & 0xffu;
    let exponent_b = (bitcast<u32>(b) >> 23u) & 0xffu;
    let divisor = (bitcast<u32>(b) & 0x7fffffu) | 0x800000u;
    var rest = (bitcast<u32>(a) & 0x7fffffu) | 0x800000u;
    var exponent = i32(exponent_a) - i32(exponent_b) + 127;
    if (rest < divisor) {
        rest <<= 1u;
        exponent -= 1;
    }
    let special = exponent_a == 0u || exponent_a == 255u || exponent_b == 0u || exponent_b == 255u;
    if (special || exponent < 1 || exponent > 253) { return a / b; }
    var quotient = 0u;
    for (var i = 0; i < 25; i++) {
        quotient <<= 1u;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1u;
        }
        rest <<= 1u;
    }
    // 24 bits and one for rounding, which alone decides: no quotient of such numbers lies halfway.
    let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    return bitcast<f32>(sign | ((u32(exponent) << 23u) + ((quotient + 1u) >> 1u) - 0x800000u));
}

fn wide(x: i32) -> vec2<u32> { return vec2<u32>(u32(x), u32(x >> 31u)); }

fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn wide_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// Schoolbook, in halves of 16 bits.
fn product_of_unsigned(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 16u);
    let middle2 = a_low * b_high + (middle & 0xffffu);
    return vec2<u32>((middle2 << 16u) | (low & 0xffffu), a_high * b_high + (middle >> 16u) + (middle2 >> 16u));
}

fn product(a: i32, b: i32) -> vec2<u32> {
    let p = product_of_unsigned(u32(a), u32(b));
    return vec2<u32>(p.x, p.y - select(0u, u32(b), a < 0) - select(0u, u32(a), b < 0));
}

fn wide_multiply(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return product_of_unsigned(a.x, b.x) + vec2<u32>(0u, a.x * b.y + a.y * b.x);
}

fn wide_shift_left(a: vec2<u32>, n: u32) -> vec2<u32> {
    if (n == 0u) { return a; }
    if (n >= 32u) { return vec2<u32>(0u, a.x << (n - 32u)); }
    return vec2<u32>(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}

fn wide_shift_right(a: vec2<u32>, n: u32) -> vec2<u32> {
    let high = i32(a.y);
    if (n == 0u) { return a; }
    if (n >= 32u) { return vec2<u32>(u32(high >> (n - 32u)), u32(high >> 31u)); }
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), u32(high >> n));
}

fn wide_shift_right_unsigned(a: vec2<u32>, n: u32) -> vec2<u32> {
    if (n == 0u) { return a; }
    if (n >= 32u) { return vec2<u32>(a.y >> (n - 32u), 0u); }
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}

fn wide_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(i32(a.y) < i32(b.y), a.x < b.x, a.y == b.y);
}

fn wide_less_unsigned(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(a.y < b.y, a.x < b.x, a.y == b.y);
}

fn wide_min(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, wide_less(b, a)); }

fn wide_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, wide_less(a, b)); }

fn wide_min_unsigned(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, wide_less_unsigned(b, a)); }

fn wide_max_unsigned(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(a, b, wide_less_unsigned(a, b)); }

// Truncates; the limbs are exact, as a float has 24 bits.
fn wide_of_float(x: f32) -> vec2<u32> {
    let whole = trunc(abs(x));
    let high = floor(whole * 0x1p-32f);
    let magnitude = vec2<u32>(u32(whole - high * 0x1p+32f), u32(high));
    return select(magnitude, wide_subtract(vec2<u32>(0u, 0u), magnitude), x < 0.0f);
}

// Correctly rounded: what lies below the leading 32 bits counts only as more than nothing.
fn float_of_wide_unsigned(x: vec2<u32>) -> f32 {
    if (x.y == 0u) { return f32(x.x); }
    let zeros = countLeadingZeros(x.y);
    let leading = wide_shift_left(x, zeros);
    return f32(leading.y | u32(leading.x != 0u)) * f32(1u << (31u - zeros)) * 2.0f;
}

fn float_of_wide(x: vec2<u32>) -> f32 {
    if (i32(x.y) >= 0) { return float_of_wide_unsigned(x); }
    return -float_of_wide_unsigned(wide_subtract(vec2<u32>(0u, 0u), x));
}

// floor((a b + 2^30) / 2^31), saturated.
fn rounding_doubling_high_mul(a: i32, b: i32) -> i32 {
    let nudged = wide_add(product(a, b), vec2<u32>(0x40000000u, 0u));
    let high = i32((nudged.y << 1u) | (nudged.x >> 31u));
    return select(high, 0x7fffffff, a == b && u32(a) == 0x80000000u);
}

fn rounding_divide_by_pot(x: i32, exponent: i32) -> i32 {
    let mask = (1u << u32(exponent)) - 1u;
    let threshold = (mask >> 1u) + u32(x < 0);
    return (x >> u32(exponent)) + i32((u32(x) & mask) > threshold);
}

fn requantize(acc: i32, multiplier: i32, shift: i32) -> i32 {
    let left = max(shift, 0);
    return rounding_divide_by_pot(rounding_doubling_high_mul(acc << u32(left), multiplier), left - shift);
}

fn requantize_single(acc: i32, multiplier: i32, shift: i32) -> i32 {
    let right = u32(31 - shift);
    let half = wide_shift_left(vec2<u32>(1u, 0u), right - 1u);
    return i32(wide_shift_right(wide_add(product(acc, multiplier), half), right).x);
}

fn round_half_away(x: f32) -> f32 {
    let whole = trunc(x);
    return whole + select(0.0f, sign(x), abs(x - whole) >= 0.5f);
}

// As burnc_expf of runtime_c, which says why.
fn exp_f32(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    if (x > 88.7228394f) { return float_of_bits(0x7f800000u); }
    if (x < -104.0f) { return 0.0f; }
    let whole = round(x * 1.44269502f);
    let k = i32(whole);
    let r = (x - whole * 0.693145751953125f) - whole * 1.42860677e-6f;
    let p = 0.5f + r * (0.16666518f + r * (0.041666206f + r * (0.008368903f + r * 0.0013950515f)));
    let half = k / 2;
    let scaled = (1.0f + (r + r * r * p)) * bitcast<f32>(u32(half + 127) << 23u);
    return scaled * bitcast<f32>(u32(k - half + 127) << 23u);
}

// As burnc_logf.
fn log_f32(x: f32) -> f32 {
    var bits = bitcast<u32>(x);
    if (is_nan(x) || bits == 0x7f800000u) { return x; }
    if ((bits & 0x7fffffffu) == 0u) { return float_of_bits(0xff800000u); }
    if (bits > 0x7f800000u) { return float_of_bits(0x7fc00000u); }
    var k = -127;
    if (bits < 0x00800000u) {
        bits = bitcast<u32>(x * 8388608.0f);
        k -= 23;
    }
    bits += 0x3f800000u - 0x3f3504f3u;
    let exponent = f32(k + i32(bits >> 23u));
    let f = bitcast<f32>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    let s = f / (2.0f + f);
    let z = s * s;
    let series = z * (0.666666687f + z * (0.4f + z * (0.285714298f + z * 0.222222224f)));
    let half_square = 0.5f * f * f;
    let low = s * (half_square + series) + exponent * 1.42860677e-6f;
    return exponent * 0.693145751953125f - ((half_square - low) - f);
}

// As burnc_tanhf.
fn tanh_f32(x: f32) -> f32 {
    let magnitude = abs(x);
    if (is_nan(x) || magnitude < 0.000244140625f) { return x; }
    if (magnitude < 0.625f) {
        let z = x * x;
        let p = -0.33333263f + z * (0.13330899f + z * (-0.053692967f + z * (0.020483317f + z * -0.0055286335f)));
        return x + x * (z * p);
    }
    if (magnitude >= 9.5f) { return sign(x); }
    return sign(x) * (1.0f - 2.0f / (exp_f32(2.0f * magnitude) + 1.0f));
}

// As burnc_erff.
fn erf_f32(x: f32) -> f32 {
    let t = abs(x);
    if (is_nan(x)) { return x; }
    if (t >= 4.0f) { return sign(x); }
    let s = x * x;
    if (t > 0.927734375f) {
        let low = 2.42546219e-2f - 3.88396438e-3f * t;
        let p = ((3.83197126e-4f - 1.72853470e-5f * t) * s + low) * t - 1.06777877e-1f;
        return sign(x) * (1.0f - exp_f32((((p * t - 6.34846687e-1f) * t) - 1.28717512e-1f) * t - t));
    }
    let p = ((4.99119423e-3f - 5.96761703e-4f * s) * s - 2.67681349e-2f) * s + 1.12819925e-1f;
    return ((p * s - 3.76125336e-1f) * s + 1.28379166e-1f) * x + x;
}

// A magnitude's bits as a whole number and the power of two it is times of.
fn whole_and_power(magnitude: u32) -> vec2<u32> {
    let mantissa = magnitude & 0x7fffffu;
    return select(vec2<u32>(mantissa | 0x800000u, magnitude >> 23u), vec2<u32>(mantissa, 1u), magnitude < 0x800000u);
}

// As burnc_fmodf.
fn fmod_f32(x: f32, y: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    let dividend = bitcast<u32>(x) & 0x7fffffffu;
    let divisor = bitcast<u32>(y) & 0x7fffffffu;
    if (dividend >= 0x7f800000u || divisor > 0x7f800000u || divisor == 0u) { return float_of_bits(0x7fc00000u); }
    if (dividend < divisor) { return x; }
    let from_ = whole_and_power(dividend);
    let by = whole_and_power(divisor);
    var rest = from_.x % by.x;
    var exponent = by.y;
    for (var above = i32(from_.y) - i32(exponent); above > 0; above -= 8) {
        rest = (rest << u32(min(above, 8))) % by.x;
    }
    while (rest != 0u && rest < 0x800000u && exponent > 1u) {
        rest <<= 1u;
        exponent -= 1u;
    }
    if (rest >= 0x800000u) { rest = (rest & 0x7fffffu) | (exponent << 23u); }
    return bitcast<f32>(sign | rest);
}
