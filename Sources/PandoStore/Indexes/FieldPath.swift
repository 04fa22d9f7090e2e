import FoundationEssentials
import PandoRecords

/// The name of a field, and the way to its value in the body of a record.
///
/// If a name with dots is not a field itself, it leads through objects and into the records of
/// children: `address.city`, `author.name`. After `[]` it continues in each element of a list or
/// map: `labels[].name`. The value of a child is its identifier.
///
/// A declared name has the former names and defaults of its type, and of those on the path. All
/// code that reads stored fields uses it. All properties are constant.
package final class FieldPath: Sendable {
  /// One step of a name.
  struct Part: Sendable {
    let key: FieldKey
    /// Whether it continues in each element of the value.
    let isEach: Bool

    init(_ bytes: some Collection<UInt8>) {
      isEach = Self.isEach(bytes)
      key = FieldKey(Array(isEach ? Array(bytes.dropLast(2)) : Array(bytes)))
    }

    static func isEach(_ bytes: some Collection<UInt8>) -> Bool {
      bytes.count > 2 && bytes.suffix(2).elementsEqual("[]".utf8)
    }
  }

  /// The longest name, in bytes; leaves room for the type number in the key of an index.
  static let byteCountMaximum = 400

  /// The name.
  package let name: String
  /// The name in UTF-8.
  let whole: FieldKey
  /// The steps; empty if the name has no dots or brackets.
  let parts: [Part]
  /// Whether the field has one value per element of a list.
  package let hasElements: Bool
  /// The fallbacks of the whole name, then of each part; empty if there are none.
  let fallbacks: [FieldFallback]
  /// How the value at the end is read.
  let reading: FieldReading
  /// The fields of which this one has the words; empty for any other.
  let sources: [FieldPath]
  /// Whether the fallbacks of all steps are known; a step of an unknown type may have one.
  package let isResolved: Bool

  /// Makes a stored name, without former names and defaults.
  package convenience init(_ name: String) { self.init(name, fallbacks: []) }

  init(
    _ name: String, fallbacks: [FieldFallback], reading: FieldReading = .asStored,
    isResolved: Bool = true, sources: [FieldPath] = []
  ) {
    self.name = name
    self.fallbacks = fallbacks
    self.isResolved = isResolved
    let inner = Self.nameToFold(in: name)
    self.sources =
      sources.isEmpty ? Self.names(ofWordsIn: name).map { FieldPath($0) } : sources
    self.reading = self.sources.isEmpty ? inner == nil ? reading : .folded : .words
    let bytes = Array((inner ?? name).utf8)
    whole = FieldKey(bytes)
    parts =
      self.sources.isEmpty && (bytes.contains(UInt8(ascii: ".")) || Part.isEach(bytes))
      ? bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Part($0) }
      : []
    hasElements = !self.sources.isEmpty || parts.contains(where: \.isEach)
  }

  /// The name in `folded(name)`; `nil` for another one.
  static func nameToFold(in name: String) -> String? {
    guard name.utf8.last == UInt8(ascii: ")"), name.hasPrefix(foldedStart) else { return nil }
    return String(name.dropFirst(foldedStart.count).dropLast())
  }

  private static let foldedStart = "folded("

  /// The text of the field without case and accents; its name is `folded(name)`.
  var folded: FieldPath {
    reading == .folded
      ? self
      : FieldPath("\(Self.foldedStart)\(name))", fallbacks: fallbacks, isResolved: isResolved)
  }

  /// Whether a record is read by the present names alone, and its values as their bytes show them.
  var isPlainlyRead: Bool { fallbacks.isEmpty && reading == .asStored }

  /// Whether the name can only be a field of the body itself.
  var isWhole: Bool { parts.isEmpty && sources.isEmpty }

  /// Whether the name may lead into the records of children.
  package var leadsOn: Bool { !parts.isEmpty }

  /// The value of the field in a body; null if it is absent, and all values of elements.
  ///
  /// - Throws: ``StoreError`` `damaged` if the bytes are not a record body.
  func value(in body: Span<UInt8>, _ children: any FieldChildren) throws -> QueryValue {
    if let value = try hasElements ? plainElements(in: body) : plainValue(in: body) { return value }
    return try relatedValue(in: body, children)
  }

  /// The same for a field of the body itself that is no child; else `nil`.
  func plainValue(in body: Span<UInt8>) throws -> QueryValue? {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes in
      do throws(CBORError) {
        var reader = unsafe CBORReader(bytes)
        guard try find(step: 0, in: &reader) else { return parts.isEmpty ? .null : nil }
        let start = reader
        let value = try leafValue(in: &reader)
        if case .composite = value, try start.peekReference() != nil { return nil }
        return value
      } catch {
        throw damaged(error)
      }
    }
  }

  /// The children in the field of a body, in one, a list or a map; empty if it is absent.
  ///
  /// - Throws: ``StoreError`` `damaged` if the bytes are not a record body.
  func edges(in body: Span<UInt8>) throws -> [RecordEdge] {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { bytes in
      guard let range = unsafe try range(in: bytes) else { return [] }
      return try unsafe RecordBody.edges(in: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }

  /// The range of the field's value in a body; `nil` if it is absent.
  ///
  /// - Throws: ``StoreError`` `damaged` if the bytes are not a record body.
  func range(in body: Span<UInt8>) throws -> Range<Int>? {
    // Read during the call only.
    try unsafe body.withUnsafeBytes { try unsafe range(in: $0) }
  }

  private func range(in body: UnsafeRawBufferPointer) throws -> Range<Int>? {
    do throws(CBORError) {
      // Read during the call only.
      var reader = unsafe CBORReader(body)
      if try !find(step: 0, in: &reader, takesDefault: false) {
        if parts.isEmpty { return nil }
        reader = unsafe CBORReader(body)
        for step in parts.indices {
          guard try find(step: step + 1, in: &reader, takesDefault: false) else { return nil }
        }
      }
      let start = reader.offset
      try reader.skip()
      return start..<reader.offset
    } catch {
      throw damaged(error)
    }
  }

  /// The error of a body that can't be read.
  func damaged(_ error: CBORError) -> StoreError {
    .damaged("field \(name)", "a record is no CBOR: \(error)")
  }

  /// Moves to the value under a key of the next map.
  ///
  /// - Returns: Whether there is a map with the key.
  static func find(_ key: FieldKey, in reader: inout CBORReader) throws(CBORError) -> Bool {
    guard let count = try openMap(in: &reader) else { return false }
    return try reader.find(key, among: count)
  }

  /// Moves into the next map.
  ///
  /// - Returns: The number of its entries; `nil` if the next item is no map.
  static func openMap(in reader: inout CBORReader) throws(CBORError) -> Int? {
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try reader.head()
    }
    return head.major == .map ? Int(head.argument) : nil
  }

  /// The value at the end of the name.
  @inline(__always)
  func leafValue(in reader: inout CBORReader) throws(CBORError) -> QueryValue {
    reading == .asStored ? try Self.value(in: &reader) : try reading.value(in: &reader)
  }

  static func value(in reader: inout CBORReader) throws(CBORError) -> QueryValue {
    let head = try reader.peek()
    switch head.major {
    case .unsigned: return QueryValue(head.argument)
    case .negative:
      guard let value = Int64(exactly: head.argument) else {
        return QueryValue(isNegative: true, magnitude: UInt128(head.argument) + 1)
      }
      return .integer(-1 - value)
    case .text: return .string(try reader.text())
    case .bytes: return unsafe .data(Data(try reader.byteString()))
    case .simple:
      if let double = head.double { return .double(double) }
      return head.bool.map { .bool($0) } ?? .null
    case .tag: return try taggedValue(in: &reader)
    case .array, .map: return .composite
    }
  }

  private static func taggedValue(in reader: inout CBORReader) throws(CBORError) -> QueryValue {
    let tag = try reader.tag()
    let content = try reader.peek()
    switch (tag, content.major) {
    case (RecordTag.uuid, .bytes) where content.argument == 16:
      let bytes = unsafe try reader.byteString()
      // There are sixteen bytes.
      return .uuid(UUID(uuid: unsafe bytes.loadUnaligned(as: uuid_t.self)))
    case (RecordTag.url, .text): return .string(try reader.text())
    case (RecordTag.positiveBignum, .bytes), (RecordTag.negativeBignum, .bytes):
      return try bignum(tag, in: &reader)
    case (RecordTag.decimalFraction, .array) where content.argument == 2:
      return try decimal(in: &reader)
    default: return .composite
    }
  }

  /// The integer in the bytes after a tag; composite if it has more than 128 bits.
  private static func bignum(_ tag: UInt64, in reader: inout CBORReader) throws(CBORError)
    -> QueryValue
  {
    guard try reader.peek().argument <= 16 else { return .composite }
    var argument: UInt128 = 0
    for byte in unsafe [UInt8](try reader.byteString()) { argument = argument << 8 | UInt128(byte) }
    guard tag == RecordTag.negativeBignum else {
      return QueryValue(isNegative: false, magnitude: argument)
    }
    return argument == .max ? .composite : QueryValue(isNegative: true, magnitude: argument + 1)
  }

  /// The number of an exponent and a mantissa; composite if they do not fit `Decimal`.
  private static func decimal(in reader: inout CBORReader) throws(CBORError) -> QueryValue {
    _ = try reader.head()
    let head = try reader.head()
    let exponent: Int
    switch head.major {
    case .unsigned where head.argument < 128: exponent = Int(head.argument)
    case .negative where head.argument < 128: exponent = -1 - Int(head.argument)
    default: return .composite
    }
    let mantissa: QueryValue
    switch try reader.peek().major {
    case .tag:
      let tag = try reader.tag()
      let isBignum = tag == RecordTag.positiveBignum || tag == RecordTag.negativeBignum
      guard isBignum, try reader.peek().major == .bytes else { return .composite }
      mantissa = try bignum(tag, in: &reader)
    case .unsigned, .negative: mantissa = try value(in: &reader)
    default: return .composite
    }
    guard let digits = mantissa.decimalNumber else { return .composite }
    return QueryValue(
      DecimalNumber(
        isNegative: digits.isNegative, magnitude: digits.magnitude,
        exponent: digits.exponent + exponent))
  }
}

extension FieldPath: Hashable {
  /// Whether both read the same value of every record: the fallbacks and the reading must be equal, too.
  package static func == (left: FieldPath, right: FieldPath) -> Bool {
    left === right
      || left.whole == right.whole && left.fallbacks == right.fallbacks
        && left.reading == right.reading && left.sources == right.sources
  }

  /// Whether both have the same name, regardless of fallbacks.
  package func hasSameName(as other: FieldPath) -> Bool {
    whole == other.whole && (reading == .folded) == (other.reading == .folded)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(whole) }
}
