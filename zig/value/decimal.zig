//! Exact decimals of any length: what every value comparison and every sum in the engine is computed with. Used by
//! match/ and breaks/ for `auto` columns, and by number_format.zig and tolerance.zig for declared ones.
//!
//! The functions on plain decimals work on the bytes of the two fields and never allocate. `Decimal` holds limbs in
//! base 10^18 that are aligned to the decimal point, so that adding, comparing and printing need no multiplication by
//! powers of ten and stay linear in the digits; up to four limbs (18 digits and more) live inside the value itself.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Order = std.math.Order;

const base_digits = 18;
const base: u64 = 1_000_000_000_000_000_000;
const inline_limbs = 4;

const powers_of_ten: [base_digits + 1]u64 = table: {
    var powers: [base_digits + 1]u64 = undefined;
    powers[0] = 1;
    for (1..powers.len) |index| powers[index] = powers[index - 1] * 10;
    break :table powers;
};

/// Whether `text` is a plain decimal: an optional `-` or `+`, digits without a superfluous leading zero, and optionally
/// `.` with at least one digit. No blanks, no exponent.
pub fn isPlain(text: []const u8) bool {
    const digits = unsigned(text);
    return if (Block.fits(digits)) Block.load(digits).isPlain() else pointOf(digits) != null;
}

/// Whether both are plain decimals and numerically equal; `-0` equals `0`.
pub fn equalPlain(a: []const u8, b: []const u8) bool {
    const left = unsigned(a);
    const right = unsigned(b);
    const shorter, const longer = if (left.len <= right.len) .{ left, right } else .{ right, left };
    const same_sign = isMinus(a) == isMinus(b);
    // Without superfluous leading zeros equal numbers differ in sign and trailing zeros only, so one starts the other.
    if (Block.fits(shorter) and Block.fits(longer)) return Block.equal(.load(shorter), .load(longer), same_sign);
    if (!std.mem.startsWith(u8, longer, shorter)) return false;
    if (shorter.len == 0 or shorter[shorter.len - 1] == '.') return false;
    const point = pointOf(longer) orelse return false;
    return shorter.len >= point and isAllZeros(longer[shorter.len..]) and (same_sign or isAllZeros(shorter));
}

/// A plain decimal of 1 to 16 bytes without its sign, looked at all at once: each mask has a bit per byte. Loops over a
/// few bytes would cost a mispredicted branch each, and `equalPlain` runs for every pair of differing bytes.
const Block = struct {
    bytes: @Vector(width, u8),
    occupied: Mask,
    digits: Mask,
    zeros: Mask,
    points: Mask,

    const width = 16;
    const Mask = u16;

    fn fits(text: []const u8) bool {
        return text.len -% 1 < width;
    }

    fn load(text: []const u8) Block {
        const bytes: @Vector(width, u8) = @bitCast(read(text));
        const occupied = @as(Mask, std.math.maxInt(Mask)) >> @intCast(width - text.len);
        return .{
            .bytes = bytes,
            .occupied = occupied,
            .digits = occupied & mask(bytes -% splat('0') <= splat(9)),
            .zeros = occupied & mask(bytes == splat('0')),
            .points = occupied & mask(bytes == splat('.')),
        };
    }

    /// Overlapping reads instead of a loop; nothing outside the text is touched.
    fn read(text: []const u8) [width]u8 {
        const len = text.len;
        if (len < 4) return .{ text[0], if (len > 1) text[1] else 0, text[len - 1] } ++ .{0} ** (width - 3);
        // From 8 bytes on each end is 8 bytes long, below that 4; one code for both has no branch to mispredict.
        const step: usize = @as(usize, @intFromBool(len >= 8)) * 4;
        const start = word(text, 0) | word(text, step) << @intCast(step * 8);
        const end = word(text, len - 4 - step) | word(text, len - 4) << @intCast(step * 8);
        return @bitCast(std.mem.nativeToLittle(u128, start | @as(u128, end) << @intCast((len - 4 - step) * 8)));
    }

    fn word(text: []const u8, offset: usize) u64 {
        return std.mem.readInt(u32, text[offset..][0..4], .little);
    }

    fn isPlain(block: Block) bool {
        const last = block.occupied ^ block.occupied >> 1;
        const no_stray_byte = block.digits | block.points == block.occupied;
        const one_point_at_most = block.points & (block.points -% 1) == 0;
        const point_between_digits = block.points & (last | 1) == 0;
        const no_leading_zero = block.zeros & 1 & block.digits >> 1 == 0;
        return allOf(.{ no_stray_byte, one_point_at_most, point_between_digits, no_leading_zero });
    }

    fn equal(shorter: Block, longer: Block, same_sign: bool) bool {
        const tail = longer.occupied ^ shorter.occupied;
        const is_start = mask(shorter.bytes == longer.bytes) | ~shorter.occupied == std.math.maxInt(Mask);
        const ends_in_digit = shorter.points & ~(shorter.occupied >> 1) == 0;
        const tail_is_zero = tail & ~(longer.zeros | longer.points) == 0;
        // The point is in the shorter one or comes right behind it; only then are the zeros of the tail decimals.
        const tail_is_fraction = tail == 0 or longer.points & (shorter.occupied << 1 | 1) != 0;
        const signs_agree = same_sign or shorter.digits == shorter.zeros;
        return allOf(.{ is_start, ends_in_digit, tail_is_zero, tail_is_fraction, signs_agree, longer.isPlain() });
    }

    /// `and` over values that are all there already, without branches.
    fn allOf(conditions: anytype) bool {
        var result: u1 = 1;
        inline for (conditions) |condition| result &= @intFromBool(condition);
        return result != 0;
    }

    fn mask(lanes: @Vector(width, bool)) Mask {
        return @bitCast(lanes);
    }

    fn splat(byte: u8) @Vector(width, u8) {
        return @splat(byte);
    }
};

/// The numeric order of two plain decimals.
pub fn orderPlain(a: []const u8, b: []const u8) Order {
    const left = unsigned(a);
    const right = unsigned(b);
    const magnitudes = orderMagnitudes(left, right);
    if (isMinus(a) == isMinus(b)) return if (isMinus(a)) magnitudes.invert() else magnitudes;
    if (isAllZeros(left) and isAllZeros(right)) return .eq;
    return if (isMinus(a)) .lt else .gt;
}

fn orderMagnitudes(left: []const u8, right: []const u8) Order {
    const left_point = std.mem.findScalar(u8, left, '.') orelse left.len;
    const right_point = std.mem.findScalar(u8, right, '.') orelse right.len;
    if (left_point != right_point) return std.math.order(left_point, right_point);
    const common = @min(left.len, right.len);
    const order = std.mem.order(u8, left[0..common], right[0..common]);
    if (order != .eq) return order;
    if (!isAllZeros(left[common..])) return .gt;
    return if (isAllZeros(right[common..])) .eq else .lt;
}

fn isMinus(text: []const u8) bool {
    return text.len > 0 and text[0] == '-';
}

fn unsigned(text: []const u8) []const u8 {
    return if (text.len > 0 and (text[0] == '-' or text[0] == '+')) text[1..] else text;
}

/// Of digits with at most a point among them.
fn isAllZeros(digits: []const u8) bool {
    for (digits) |byte| if (byte > '0') return false;
    return true;
}

/// Where the integer digits of a plain decimal without its sign end; null if it is not one.
fn pointOf(text: []const u8) ?usize {
    var point: usize = 0;
    while (point < text.len and isDigit(text[point])) point += 1;
    if (point == 0 or (text[0] == '0' and point > 1)) return null;
    if (point == text.len) return point;
    if (text[point] != '.' or point + 1 == text.len) return null;
    for (text[point + 1 ..]) |byte| if (!isDigit(byte)) return null;
    return point;
}

fn isDigit(byte: u8) bool {
    return byte -% '0' <= 9;
}

/// A number of at most 18 digits, `mantissa` times 10^-`places`: what nearly every value is.
pub const Short = struct {
    mantissa: i64,
    places: u8,

    const max_digits = 18;

    /// Optional sign, digits, at most one point; null for anything else and for more digits.
    pub fn parse(text: []const u8) ?Short {
        if (text.len == 0 or text.len > max_digits + 2) return null;
        const is_signed = text[0] == '-' or text[0] == '+';
        var mantissa: i64 = 0;
        var digits: u8 = 0;
        var point: ?u8 = null;
        for (text[@intFromBool(is_signed)..]) |byte| {
            const digit = byte -% '0';
            if (digit <= 9) {
                mantissa = mantissa *% 10 +% digit;
                digits += 1;
            } else if (byte == '.' and point == null) {
                point = digits;
            } else return null;
        }
        if (digits == 0 or digits > max_digits) return null;
        return .{ .mantissa = if (text[0] == '-') -mantissa else mantissa, .places = if (point) |before| digits - before else 0 };
    }

    /// The distance of two numbers times 10^`places`, `places` being at least both of theirs.
    fn distance(a: Short, b: Short, places: u8) u128 {
        return @abs(a.scaled(places) - b.scaled(places));
    }

    fn scaled(short: Short, places: u8) i128 {
        return @as(i128, short.mantissa) * powers_of_ten[places - short.places];
    }

    pub fn equal(a: Short, b: Short) bool {
        return a.distance(b, @max(a.places, b.places)) == 0;
    }

    /// Whether two numbers are apart by no more than `bound`, which is not negative.
    pub fn within(a: Short, b: Short, bound: Short) bool {
        const places = @max(a.places, b.places, bound.places);
        return a.distance(b, places) <= @as(u128, @intCast(bound.scaled(places)));
    }
};

/// A finite decimal number of any size. Values of more than four limbs own memory: give `deinit` the allocator that
/// made them. Methods that return a Decimal allocate only for such values and fail with OutOfMemory alone.
pub const Decimal = struct {
    negative: bool,
    /// Power of the base that the first limb counts.
    low: i64,
    len: usize,
    /// Least significant limb first; `len` says which one holds. Limbs at both ends may be zero.
    storage: union { short: [inline_limbs]u64, long: [*]u64 },

    pub const one: Decimal = .{ .negative = false, .low = 0, .len = 1, .storage = .{ .short = @splat(1) } };
    pub const zero: Decimal = .{ .negative = false, .low = 0, .len = 0, .storage = .{ .short = undefined } };

    /// The value of a plain decimal, null for any other text.
    pub fn parsePlain(allocator: Allocator, text: []const u8) Allocator.Error!?Decimal {
        const digits = unsigned(text);
        const point = pointOf(digits) orelse return null;
        return try fromDigits(allocator, isMinus(text), digits, point, 0);
    }

    /// The value of the ASCII digits in `text`, with the decimal point before `text[point]`, times 10^`exponent`.
    /// Bytes that are no digits are skipped.
    pub fn fromDigits(allocator: Allocator, negative: bool, text: []const u8, point: usize, exponent: i64) Allocator.Error!Decimal {
        if (exponent == 0 and point <= base_digits and text.len - point <= base_digits) {
            const integer, _ = limbOf(text[0..point]);
            const fraction, const places = limbOf(text[point..]);
            const limbs = [_]u64{ fraction * powers_of_ten[base_digits - places], integer } ++ .{undefined} ** (inline_limbs - 2);
            return .{ .negative = negative, .low = -1, .len = 2, .storage = .{ .short = limbs } };
        }
        return fromManyDigits(allocator, negative, text, exponent + countDigits(text[0..point]) - 1);
    }

    /// `number` times 10^-`places`.
    pub fn fromScaled(allocator: Allocator, number: i128, places: u8) Allocator.Error!Decimal {
        var buffer: [40]u8 = undefined;
        const digits = std.fmt.bufPrint(&buffer, "{d}", .{@abs(number)}) catch unreachable; // u128 has at most 39 digits
        return fromDigits(allocator, number < 0, digits, digits.len, -@as(i64, places));
    }

    /// At most one limb full of digits, and how many there are.
    fn limbOf(text: []const u8) struct { u64, usize } {
        var limb: u64 = 0;
        var count: usize = 0;
        for (text) |byte| {
            if (!isDigit(byte)) continue;
            limb = limb * 10 + (byte - '0');
            count += 1;
        }
        return .{ limb, count };
    }

    fn countDigits(text: []const u8) i64 {
        var count: i64 = 0;
        for (text) |byte| count += @intFromBool(isDigit(byte));
        return count;
    }

    /// As `fromDigits`; the first digit counts 10^`leading_power`.
    fn fromManyDigits(allocator: Allocator, negative: bool, text: []const u8, leading_power: i64) Allocator.Error!Decimal {
        var power = leading_power;
        var start: usize = 0;
        while (start < text.len and !isSignificant(text[start])) : (start += 1) power -= @intFromBool(text[start] == '0');
        var end = text.len;
        while (end > start and !isSignificant(text[end - 1])) end -= 1;
        if (start == end) return zero;

        const low = @divFloor(power - countDigits(text[start..end]) + 1, base_digits);
        var index: usize = @intCast(@divFloor(power, base_digits) - low);
        var result = try create(allocator, negative, low, index + 1);
        const limbs = result.mutableLimbs();
        var missing: usize = @intCast(@mod(power, base_digits) + 1);
        var limb: u64 = 0;
        for (text[start..end]) |byte| {
            const digit = byte -% '0';
            if (digit > 9) continue;
            limb = limb * 10 + digit;
            missing -= 1;
            if (missing > 0) continue;
            limbs[index] = limb;
            index -|= 1;
            limb = 0;
            missing = base_digits;
        }
        if (missing < base_digits) limbs[index] = limb * powers_of_ten[missing];
        return result;
    }

    pub fn deinit(decimal: *Decimal, allocator: Allocator) void {
        if (decimal.len > inline_limbs) allocator.free(decimal.mutableLimbs());
        decimal.* = undefined;
    }

    /// The difference of a break: `external` minus `internal`, exact.
    pub fn difference(allocator: Allocator, external: *const Decimal, internal: *const Decimal) Allocator.Error!Decimal {
        const left = external.magnitude();
        const right = internal.magnitude();
        if (external.negative != internal.negative) return add(allocator, external.negative, left, right);
        return subtract(allocator, external.negative, left, right);
    }

    /// `a` times `b`, exact. Takes time in proportion to the product of their lengths.
    pub fn product(allocator: Allocator, a: *const Decimal, b: *const Decimal) Allocator.Error!Decimal {
        const left = a.magnitude();
        const right = b.magnitude();
        if (left.limbs.len == 0 or right.limbs.len == 0) return zero;
        var result = try create(allocator, a.negative != b.negative, left.low + right.low, left.limbs.len + right.limbs.len);
        const limbs = result.mutableLimbs();
        for (left.limbs, 0..) |x, start| {
            var carry: u64 = 0;
            for (right.limbs, limbs[start..][0..right.limbs.len]) |y, *limb| {
                const wide = @as(u128, x) * y + limb.* + carry;
                carry = @intCast(wide / base);
                limb.* = @intCast(wide % base);
            }
            limbs[start + right.limbs.len] = carry;
        }
        return result;
    }

    /// The order of the values without their signs.
    pub fn compareAbs(a: *const Decimal, b: *const Decimal) Order {
        return Magnitude.order(a.magnitude(), b.magnitude());
    }

    pub fn isZero(decimal: *const Decimal) bool {
        return decimal.magnitude().limbs.len == 0;
    }

    /// The shortest plain decimal: no exponent, no trailing zeros, no `+`, zero is `0`. Printed by {f}.
    pub fn format(decimal: *const Decimal, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        const digits = decimal.magnitude();
        if (decimal.negative and digits.limbs.len > 0) try writer.writeByte('-');
        try digits.write(writer);
    }

    fn isSignificant(byte: u8) bool {
        return byte -% '1' <= 8;
    }

    fn create(allocator: Allocator, negative: bool, low: i64, len: usize) Allocator.Error!Decimal {
        var result: Decimal = .{ .negative = negative, .low = low, .len = len, .storage = .{ .short = @splat(0) } };
        if (len > inline_limbs) result.storage = .{ .long = (try allocator.alloc(u64, len)).ptr };
        @memset(result.mutableLimbs(), 0);
        return result;
    }

    fn mutableLimbs(decimal: *Decimal) []u64 {
        return if (decimal.len <= inline_limbs) decimal.storage.short[0..decimal.len] else decimal.storage.long[0..decimal.len];
    }

    fn magnitude(decimal: *const Decimal) Magnitude {
        const limbs = if (decimal.len <= inline_limbs) decimal.storage.short[0..decimal.len] else decimal.storage.long[0..decimal.len];
        return .trimmed(decimal.low, limbs);
    }

    fn add(allocator: Allocator, negative: bool, a: Magnitude, b: Magnitude) Allocator.Error!Decimal {
        const low, const high = Magnitude.span(a, b);
        var result = try create(allocator, negative, low, @intCast(high - low + 1));
        const limbs = result.mutableLimbs();
        a.addTo(low, limbs);
        b.addTo(low, limbs);
        return result;
    }

    /// `negative` is the sign of the result if `a` is the greater one.
    fn subtract(allocator: Allocator, negative: bool, a: Magnitude, b: Magnitude) Allocator.Error!Decimal {
        const greater, const smaller, const sign = switch (Magnitude.order(a, b)) {
            .eq => return zero,
            .gt => .{ a, b, negative },
            .lt => .{ b, a, !negative },
        };
        const low, const high = Magnitude.span(a, b);
        var result = try create(allocator, sign, low, @intCast(high - low));
        const limbs = result.mutableLimbs();
        greater.addTo(low, limbs);
        smaller.subtractFrom(low, limbs);
        return result;
    }
};

/// An exact sum. The result does not depend on the order of the additions, nor on how they were spread over threads.
/// Positive and negative values are kept apart, so that one addition costs what the added value is long, however long
/// the sum has become.
pub const Sum = struct {
    positive: Accumulator = .{},
    negative: Accumulator = .{},

    /// After a failure the sum is as it was before.
    pub fn add(sum: *Sum, allocator: Allocator, value: *const Decimal) Allocator.Error!void {
        const accumulator = if (value.negative) &sum.negative else &sum.positive;
        try accumulator.add(allocator, value.magnitude());
    }

    /// Adds all that `other` holds and leaves it as it is. After a failure discard the sum: half of it may be added.
    pub fn merge(sum: *Sum, allocator: Allocator, other: *const Sum) Allocator.Error!void {
        try sum.positive.add(allocator, other.positive.magnitude());
        try sum.negative.add(allocator, other.negative.magnitude());
    }

    /// The value so far; the caller owns it.
    pub fn total(sum: *const Sum, allocator: Allocator) Allocator.Error!Decimal {
        return Decimal.subtract(allocator, false, sum.positive.magnitude(), sum.negative.magnitude());
    }

    pub fn deinit(sum: *Sum, allocator: Allocator) void {
        sum.positive.limbs.deinit(allocator);
        sum.negative.limbs.deinit(allocator);
        sum.* = undefined;
    }
};

/// A magnitude that only grows, in place.
const Accumulator = struct {
    low: i64 = 0,
    limbs: std.ArrayList(u64) = .empty,

    fn magnitude(accumulator: *const Accumulator) Magnitude {
        return .trimmed(accumulator.low, accumulator.limbs.items);
    }

    fn add(accumulator: *Accumulator, allocator: Allocator, value: Magnitude) Allocator.Error!void {
        if (value.limbs.len == 0) return;
        if (accumulator.limbs.items.len == 0) accumulator.low = value.low;
        const below: usize = @intCast(@max(accumulator.low - value.low, 0));
        const above: usize = @intCast(@max(value.high() - accumulator.high(), 0));
        // One more for the carry, so that nothing has to be undone when memory runs out.
        try accumulator.limbs.ensureUnusedCapacity(allocator, below + above + 1);
        @memset(accumulator.limbs.addManyAtAssumeCapacity(0, below), 0);
        accumulator.low -= @intCast(below);
        accumulator.limbs.appendNTimesAssumeCapacity(0, above + 1);
        value.addTo(accumulator.low, accumulator.limbs.items);
        if (accumulator.limbs.getLast() == 0) accumulator.limbs.items.len -= 1;
    }

    fn high(accumulator: *const Accumulator) i64 {
        return accumulator.low + @as(i64, @intCast(accumulator.limbs.items.len));
    }
};

/// A borrowed number without sign: limb i counts base^(low + i). Neither the first nor the last limb is zero; zero has
/// no limbs.
const Magnitude = struct {
    low: i64,
    limbs: []const u64,

    fn trimmed(low: i64, limbs: []const u64) Magnitude {
        var end = limbs.len;
        while (end > 0 and limbs[end - 1] == 0) end -= 1;
        var start: usize = 0;
        while (start < end and limbs[start] == 0) start += 1;
        return .{ .low = low + @as(i64, @intCast(start)), .limbs = limbs[start..end] };
    }

    fn high(magnitude: Magnitude) i64 {
        return magnitude.low + @as(i64, @intCast(magnitude.limbs.len));
    }

    /// The limbs that hold both.
    fn span(a: Magnitude, b: Magnitude) struct { i64, i64 } {
        if (a.limbs.len == 0) return .{ b.low, b.high() };
        if (b.limbs.len == 0) return .{ a.low, a.high() };
        return .{ @min(a.low, b.low), @max(a.high(), b.high()) };
    }

    fn order(a: Magnitude, b: Magnitude) Order {
        if (a.limbs.len == 0 or b.limbs.len == 0) return std.math.order(a.limbs.len, b.limbs.len);
        if (a.high() != b.high()) return std.math.order(a.high(), b.high());
        const common = @min(a.limbs.len, b.limbs.len);
        for (1..common + 1) |back| {
            const x = a.limbs[a.limbs.len - back];
            const y = b.limbs[b.limbs.len - back];
            if (x != y) return std.math.order(x, y);
        }
        return std.math.order(a.limbs.len, b.limbs.len);
    }

    /// `limbs` start at base^`low`, cover this number and have room for the carry.
    fn addTo(magnitude: Magnitude, low: i64, limbs: []u64) void {
        if (magnitude.limbs.len == 0) return;
        const start: usize = @intCast(magnitude.low - low);
        var carry: u64 = 0;
        for (magnitude.limbs, limbs[start..][0..magnitude.limbs.len]) |limb, *target| {
            target.*, carry = reduced(target.* + limb + carry);
        }
        var index = start + magnitude.limbs.len;
        while (carry != 0) : (index += 1) limbs[index], carry = reduced(limbs[index] + carry);
    }

    fn reduced(limb: u64) struct { u64, u64 } {
        return if (limb >= base) .{ limb - base, 1 } else .{ limb, 0 };
    }

    /// `limbs` start at base^`low`, cover this number and hold no less than it.
    fn subtractFrom(magnitude: Magnitude, low: i64, limbs: []u64) void {
        if (magnitude.limbs.len == 0) return;
        const start: usize = @intCast(magnitude.low - low);
        var borrow: u64 = 0;
        for (magnitude.limbs, limbs[start..][0..magnitude.limbs.len]) |limb, *target| {
            target.*, borrow = lent(target.*, limb + borrow);
        }
        var index = start + magnitude.limbs.len;
        while (borrow != 0) : (index += 1) limbs[index], borrow = lent(limbs[index], borrow);
    }

    fn lent(limb: u64, taken: u64) struct { u64, u64 } {
        return if (limb < taken) .{ limb + base - taken, 1 } else .{ limb - taken, 0 };
    }

    fn at(magnitude: Magnitude, power: i64) u64 {
        if (power < magnitude.low or power >= magnitude.high()) return 0;
        return magnitude.limbs[@intCast(power - magnitude.low)];
    }

    fn write(magnitude: Magnitude, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        if (magnitude.limbs.len == 0) return writer.writeByte('0');
        var buffer: [base_digits]u8 = undefined;
        var power: i64 = @max(magnitude.high(), 1) - 1;
        try writer.writeAll(withoutLeadingZeros(digitsOf(magnitude.at(power), &buffer)));
        while (power > 0) {
            power -= 1;
            try writer.writeAll(digitsOf(magnitude.at(power), &buffer));
        }
        if (magnitude.low >= 0) return;
        try writer.writeByte('.');
        while (power > magnitude.low + 1) {
            power -= 1;
            try writer.writeAll(digitsOf(magnitude.at(power), &buffer));
        }
        try writer.writeAll(std.mem.trimEnd(u8, digitsOf(magnitude.at(magnitude.low), &buffer), "0"));
    }

    fn digitsOf(limb: u64, buffer: *[base_digits]u8) []const u8 {
        var rest = limb;
        var index: usize = base_digits;
        while (index > 0) {
            index -= 1;
            buffer[index] = '0' + @as(u8, @intCast(rest % 10));
            rest /= 10;
        }
        return buffer;
    }

    fn withoutLeadingZeros(digits: []const u8) []const u8 {
        const start = std.mem.findNone(u8, digits, "0") orelse digits.len - 1;
        return digits[start..];
    }
};

const testing = std.testing;

test "plain decimals" {
    for ([_][]const u8{ "0", "-0", "+0", "0.0", "5", "+5", "-5", "0.5", "10", "1.10", "100.001", "9" ** 50, "0." ++ "0" ** 40 }) |text| {
        errdefer std.debug.print("{s}\n", .{text});
        try testing.expect(isPlain(text));
    }
    for ([_][]const u8{
        "",       "-",   "+",   ".",   "-.", ".5",  "5.",   "007", "00",  "00.5", "1e5",  "1E+3", "1,5", "1.2.3", " 1",
        "1 ",     "--1", "+-1", "NaN", "1-", "(1)", "0x10", "1_0", "-.5", "1.+5", "1.-5", "1/2",  "1:2", "1.5 ",  "1.5x",
        "١٢",
        "1\x000", "-",   "inf",
    }) |text| {
        errdefer std.debug.print("{s}\n", .{text});
        try testing.expect(!isPlain(text));
        try testing.expect(!equalPlain(text, text));
        try testing.expect(try Decimal.parsePlain(testing.allocator, text) == null);
    }
}

test "equality and order of plain decimals" {
    const cases = [_]struct { []const u8, []const u8, Order }{
        .{ "1.10", "1.1", .eq },    .{ "1.0", "1", .eq },        .{ "-0", "0", .eq },                                  .{ "-0.0", "0", .eq },
        .{ "+5", "5", .eq },        .{ "+5", "-5", .gt },        .{ "10", "1", .gt },                                  .{ "10", "1.0", .gt },
        .{ "1.01", "1.1", .lt },    .{ "1.10", "1.11", .lt },    .{ "-1.10", "-1.1", .eq },                            .{ "-2", "-1", .lt },
        .{ "-2", "1", .lt },        .{ "2", "10", .lt },         .{ "-2", "-10", .gt },                                .{ "0.5", "0.50", .eq },
        .{ "0", "0.001", .lt },     .{ "-0", "0.001", .lt },     .{ "-0", "-0.001", .gt },                             .{ "-0.0", "+0.00", .eq },
        .{ "100", "100.000", .eq }, .{ "100", "100.0001", .lt }, .{ "1" ++ "0" ** 60, "1" ++ "0" ** 60 ++ ".0", .eq },
    };
    for (cases) |case| {
        const a, const b, const order = case;
        errdefer std.debug.print("{s} {s}\n", .{ a, b });
        try testing.expectEqual(order == .eq, equalPlain(a, b));
        try testing.expectEqual(order == .eq, equalPlain(b, a));
        try testing.expectEqual(order, orderPlain(a, b));
        try testing.expectEqual(order.invert(), orderPlain(b, a));
    }
    for ([_][2][]const u8{
        .{ "1.", "1.0" }, .{ "1", "1." },     .{ "", "0" },      .{ "-", "-0" },  .{ "007", "7" },  .{ ".5", "0.5" },
        .{ "", "" },      .{ "1", "1.0x" },   .{ "1e1", "1e1" }, .{ "1", "1.-" }, .{ "1.0", "1 " }, .{ "0", "00" },
        .{ "1", "1.." },  .{ "1.0", "1.0." },
    }) |pair| {
        errdefer std.debug.print("{s} {s}\n", .{ pair[0], pair[1] });
        try testing.expect(!equalPlain(pair[0], pair[1]));
        try testing.expect(!equalPlain(pair[1], pair[0]));
    }
}

/// By the grammar, a byte at a time.
fn modelIsPlain(text: []const u8) bool {
    var rest = text;
    if (rest.len > 0 and (rest[0] == '-' or rest[0] == '+')) rest = rest[1..];
    const integer, const fraction = std.mem.cutScalar(u8, rest, '.') orelse .{ rest, "0" };
    for ([_][]const u8{ integer, fraction }) |part| {
        if (part.len == 0) return false;
        for (part) |byte| if (!std.ascii.isDigit(byte)) return false;
    }
    return integer.len == 1 or integer[0] != '0';
}

fn modelEqualPlain(a: []const u8, b: []const u8) bool {
    if (!modelIsPlain(a) or !modelIsPlain(b)) return false;
    return std.mem.eql(u8, modelCanonical(a), modelCanonical(b));
}

fn modelCanonical(text: []const u8) []const u8 {
    const body = std.mem.trimStart(u8, text, "+");
    const short = if (std.mem.findScalar(u8, body, '.') == null) body else std.mem.trimEnd(u8, std.mem.trimEnd(u8, body, "0"), ".");
    return if (std.mem.eql(u8, short, "-0")) "0" else short;
}

test "every short text follows the grammar" {
    const alphabet = "01.-";
    const longest = 4;
    var buffers: [341][longest]u8 = undefined;
    var texts: std.ArrayList([]const u8) = .empty;
    defer texts.deinit(testing.allocator);
    for (0..longest + 1) |len| {
        for (0..std.math.pow(usize, alphabet.len, len)) |number| {
            const buffer = &buffers[texts.items.len];
            for (0..len) |index| buffer[index] = alphabet[number / std.math.pow(usize, alphabet.len, index) % alphabet.len];
            try texts.append(testing.allocator, buffer[0..len]);
        }
    }
    for (texts.items) |a| {
        try testing.expectEqual(modelIsPlain(a), isPlain(a));
        for (texts.items) |b| if (modelEqualPlain(a, b) != equalPlain(a, b)) {
            std.debug.print("{s} {s}\n", .{ a, b });
            return error.TestUnexpectedResult;
        };
    }
}

test "texts around the width of a block follow the grammar" {
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    for (0..20_000) |_| {
        var buffers: [2][24]u8 = undefined;
        const a = buffers[0][0..random.uintAtMost(usize, 24)];
        for (a) |*byte| byte.* = "0019"[random.uintLessThan(usize, 4)];
        if (a.len > 0) for (0..random.uintAtMost(usize, 2)) |_| {
            a[random.uintLessThan(usize, a.len)] = "..+-x/:\xb0"[random.uintLessThan(usize, 8)];
        };
        const b = buffers[1][0..random.uintAtMost(usize, 24)];
        @memset(b, '0');
        @memcpy(b[0..@min(a.len, b.len)], a[0..@min(a.len, b.len)]);
        errdefer std.debug.print("{s} {s}\n", .{ a, b });
        try testing.expectEqual(modelIsPlain(a), isPlain(a));
        try testing.expectEqual(modelEqualPlain(a, b), equalPlain(a, b));
        try testing.expectEqual(modelEqualPlain(a, b), equalPlain(b, a));
    }
}

fn expectDifference(expected: []const u8, external: []const u8, internal: []const u8) !void {
    errdefer std.debug.print("{s} minus {s}\n", .{ external, internal });
    var a = (try Decimal.parsePlain(testing.allocator, external)).?;
    defer a.deinit(testing.allocator);
    var b = (try Decimal.parsePlain(testing.allocator, internal)).?;
    defer b.deinit(testing.allocator);
    var result = try Decimal.difference(testing.allocator, &a, &b);
    defer result.deinit(testing.allocator);
    try expectText(expected, &result);
}

fn expectText(expected: []const u8, decimal: *const Decimal) !void {
    const text = try std.fmt.allocPrint(testing.allocator, "{f}", .{decimal.*});
    defer testing.allocator.free(text);
    try testing.expectEqualStrings(expected, text);
}

test "differences" {
    try expectDifference("0.0100001", "1.0100002", "1.0000001");
    try expectDifference("0", "1.10", "1.1");
    try expectDifference("0", "-0", "0");
    try expectDifference("-999", "1.000", "1000");
    try expectDifference("-0.1", "0.2", "0.3");
    try expectDifference("3", "1", "-2");
    try expectDifference("-3", "-1", "2");
    try expectDifference("1", "-1", "-2");
    try expectDifference("-7", "0", "7");
    try expectDifference("-7", "-7", "-0.00");
    try expectDifference("0.00000000000000000001", "1.00000000000000000001", "1");
    try expectDifference("-0.99999999999999999999", "0.00000000000000000001", "1");
    try expectDifference("1000000000000000000", "1000000000000000001", "1.0");
    try expectDifference("1000000000000000000000000000000000000", "999999999999999999999999999999999999", "-1");
    try expectDifference("1" ++ "0" ** 100, "9" ** 100, "-1");
    try expectDifference("9" ** 100, "1" ++ "0" ** 100, "1");
    try expectDifference("0." ++ "9" ** 100, "1", "0." ++ "0" ** 99 ++ "1");
}

/// The same arithmetic by way of scaled big integers: slow, and shares nothing with the limbs above.
const Model = struct {
    value: std.math.big.int.Managed,
    const scale = 200;

    fn init(text: []const u8) !Model {
        var digits: std.ArrayList(u8) = .empty;
        defer digits.deinit(testing.allocator);
        const body = std.mem.trimStart(u8, text, "+");
        const point = std.mem.findScalar(u8, body, '.') orelse body.len;
        try digits.appendSlice(testing.allocator, body[0..point]);
        const fraction = body[@min(point + 1, body.len)..];
        try digits.appendSlice(testing.allocator, fraction);
        try digits.appendNTimes(testing.allocator, '0', scale - fraction.len);
        var model: Model = .{ .value = try .init(testing.allocator) };
        errdefer model.value.deinit();
        try model.value.setString(10, digits.items);
        return model;
    }

    /// The shortest plain decimal of value × 10^-`places`.
    fn toText(model: *const Model, places: usize) ![]u8 {
        const digits = try model.value.toString(testing.allocator, 10, .lower);
        defer testing.allocator.free(digits);
        const minus = digits[0] == '-';
        const body = digits[@intFromBool(minus)..];
        var padded: std.ArrayList(u8) = .empty;
        defer padded.deinit(testing.allocator);
        if (minus) try padded.append(testing.allocator, '-');
        if (body.len <= places) try padded.append(testing.allocator, '0');
        if (body.len > places) try padded.appendSlice(testing.allocator, body[0 .. body.len - places]);
        try padded.append(testing.allocator, '.');
        if (body.len < places) try padded.appendNTimes(testing.allocator, '0', places - body.len);
        try padded.appendSlice(testing.allocator, body[body.len -| places..]);
        const short = std.mem.trimEnd(u8, std.mem.trimEnd(u8, padded.items, "0"), ".");
        return testing.allocator.dupe(u8, short);
    }
};

/// A plain decimal, often close to `near` and often at the edges of limbs.
fn randomPlain(random: std.Random, buffer: *[256]u8, near: []const u8) []const u8 {
    if (near.len > 0 and random.boolean()) {
        @memcpy(buffer[0..near.len], near);
        if (random.boolean()) {
            const index = random.uintLessThan(usize, near.len);
            const first = index == 0 or !isDigit(near[index - 1]);
            if (isDigit(near[index]) and !first) buffer[index] = random.intRangeAtMost(u8, '0', '9');
            return buffer[0..near.len];
        }
        const has_point = std.mem.findScalar(u8, near, '.') != null;
        const tail = if (has_point) "0000"[0..random.uintAtMost(usize, 3)] else ".000"[0 .. 2 + random.uintAtMost(usize, 2)];
        if (near.len < 120) {
            @memcpy(buffer[near.len..][0..tail.len], tail);
            return buffer[0 .. near.len + tail.len];
        }
    }
    var writer: std.Io.Writer = .fixed(buffer);
    const sign = [_][]const u8{ "", "", "-", "+" };
    writer.writeAll(sign[random.uintLessThan(usize, 4)]) catch unreachable;
    const limit: usize = if (random.boolean()) 6 else 60;
    const integers = random.uintAtMost(usize, limit);
    if (integers == 0) writer.writeByte('0') catch unreachable;
    const style = random.uintLessThan(u8, 3);
    for (0..integers) |index| writer.writeByte(randomDigit(random, style, index == 0)) catch unreachable;
    const fractions = random.uintAtMost(usize, limit);
    if (fractions > 0) writer.writeByte('.') catch unreachable;
    for (0..fractions) |_| writer.writeByte(randomDigit(random, style, false)) catch unreachable;
    return writer.buffered();
}

fn randomDigit(random: std.Random, style: u8, leading: bool) u8 {
    if (style == 1) return '9';
    if (style == 2) return if (leading or random.uintLessThan(u8, 8) == 0) '1' else '0';
    return random.intRangeAtMost(u8, if (leading) '1' else '0', '9');
}

test "everything agrees with big integers" {
    const allocator = testing.allocator;
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    var sum: Sum = .{};
    defer sum.deinit(allocator);
    var model_sum = try Model.init("0");
    defer model_sum.value.deinit();
    for (0..1000) |_| {
        var buffers: [2][256]u8 = undefined;
        const external = randomPlain(random, &buffers[0], "");
        const internal = randomPlain(random, &buffers[1], external);
        errdefer std.debug.print("{s} and {s}\n", .{ external, internal });
        var model_a = try Model.init(external);
        defer model_a.value.deinit();
        var model_b = try Model.init(internal);
        defer model_b.value.deinit();
        const order = model_a.value.order(model_b.value);
        try testing.expect(isPlain(external) and isPlain(internal));
        try testing.expectEqual(order == .eq, equalPlain(external, internal));
        try testing.expectEqual(order, orderPlain(external, internal));

        var a = (try Decimal.parsePlain(allocator, external)).?;
        defer a.deinit(allocator);
        var b = (try Decimal.parsePlain(allocator, internal)).?;
        defer b.deinit(allocator);
        try testing.expectEqual(model_a.value.orderAbs(model_b.value), a.compareAbs(&b));

        var model_result: Model = .{ .value = try .init(allocator) };
        defer model_result.value.deinit();
        var difference = try Decimal.difference(allocator, &a, &b);
        defer difference.deinit(allocator);
        try model_result.value.sub(&model_a.value, &model_b.value);
        try expectModel(&model_result, Model.scale, &difference);
        try testing.expectEqual(order == .eq, difference.isZero());
        try sum.add(allocator, &difference);
        try model_sum.value.add(&model_sum.value, &model_result.value);

        var product = try Decimal.product(allocator, &a, &b);
        defer product.deinit(allocator);
        try model_result.value.mul(&model_a.value, &model_b.value);
        try expectModel(&model_result, 2 * Model.scale, &product);
    }
    var total = try sum.total(allocator);
    defer total.deinit(allocator);
    try expectModel(&model_sum, Model.scale, &total);
}

fn expectModel(model: *const Model, places: usize, decimal: *const Decimal) !void {
    const text = try model.toText(places);
    defer testing.allocator.free(text);
    try expectText(text, decimal);
}

test "a sum does not depend on order or threads" {
    const allocator = testing.allocator;
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    var texts: [200][256]u8 = undefined;
    var values: [200]Decimal = undefined;
    for (&values, &texts) |*value, *buffer| value.* = (try Decimal.parsePlain(allocator, randomPlain(random, buffer, ""))).?;
    defer for (&values) |*value| value.deinit(allocator);

    var in_order: Sum = .{};
    defer in_order.deinit(allocator);
    for (&values) |*value| try in_order.add(allocator, value);
    var expected = try in_order.total(allocator);
    defer expected.deinit(allocator);
    const text = try std.fmt.allocPrint(allocator, "{f}", .{expected});
    defer allocator.free(text);

    for (0..20) |_| {
        random.shuffle(Decimal, &values);
        var parts: [3]Sum = @splat(.{});
        defer for (&parts) |*part| part.deinit(allocator);
        for (&values) |*value| try parts[random.uintLessThan(usize, 3)].add(allocator, value);
        try parts[0].merge(allocator, &parts[1]);
        try parts[0].merge(allocator, &parts[2]);
        var total = try parts[0].total(allocator);
        defer total.deinit(allocator);
        try expectText(text, &total);
    }
}

test "an empty sum is zero, and carries grow it" {
    const allocator = testing.allocator;
    var sum: Sum = .{};
    defer sum.deinit(allocator);
    var total = try sum.total(allocator);
    try expectText("0", &total);
    var nines = (try Decimal.parsePlain(allocator, "9" ** 54)).?;
    defer nines.deinit(allocator);
    var one = (try Decimal.parsePlain(allocator, "1")).?;
    try sum.add(allocator, &nines);
    try sum.add(allocator, &one);
    var carried = try sum.total(allocator);
    defer carried.deinit(allocator);
    try expectText("1" ++ "0" ** 54, &carried);
}

test "digits far from the point" {
    const allocator = testing.allocator;
    var large = try Decimal.fromDigits(allocator, false, "1", 1, 9999);
    defer large.deinit(allocator);
    var small = try Decimal.fromDigits(allocator, true, "0.00,12", 1, -9996);
    defer small.deinit(allocator);
    try expectText("1" ++ "0" ** 9999, &large);
    try expectText("-0." ++ "0" ** 9998 ++ "12", &small);
    var difference = try Decimal.difference(allocator, &large, &small);
    defer difference.deinit(allocator);
    try expectText("1" ++ "0" ** 9999 ++ "." ++ "0" ** 9998 ++ "12", &difference);
    var product = try Decimal.product(allocator, &large, &small);
    defer product.deinit(allocator);
    try expectText("-1.2", &product);
}

test "hostile lengths take linear time" {
    const allocator = testing.allocator;
    const length = 200_000;
    const text = try allocator.alloc(u8, length);
    defer allocator.free(text);
    @memset(text, '9');
    text[length / 2] = '.';
    var long = (try Decimal.parsePlain(allocator, text)).?;
    defer long.deinit(allocator);
    var half = (try Decimal.parsePlain(allocator, "-0.5")).?;
    var difference = try Decimal.difference(allocator, &long, &half);
    defer difference.deinit(allocator);
    var sum: Sum = .{};
    defer sum.deinit(allocator);
    try sum.add(allocator, &difference);
    for (0..100_000) |_| try sum.add(allocator, &half);
    try testing.expect(equalPlain(text, text));
    try testing.expectEqual(.lt, orderPlain(text[0 .. length - 1], text));
}

fn exerciseAllocations(allocator: Allocator) !void {
    var a = (try Decimal.parsePlain(allocator, "9" ** 100 ++ "." ++ "9" ** 100)).?;
    defer a.deinit(allocator);
    var b = (try Decimal.parsePlain(allocator, "-0." ++ "1" ** 150)).?;
    defer b.deinit(allocator);
    var difference = try Decimal.difference(allocator, &a, &b);
    defer difference.deinit(allocator);
    var product = try Decimal.product(allocator, &a, &b);
    defer product.deinit(allocator);
    var sum: Sum = .{};
    defer sum.deinit(allocator);
    for ([_]*const Decimal{ &a, &b, &difference, &product }) |value| try sum.add(allocator, value);
    var other: Sum = .{};
    defer other.deinit(allocator);
    try other.merge(allocator, &sum);
    var total = try other.total(allocator);
    total.deinit(allocator);
}

test "memory that runs out is reported and nothing leaks" {
    try testing.checkAllAllocationFailures(testing.allocator, exerciseAllocations, .{});
}

test "values of everyday size never allocate" {
    var a = (try Decimal.parsePlain(testing.failing_allocator, "999999999999999999.999999999999999999")).?;
    var b = (try Decimal.parsePlain(testing.failing_allocator, "-0.000000000000000001")).?;
    const difference = try Decimal.difference(testing.failing_allocator, &a, &b);
    try expectText("1000000000000000000", &difference);
}

test "short numbers agree with all numbers" {
    const allocator = std.testing.allocator;
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    const random = prng.random();
    var close: usize = 0;
    for (0..20_000) |_| {
        var texts: [3][24]u8 = undefined;
        var numbers: [3][]const u8 = undefined;
        var decimals: [3]Decimal = undefined;
        for (&texts, &numbers, &decimals, 0..) |*text, *number, *decimal, i| {
            const wide = random.boolean();
            const integer = if (wide) random.uintLessThan(u64, 1_000_000_000) else random.uintLessThan(u64, 3);
            const places = random.uintLessThan(u8, 10);
            const fraction = random.uintLessThan(u64, powers_of_ten[@min(places, 2)] + 1) % powers_of_ten[places];
            const sign: []const u8 = if (i < 2 and random.boolean()) "-" else "";
            number.* = if (places == 0) try std.fmt.bufPrint(text, "{s}{d}", .{ sign, integer }) else try std.fmt.bufPrint(text, "{s}{d}.{[2]d:0>[3]}", .{ sign, integer, fraction, places });
            decimal.* = (try Decimal.parsePlain(allocator, number.*)).?;
        }
        const shorts = [3]Short{ Short.parse(numbers[0]).?, Short.parse(numbers[1]).?, Short.parse(numbers[2]).? };
        const apart = try Decimal.difference(allocator, &decimals[0], &decimals[1]);
        try std.testing.expectEqual(apart.isZero(), shorts[0].equal(shorts[1]));
        const within = apart.compareAbs(&decimals[2]) != .gt;
        close += @intFromBool(within);
        try std.testing.expectEqual(within, shorts[0].within(shorts[1], shorts[2]));
    }
    try std.testing.expect(close > 100);
    for ([_][]const u8{ "", "-", ".", "1e5", "1234567890123456789", "--1", "1.2.3", "1,2" }) |text| try std.testing.expectEqual(null, Short.parse(text));
    try std.testing.expect(Short.parse("-0").?.equal(Short.parse("0.000").?));
    try std.testing.expect(Short.parse("999999999999999999").?.within(Short.parse(".000000000000000001").?, Short.parse("999999999999999999").?));
}
