/// The types that need no generic code.
extension FieldSource {
  /// Reads a truth value.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Bool { try scalar(name) }

  /// Reads a truth value that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Bool? { try scalarIfPresent(name) }

  /// Reads a text.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> String { try scalar(name) }

  /// Reads a text that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> String? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Double { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Double? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Float { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Float? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int8 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int8? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int16 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int16? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int32 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int32? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int64 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> Int64? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt8 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt8? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt16 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt16? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt32 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt32? { try scalarIfPresent(name) }

  /// Reads a number.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt64 { try scalar(name) }

  /// Reads a number that may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or the record has no such field.
  /// - Throws: ``ModelError`` that names the field.
  public mutating func read(_ name: StaticString) throws -> UInt64? { try scalarIfPresent(name) }
}
