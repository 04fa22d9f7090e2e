/// The first bytes of a CBOR item: its kind, and its value, length or count.
///
/// ```
/// byte 0     bits 7–5: major type, bits 4–0: additional information
/// bytes 1…   0, 1, 2, 4 or 8 bytes of argument, big endian
/// ```
/// See RFC 8949, section 3.
package struct CBORHead: Equatable, Sendable {
  /// The eight kinds of items.
  package enum Major: UInt8, Sendable {
    case unsigned, negative, bytes, text, array, map, tag, simple

    /// The kind in the upper three bits of an item's first byte.
    @inline(__always)
    init(first: UInt8) {
      // The optimizer turns this into one shift, but not `init(rawValue:)`.
      switch first >> 5 {
      case 0: self = .unsigned
      case 1: self = .negative
      case 2: self = .bytes
      case 3: self = .text
      case 4: self = .array
      case 5: self = .map
      case 6: self = .tag
      default: self = .simple
      }
    }
  }

  /// The lower five bits of the first byte, which define the argument.
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

  /// The number of argument bytes after the first byte: 0, 1, 2, 4 or 8.
  package var argumentByteCount: Int {
    information < 24 ? 0 : 1 << (Int(information) - 24)
  }

  /// Whether the argument has its shortest form; floats have no shorter one as integers do.
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

  /// The Boolean of this head; `nil` if it is something else.
  package var bool: Bool? {
    guard major == .simple, information == 20 || information == 21 else { return nil }
    return information == 21
  }

  /// The double of this head; `nil` if it is not a float.
  package var double: Double? {
    guard isFloat else { return nil }
    switch information {
    case 25: return Double(widening: UInt16(truncatingIfNeeded: argument))
    case 26: return Double(widening: UInt32(truncatingIfNeeded: argument))
    default: return Double(bitPattern: argument)
    }
  }
}

/// An error in the CBOR of a record.
package struct CBORError: Error, Equatable {
  /// The kind of failure.
  package enum Code: UInt8, Sendable {
    /// The bytes end inside an item.
    case endOfBytes
    /// A head that RFC 8949 reserves or forbids.
    case badHead
    /// An item of indefinite length, which records do not have.
    case indefiniteLength
    /// An item of another kind than required.
    case wrongKind
    /// A number that does not fit the required type.
    case numberOutOfRange
    /// A text that is not UTF-8.
    case badText
    /// Arrays, maps and tags nested deeper than the limit.
    case nestingTooDeep
    /// Bytes after the item.
    case trailingBytes
  }

  /// The kind of failure.
  package let code: Code
  /// The offset of the error in the bytes of the reader.
  package let offset: Int

  package init(_ code: Code, offset: Int) {
    self.code = code
    self.offset = offset
  }
}

extension CBORError: CustomStringConvertible {
  package var description: String { "\(explanation) at byte \(offset)" }

  /// The meaning of the code in words.
  package var explanation: String {
    switch code {
    case .endOfBytes: "the bytes end too early"
    case .badHead: "not a CBOR item"
    case .indefiniteLength: "an item of indefinite length"
    case .wrongKind: "an item of another kind"
    case .numberOutOfRange: "a number out of range"
    case .badText: "a text that is not UTF-8"
    case .nestingTooDeep: "nested too deep"
    case .trailingBytes: "bytes after the end"
    }
  }
}

/// The CBOR tags that appear in records.
///
/// Those from 20545 to 20548 are Pando's own and define how a child, or its container, can be lost.
/// The others are in the IANA registry. `docs/format.md` draws the contents.
package enum RecordTag {
  /// A reference that is required, or an element or entry that can be removed: an array of node
  /// number and type number.
  package static let requiredReference: UInt64 = 20545
  /// A reference in an optional slot: an array of node number and type number.
  package static let optionalReference: UInt64 = 20546
  /// A map with a reference, in an optional slot.
  package static let optionalSlot: UInt64 = 20547
  /// A map whose entries contain references and can be removed one by one.
  package static let entries: UInt64 = 20548
  /// A value of an enum with payload; never stored.
  package static let enumeration: UInt64 = 20549

  /// An unsigned integer of more than 64 bits, big endian.
  package static let positiveBignum: UInt64 = 2
  /// An integer below `Int64`'s range: −1 minus the unsigned integer of the bytes.
  package static let negativeBignum: UInt64 = 3
  /// A decimal fraction: an array of exponent (to the base 10) and mantissa.
  package static let decimalFraction: UInt64 = 4
  /// A URL as text.
  package static let url: UInt64 = 32
  /// A UUID as 16 bytes.
  package static let uuid: UInt64 = 37
}

extension RecordTag {
  /// Whether a tag has a meaning in records only.
  static func isPrivate(_ tag: UInt64) -> Bool {
    (requiredReference...entries).contains(tag)
  }
}
