import PandoModels
import PandoRecords
import PandoSystem

/// Converts the body of a record to the present names of its fields, and adds defaults.
enum RecordPresentForm {
  /// Converts a body to the form in which a type reads it.
  ///
  /// It converts only fields of the record itself, not those of nested values.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - type: The type.
  /// - Returns: The body in its present form; `nil` if it is unchanged.
  /// - Throws: `CBORError` for bytes that are not a record body; `ModelError` for a default that
  ///   can't be encoded.
  static func body(_ body: Span<UInt8>, of type: any FieldHistory.Type) throws -> [UInt8]? {
    var entries = try entries(of: body)
    var isChanged = false
    for (name, formerNames) in type.formerFieldNames where entries[bytes(name)] == nil {
      guard let former = formerNames.first(where: { entries[bytes($0)] != nil }) else { continue }
      entries[bytes(name)] = entries.removeValue(forKey: bytes(former))
      isChanged = true
    }
    for (name, value) in type.fieldDefaults where entries[bytes(name)] == nil {
      entries[bytes(name)] = try RecordEncoder.encodeValue(value).body
      isChanged = true
    }
    if !isChanged { return nil }
    var writer = CBORWriter()
    writer.append(mapHead: entries.count)
    for (key, value) in entries.ordered(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      writer.append(raw: key[...])
      writer.append(raw: value[...])
    }
    return writer.bytes
  }

  /// The values of a body by the bytes of their keys.
  private static func entries(of body: Span<UInt8>) throws -> [[UInt8]: [UInt8]] {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes in
      var entries: [[UInt8]: [UInt8]] = [:]
      var reader = unsafe CBORReader(bytes)
      for _ in 0..<(try FieldPath.openMap(in: &reader) ?? 0) {
        let start = reader.offset
        try reader.skip()
        let middle = reader.offset
        try reader.skip()
        entries[unsafe Array(bytes[start..<middle])] = unsafe Array(bytes[middle..<reader.offset])
      }
      return entries
    }
  }

  /// The bytes of a key.
  private static func bytes(_ name: String) -> [UInt8] {
    var writer = CBORWriter(minimumCapacity: 32)
    writer.append(name)
    return writer.bytes
  }
}
