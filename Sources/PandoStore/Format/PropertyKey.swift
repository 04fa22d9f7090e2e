/// The key of a user's property in the `meta` table: `property:` and its name.
struct PropertyKey {
  static let prefix: [UInt8] = Array("property:".utf8)
  /// The longest name, in bytes; leaves room for the prefix in LMDB's 511.
  static let byteCountMaximum = 400

  let bytes: [UInt8]

  init(_ name: String) throws {
    guard !name.isEmpty, name.utf8.count <= Self.byteCountMaximum else {
      throw StoreError(
        .emptyIdentifier, name,
        "the name of a property has 1 to \(Self.byteCountMaximum) bytes, this one has "
          + "\(name.utf8.count)")
    }
    bytes = Self.prefix + Array(name.utf8)
  }
}
