import PandoModels

/// Finds the fields of one map for a keyed container.
///
/// A model may keep the container: then it throws as soon as the decoding has ended, and its
/// session is not used again. One thread at a time.
@safe final class FieldReader {
  let level: Int
  private let decoding: DecodingSession
  /// The type of the value, if it declares former names or defaults.
  private let history: (any FieldHistory.Type)?
  /// Before a key.
  @exclusivity(unchecked) private var cursor: FieldCursor

  /// Opens the map of a value, whose type may declare former names or defaults.
  init(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    history: (any FieldHistory.Type)? = nil
  ) throws {
    decoding = session
    self.level = level
    self.history = history
    unsafe cursor = try FieldCursor(value)
  }

  /// The session of the fields.
  ///
  /// - Throws: `ModelError` `snapshotEnded`.
  func session() throws -> DecodingSession {
    try decoding.checkAlive()
    return decoding
  }

  /// The names of all fields, in map order.
  var names: [String] { unsafe decoding.hasEnded ? [] : cursor.names }

  /// Finds a field by its present or a former name; `nil` if the map has neither.
  func field(_ name: inout String) throws -> CBORReader? {
    try decoding.checkAlive()
    return try unsafe cursor.search(&name, history)
  }

  /// Whether the map has a field, by its present or a former name.
  func contains(_ name: String) -> Bool {
    var name = name
    return (try? field(&name)) != nil
  }

  func isNull(_ name: String) throws -> Bool {
    var name = name
    guard let reader = try field(&name) else { throw MissingField.error(name) }
    return try reader.peek().isNull
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ name: inout String) throws -> Value {
    guard let reader = try field(&name) else { return try MissingField.value(name, history) }
    do {
      return try decoding.decode(type, at: reader, level: level)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, _ name: inout String) throws -> Value?
  {
    guard var reader = try field(&name) else {
      return try MissingField.defaultValue(name, history)
    }
    do {
      if reader.takeNull() { return nil }
      return try decoding.decode(type, at: reader, level: level)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Decodes a field of a scalar type.
  func decodeKnown<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ name: inout String
  ) throws -> Known {
    guard var reader = try field(&name) else { return try MissingField.value(name, history) }
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
    guard var reader = try field(&name) else {
      return try MissingField.defaultValue(name, history)
    }
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
    guard let reader = try field(&name) else { throw MissingField.error(name) }
    do {
      return try body(reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }
}
