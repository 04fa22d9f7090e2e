import PandoModels
import Synchronization

/// Finds the fields of one map by an index of their keys.
///
/// It has two words and is copied freely. It is valid as long as the decoding of its map's value.
@safe struct FieldReader {
  let index: UnsafeMutablePointer<FieldTable>
  private let ticket: UInt64

  /// Makes a reader for the present use of an index.
  init(_ index: UnsafeMutablePointer<FieldTable>) {
    unsafe self.index = unsafe index
    ticket = unsafe index.pointee.ticket.load(ordering: .relaxed)
    unsafe index.pointee.readerCount += 1
  }

  /// Whether the map is still valid.
  ///
  /// The memory is never freed, so this can be read at any time; all else only while it is `true`.
  @inline(__always)
  var isValid: Bool { unsafe index.pointee.ticket.load(ordering: .relaxed) == ticket }

  var level: Int { unsafe index.pointee.level }

  /// The session of the fields.
  ///
  /// - Throws: `ModelError` `snapshotEnded`.
  func session() throws -> DecodingSession {
    guard isValid else { throw ModelError.snapshotEnded }
    return unsafe index.pointee.session
  }

  /// Opens the map of a whole value, or returns the latest one if it is the same.
  static func open(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    owner: UnsafePointer<TypeTraits>?
  ) throws -> FieldReader {
    if let last = unsafe session.maps, unsafe last.pointee.start == value.position,
      unsafe last.pointee.level == level, unsafe last.pointee.owner == owner, unsafe owner != nil
    {
      return unsafe FieldReader(last)
    }
    return try unsafe open(value, in: session, level: level, describing: owner)
  }

  /// Opens a map inside a value.
  static func openNested(
    _ value: CBORReader, in session: DecodingSession, level: Int
  ) throws -> FieldReader {
    try unsafe open(value, in: session, level: level, describing: nil)
  }

  /// Opens a map, maybe inside the tags that describe its loss.
  private static func open(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    describing owner: UnsafePointer<TypeTraits>?
  ) throws -> FieldReader {
    var reader = value
    let count = try reader.fieldCount()
    let index = unsafe session.makeFieldTable()
    unsafe index.pointee.level = level
    unsafe index.pointee.owner = unsafe owner
    unsafe index.pointee.start = value.position
    try unsafe index.pointee.index(&reader, count: count)
    return unsafe FieldReader(index)
  }
}

/// Releases the index of a nested container at the end of the container: a value may open very
/// many, one after the other.
final class FieldReaderLease {
  private let reader: FieldReader

  init(_ reader: FieldReader) { self.reader = reader }

  deinit {
    // A valid ticket means that the session has not ended: this is its thread.
    guard let session = try? reader.session() else { return }
    unsafe session.release(reader.index)
  }
}

extension FieldReader {
  /// Finds a field by its present or a former name; `nil` if the map has neither.
  @inline(__always)
  func field(_ name: inout String) throws -> CBORReader? {
    guard isValid else { throw ModelError.snapshotEnded }
    if let found = find(&name) { return found }
    return history == nil ? nil : former(name)
  }

  /// Whether the type of the value declares former names or defaults.
  var hasHistory: Bool { history != nil }

  /// The type of the value, if it declares former names or defaults.
  private var history: (any FieldHistory.Type)? { unsafe index.pointee.owner?.pointee.history }

  @inline(never)
  private func former(_ name: String) -> CBORReader? {
    guard let names = history?.formerFieldNames[name] else { return nil }
    for former in names {
      var former = former
      if let found = find(&former) { return found }
    }
    return nil
  }

  /// Whether the map has a field, by its present or a former name.
  func contains(_ name: String) -> Bool {
    var name = name
    return (try? field(&name)) != nil
  }

  func isNull(_ name: String) throws -> Bool {
    var name = name
    guard let reader = try field(&name) else { throw Self.missing(name) }
    return try reader.peek().isNull
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ name: inout String) throws -> Value {
    guard let reader = try field(&name) else { return try absent(type, name) }
    do {
      return try session().decode(type, at: reader, level: level)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, _ name: inout String) throws -> Value?
  {
    guard var reader = try field(&name) else { return try defaultValue(type, name) }
    do {
      if reader.takeNull() { return nil }
      return try session().decode(type, at: reader, level: level)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Decodes a field of a scalar type.
  func decodeKnown<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ name: inout String
  ) throws -> Known {
    guard var reader = try field(&name) else { return try absent(type, name) }
    do {
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Decodes a field of a scalar type, if it is present and not null.
  func decodeKnownIfPresent<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ name: inout String
  ) throws -> Known? {
    guard var reader = try field(&name) else { return try defaultValue(type, name) }
    do {
      if reader.takeNull() { return nil }
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Runs a closure on a required field, and adds the field's name to errors.
  func inside<Result>(_ name: String, _ body: (CBORReader) throws -> Result) throws -> Result {
    var name = name
    guard let reader = try field(&name) else { throw Self.missing(name) }
    do {
      return try body(reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// The value of a missing field: the default that its type declares.
  @inline(never)
  func absent<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
    if let value = try defaultValue(type, name) { return value }
    throw Self.missing(name)
  }

  /// The default that a type declares for a field.
  @inline(never)
  func defaultValue<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
    guard let value = try declaredDefault(type, name) else { return nil }
    return value as? Value
  }

  /// The same without generics, so that it is compiled once.
  @inline(never)
  private func declaredDefault(_ type: any Decodable.Type, _ name: String) throws -> Any? {
    guard let value = history?.fieldDefaults[name] else { return nil }
    if Self.has(value, type) { return value }
    do {
      return try RecordDecoder.decodeValue(type, from: RecordEncoder.encodeValue(value).body)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  private static func has<Value>(_ value: any Encodable, _ type: Value.Type) -> Bool {
    value is Value
  }

  @inline(never)
  private static func missing(_ name: String) -> ModelError {
    ModelError(
      .missingField, reason: "the record has no field \"\(name)\" and its type no default for it"
    ).inside(name)
  }
}
