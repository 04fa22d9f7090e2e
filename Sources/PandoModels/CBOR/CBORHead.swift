/// The first bytes of a CBOR item: what kind it is, and its value, length or count.
///
/// ```
/// byte 0     bits 7–5: major type, bits 4–0: additional information
/// bytes 1…   0, 1, 2, 4 or 8 bytes of argument, big endian
/// ```
/// See RFC 8949, section 3.
package struct CBORHead: Hashable, Sendable {
  /// The eight kinds of items.
  package enum Major: UInt8, Sendable {
    case unsigned, negative, bytes, text, array, map, tag, simple
  }

  /// What follows, in the lower five bits of the first byte.
  package let information: UInt8
  /// The kind of the item.
  package let major: Major
  /// The value, length, count, tag number, or the bits of a float.
  package let argument: UInt64

  package init(major: Major, information: UInt8, argument: UInt64) {
    self.major = major
    self.information = information
    self.argument = argument
  }

  /// How many bytes of argument follow the first byte: 0, 1, 2, 4 or 8.
  package var argumentByteCount: Int {
    information < 24 ? 0 : 1 << (Int(information) - 24)
  }

  /// Whether the argument is in its shortest form; floats are never shortened as integers are.
  package var isShortest: Bool {
    switch information {
    case ..<24: true
    case 24: argument >= 24
    case 25: isFloat || argument > 0xFF
    case 26: isFloat || argument > 0xFFFF
    default: isFloat || argument > 0xFFFF_FFFF
    }
  }

  /// Whether this is a float of 16, 32 or 64 bits.
  package var isFloat: Bool { major == .simple && information >= 25 && information <= 27 }

  /// Whether this is `null` or `undefined`.
  package var isNull: Bool { major == .simple && (information == 22 || information == 23) }

  /// The truth value that this head says; `nil` if it is something else.
  package var bool: Bool? {
    guard major == .simple, information == 20 || information == 21 else { return nil }
    return information == 21
  }

  /// The double that this head says; `nil` if it is no float.
  package var double: Double? {
    guard isFloat else { return nil }
    switch information {
    case 25: return Double(widening: UInt16(truncatingIfNeeded: argument))
    case 26: return Double(widening: UInt32(truncatingIfNeeded: argument))
    default: return Double(bitPattern: argument)
    }
  }
}
