/// The CBOR tags that appear in records.
///
/// Those from 20545 to 20548 are Pando's own and say how a child, or what holds one, can be lost;
/// the others are in the IANA registry. `docs/format.md` draws the contents.
package enum RecordTag {
  /// A reference that can't be missing where it stands, or an element or entry that can be removed:
  /// an array of node number and type number.
  package static let requiredReference: UInt64 = 20545
  /// A reference in a slot that can be null: an array of node number and type number.
  package static let optionalReference: UInt64 = 20546
  /// A map that holds a reference and lies in a slot that can be null.
  package static let optionalSlot: UInt64 = 20547
  /// A map whose entries hold references and can be removed one by one.
  package static let entries: UInt64 = 20548

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
