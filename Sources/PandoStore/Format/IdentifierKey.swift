import PandoModels

/// The key of an identifier: its UTF-8 bytes, or a prefix and a hash where they do not fit LMDB's 511.
///
/// Identifiers are compared byte by byte, never by Unicode equivalence. A key of exactly 511 bytes is
/// always the long form, so that the two forms never meet:
///
/// ```
/// short: 1…510 bytes   UTF-8                            value: node number (8, little endian)
/// long:  511 bytes     first 495 bytes, 128-bit hash    value: node number (8), full UTF-8
/// ```
struct IdentifierKey {
  /// The longest identifier that is its own key, in bytes.
  static let shortByteCountMaximum = 510
  /// How many bytes of a long identifier stand in its key before the hash.
  static let prefixByteCount = 495

  let bytes: [UInt8]
  let isLong: Bool

  init(_ identifier: String) {
    let text = Array(identifier.utf8)
    isLong = text.count > Self.shortByteCountMaximum
    guard isLong else {
      bytes = text
      return
    }
    bytes = text[..<Self.prefixByteCount] + IdentifierHash.bytes(of: identifier)
  }
}

/// A hash that stands for the end of a text in a key.
enum IdentifierHash {
  /// The 16 bytes that stand for a text.
  static func bytes(of identifier: String) -> [UInt8] {
    let text = Array(identifier.utf8)
    var bytes: [UInt8] = []
    for seed: UInt64 in [0, 1] {
      let hash = unsafe text.withUnsafeBytes { unsafe XXHash64.hash($0, seed: seed) }
      ByteFields.append(hash, width: 8, to: &bytes)
    }
    return bytes
  }
}
