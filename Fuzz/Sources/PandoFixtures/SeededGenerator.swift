/// Takes the place of the generator of the tests: its numbers are the bytes of the fuzzer, one for
/// each number, so that a byte is a decision; then zeros.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// Used by the one thread that libFuzzer calls.
  nonisolated(unsafe) private static var rest: ArraySlice<UInt8> = []

  /// The bytes that decide from now on.
  public static func take(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all bytes are used up.
  public static var isExhausted: Bool { rest.isEmpty }

  /// Makes a generator; all of them share the bytes.
  public init(seed: UInt64) {}

  /// Returns the next number: a byte in the highest bits, which decide in which part of a range it is.
  public mutating func next() -> UInt64 {
    let byte = UInt64(Self.rest.popFirst() ?? 0)
    // With all other bits zero, `random(in:)` would reject the number for ever.
    return byte << 56 | 0x00AA_AAAA_AAAA_AAAA
  }
}
