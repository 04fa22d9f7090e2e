extension KeyedRecordDecoder {
  func decodeNil(forKey key: Key) throws -> Bool {
    guard let reader = try field(key) else {
      throw ModelError(
        .missingField, reason: "the record has no field \"\(key.stringValue)\""
      ).inside(key.stringValue)
    }
    return try reader.peek().isNull
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    guard var reader = try field(key) else { return try missing(type, key.stringValue) }
    do {
      return try session.decode(type, from: &reader, level: level)
    } catch {
      throw ModelError.located(error, inside: key.stringValue)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard var reader = try field(key) else { return try defaultValue(type, key.stringValue) }
    do {
      if try reader.takeNull() { return nil }
      return try session.decode(type, from: &reader, level: level)
    } catch {
      throw ModelError.located(error, inside: key.stringValue)
    }
  }

  /// Decodes a field of a type that this module knows.
  func decodeKnown<Known: RecordDecodable & Decodable>(
    _ type: Known.Type, forKey key: Key
  ) throws -> Known {
    guard var reader = try field(key) else { return try missing(type, key.stringValue) }
    do {
      return try Known.decodeRecord(from: &reader, in: session, level: level)
    } catch {
      throw ModelError.located(error, inside: key.stringValue)
    }
  }

  /// Decodes a field of a type that this module knows, if it is there and not null.
  func decodeKnownIfPresent<Known: RecordDecodable & Decodable>(
    _ type: Known.Type, forKey key: Key
  ) throws -> Known? {
    guard var reader = try field(key) else { return try defaultValue(type, key.stringValue) }
    do {
      if try reader.takeNull() { return nil }
      return try Known.decodeRecord(from: &reader, in: session, level: level)
    } catch {
      throw ModelError.located(error, inside: key.stringValue)
    }
  }
}
