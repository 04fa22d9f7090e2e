import PandoRecords
import PandoStore

/// The form of stored bytes in a log: four characters and a version, the content, and the XXH64 of all before.
///
/// ```
/// offset 0            4         5         n - 8     n
///        ┌────────────┬─────────┬─────────┬─────────┐
///        │ characters │ version │ content │ XXH64   │   little endian
///        └────────────┴─────────┴─────────┴─────────┘
/// ```
package enum SealedBytes {
  /// Returns content between its beginning and its XXH64.
  package static func seal(_ content: [UInt8], _ beginning: [UInt8]) -> [UInt8] {
    let bytes = beginning + content
    return bytes + [UInt8](littleEndian: XXHash64.hash(bytes.span))
  }

  /// The same for numbers of eight bytes each, little-endian.
  package static func seal(_ numbers: [UInt64], _ beginning: [UInt8]) -> [UInt8] {
    seal(numbers.flatMap { [UInt8](littleEndian: $0) }, beginning)
  }

  /// Returns the content; `nil` if the bytes have another beginning or another XXH64.
  package static func open(_ bytes: [UInt8], _ beginning: [UInt8]) -> [UInt8]? {
    let end = bytes.count - 8
    guard end >= beginning.count, bytes.starts(with: beginning), isSealed(bytes) else {
      return nil
    }
    return Array(bytes[beginning.count..<end])
  }

  /// The same for numbers; `nil` also if a number is cut off.
  package static func openNumbers(_ bytes: [UInt8], _ beginning: [UInt8]) -> [UInt64]? {
    guard let content = open(bytes, beginning), content.count % 8 == 0 else { return nil }
    return stride(from: 0, to: content.count, by: 8).compactMap {
      content.span.littleEndian(at: $0)
    }
  }

  /// Whether the last eight bytes are the XXH64 of those before.
  static func isSealed(_ bytes: [UInt8]) -> Bool {
    let end = bytes.count - 8
    return end >= 0
      && XXHash64.hash(bytes.span.extracting(..<end)) == bytes.span.littleEndian(at: end)
  }

  /// The hash of the parts of a copy: the XXH64 of each, seeded with that of the parts before; 0 before the first.
  package static func hash(_ part: [UInt8], after hash: UInt64) -> UInt64 {
    XXHash64.hash(part.span, seed: hash)
  }
}
