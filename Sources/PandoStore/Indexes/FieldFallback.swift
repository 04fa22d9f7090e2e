import PandoModels
import PandoRecords

/// The former names and the default of one step of a name, used for records without the step.
///
/// The bytes of the fallbacks of a name, in the declaration of an index:
/// ```
/// step (1), number of former names (1), for each its length (2) and UTF-8,
/// length of the default (4), 0 for none, and its CBOR          little endian; the next step follows
/// FF, number of the reading (1)                                 unless the value is read as stored
/// for words then the length (4) and the fallbacks of each field
/// ```
/// Step 0 is the name as a whole, step *n* the *n*-th part of a name with dots.
struct FieldFallback: Sendable, Equatable {
  /// The former names, the newest first.
  var formerNames: [FieldKey] = []
  var defaultValue: DefaultValue?

  var isEmpty: Bool { formerNames.isEmpty && defaultValue == nil }

  /// An encoded value in memory that does not move.
  @safe final class DefaultValue: @unchecked Sendable, Equatable {
    // Never changed after the initializer; the last reference frees it.
    private let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]) {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      unsafe memory.copyBytes(from: bytes)
      unsafe self.memory = memory
    }

    deinit { unsafe memory.deallocate() }

    var bytes: [UInt8] { unsafe Array(memory) }

    /// Reads the value; the field that owns it outlives the reader.
    var reader: CBORReader { unsafe CBORReader(UnsafeRawBufferPointer(memory)) }

    static func == (left: DefaultValue, right: DefaultValue) -> Bool { left.bytes == right.bytes }
  }
}

extension FieldFallback {
  /// Makes the fallbacks that a type declares for a field.
  ///
  /// - Parameters:
  ///   - key: The coding name of the field.
  ///   - history: The type.
  ///   - type: The type of the field, if known: the default is encoded as this type.
  init(of key: FieldKey, in history: any FieldHistory.Type, as type: Any.Type?) {
    let name = String(decoding: key.bytes, as: UTF8.self)
    formerNames = (history.formerFieldNames[name] ?? []).map { FieldKey($0) }
    guard let value = history.fieldDefaults[name],
      var bytes = try? RecordEncoder.encodeValue(value).body
    else { return }
    if let type = type as? any Codable.Type, let coded = try? Self.coded(bytes, as: type) {
      bytes = coded
    }
    defaultValue = DefaultValue(bytes)
  }

  private static func coded<Value: Codable>(
    _ bytes: [UInt8], as type: Value.Type
  ) throws -> [UInt8] {
    try RecordEncoder.encodeValue(RecordDecoder.decodeValue(type, from: bytes)).body
  }
}

extension FieldPath {
  /// Makes a name as a type reads it, with the former names and defaults of its steps.
  ///
  /// - Parameters:
  ///   - name: The coding name of the field.
  ///   - type: The type of the records.
  ///   - properties: The stored properties of the steps; `nil` if they have the names of the steps.
  ///   - valueType: The type of the value; `nil` for that of the stored property.
  package convenience init(
    _ name: String, in type: Any.Type, along properties: [String]? = nil,
    to valueType: Any.Type? = nil
  ) {
    let plain = FieldPath(name)
    if plain.areWords {
      self.init(
        name, fallbacks: [], sources: plain.sources.map { FieldPath($0.name, in: type) })
      return
    }
    var fallbacks: [FieldFallback] = []
    var isResolved = true
    let keys = plain.parts.isEmpty ? [plain.whole] : plain.parts.map(\.key)
    let names = properties ?? keys.map { String(decoding: $0.bytes, as: UTF8.self) }
    let isAligned = names.count == keys.count
    var owner: Any.Type? = type
    if !plain.parts.isEmpty { fallbacks.append(Self.fallback(plain.whole, in: type, as: nil)) }
    for (step, key) in keys.enumerated() {
      guard let present = owner else {
        isResolved = false
        fallbacks.append(FieldFallback())
        continue
      }
      var next = isAligned ? StoredProperties.type(of: names[step], in: present) : nil
      fallbacks.append(Self.fallback(key, in: present, as: next))
      if step < plain.parts.count, plain.parts[step].isEach {
        next = next.flatMap { StoredProperties.element(of: $0) }
      }
      owner = next
    }
    self.init(
      name, fallbacks: fallbacks.allSatisfy(\.isEmpty) ? [] : fallbacks,
      reading: FieldReading(valueType ?? owner), isResolved: isResolved)
  }

  private static func fallback(
    _ key: FieldKey, in type: Any.Type, as field: Any.Type?
  ) -> FieldFallback {
    (type as? any FieldHistory.Type).map { FieldFallback(of: key, in: $0, as: field) }
      ?? FieldFallback()
  }

  /// Reads the fallbacks of a name.
  ///
  /// - Throws: ``StoreError`` `damaged` for other bytes.
  convenience init(_ name: String, fallbackBytes bytes: [UInt8]) throws {
    let count = FieldPath(name).parts.count + 1
    var fallbacks: [FieldFallback] = []
    var row = RowReader(bytes.span, "indexes", "the former names of \(name) are malformed")
    var reading = FieldReading.asStored
    if !bytes.isEmpty { fallbacks = Array(repeating: FieldFallback(), count: count) }
    while row.restByteCount > 0 {
      let step = Int(try row.number(width: 1))
      if step == Self.readingStep {
        guard let known = FieldReading(rawValue: UInt8(try row.number(width: 1))) else {
          throw row.malformed
        }
        reading = known
        if known == .words {
          let names = Self.names(ofWordsIn: name)
          let sources = try names.map { try FieldPath($0, fallbackBytes: row.counted(width: 4)) }
          try row.end()
          self.init(name, fallbacks: [], sources: sources)
          return
        }
        continue
      }
      guard step < count else { throw row.malformed }
      for _ in 0..<(try row.number(width: 1)) {
        fallbacks[step].formerNames.append(FieldKey(try row.counted(width: 2)))
      }
      let value = try row.counted(width: 4)
      if !value.isEmpty { fallbacks[step].defaultValue = .init(value) }
    }
    self.init(
      name, fallbacks: fallbacks.allSatisfy(\.isEmpty) ? [] : fallbacks, reading: reading)
  }

  /// The byte before the number of the reading: a name has fewer steps.
  private static var readingStep: Int { 0xFF }

  /// The fallbacks and the reading as bytes; empty if there are none.
  var fallbackBytes: [UInt8] {
    var bytes: [UInt8] = []
    for (step, fallback) in fallbacks.enumerated() where !fallback.isEmpty {
      bytes.append(UInt8(clamping: step))
      bytes.append(UInt8(clamping: fallback.formerNames.count))
      for name in fallback.formerNames.prefix(255) {
        bytes.append(counted: name.bytes, width: 2)
      }
      bytes.append(counted: fallback.defaultValue?.bytes ?? [], width: 4)
    }
    if reading != .asStored { bytes += [UInt8(Self.readingStep), reading.rawValue] }
    for source in sources { bytes.append(counted: source.fallbackBytes, width: 4) }
    return bytes
  }

  /// The keys of a step: its present name, then its former ones.
  func keys(ofPart part: Int) -> [FieldKey] {
    [parts[part].key] + (fallbacks.isEmpty ? [] : fallbacks[part + 1].formerNames)
  }

  /// Moves to the value of a step in the next map: under its present name, a former one, or the
  /// declared default.
  ///
  /// - Parameters:
  ///   - step: 0 for the name as a whole, else the number of the part, from 1.
  ///   - reader: The reader, before the map.
  ///   - takesDefault: Whether to use the default, which lies outside the record.
  /// - Returns: Whether there is a map with the step.
  /// - Throws: `CBORError` for bytes that are not a record body.
  @inline(__always)
  func find(
    step: Int, in reader: inout CBORReader, takesDefault: Bool = true
  ) throws(CBORError) -> Bool {
    if fallbacks.isEmpty {
      return try Self.find(step == 0 ? whole : parts[step - 1].key, in: &reader)
    }
    return try findEvolved(step, in: &reader, takesDefault)
  }

  @inline(never)
  private func findEvolved(
    _ step: Int, in reader: inout CBORReader, _ takesDefault: Bool
  ) throws(CBORError) -> Bool {
    let start = reader
    if try Self.find(step == 0 ? whole : parts[step - 1].key, in: &reader) { return true }
    let fallback = fallbacks[step]
    for name in fallback.formerNames {
      reader = start
      if try Self.find(name, in: &reader) { return true }
    }
    guard takesDefault, let value = fallback.defaultValue else { return false }
    reader = start
    guard try Self.openMap(in: &reader) != nil else { return false }
    reader = value.reader
    return true
  }
}
