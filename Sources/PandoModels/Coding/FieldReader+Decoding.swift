extension FieldReader {
  /// Finds a field by its present or a former name; `nil` if the map has neither.
  @inline(__always)
  func field(_ name: inout String) throws -> CBORReader? {
    guard isValid else { throw ModelError.snapshotEnded }
    if let found = find(&name) { return found }
    return schema == nil ? nil : former(name)
  }

  /// Whether the type of the value says anything of its fields.
  var hasSchema: Bool { schema != nil }

  /// What the type of the value says of its fields, if it says anything.
  private var schema: (any SchemaVersioned.Type)? { unsafe index.pointee.owner?.pointee.schema }

  @inline(never)
  private func former(_ name: String) -> CBORReader? {
    guard let names = schema?.formerFieldNames[name] else { return nil }
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
      if try reader.takeNull() { return nil }
      return try session().decode(type, at: reader, level: level)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Decodes a field of a type that this module knows.
  @inline(__always)
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

  /// Decodes a field of a type that this module knows, if it is there and not null.
  @inline(__always)
  func decodeKnownIfPresent<Known: RecordScalarDecodable & Decodable>(
    _ type: Known.Type, _ name: inout String
  ) throws -> Known? {
    guard var reader = try field(&name) else { return try defaultValue(type, name) }
    do {
      if try reader.takeNull() { return nil }
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// Runs a closure on a field that has to be there, and names the field in what it throws.
  func inside<Result>(_ name: String, _ body: (CBORReader) throws -> Result) throws -> Result {
    var name = name
    guard let reader = try field(&name) else { throw Self.missing(name) }
    do {
      return try body(reader)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  /// What a field that is not there holds: the default that its type declares.
  @inline(never)
  func absent<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
    if let value = try defaultValue(type, name) { return value }
    throw Self.missing(name)
  }

  @inline(never)
  func defaultValue<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
    guard let value = schema?.fieldDefaults[name] else { return nil }
    if let value = value as? Value { return value }
    do {
      return try RecordDecoder.decodeValue(type, from: RecordEncoder.encodeValue(value).body)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  private static func missing(_ name: String) -> ModelError {
    ModelError(
      .missingField, reason: "the record has no field \"\(name)\" and its type no default for it"
    ).inside(name)
  }
}
