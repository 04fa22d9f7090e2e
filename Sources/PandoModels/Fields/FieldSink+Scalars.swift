/// The types that need no generic code.
extension FieldSink {
  /// Writes a truth value.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Bool) { scalar(name, value) }

  /// Writes a truth value that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Bool?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a text.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: String) { scalar(name, value) }

  /// Writes a text that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: String?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Double) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Double?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Float) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Float?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Int) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Int?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Int8) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Int8?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Int16) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Int16?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Int32) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Int32?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: Int64) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: Int64?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: UInt) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: UInt?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: UInt8) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: UInt8?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: UInt16) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: UInt16?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: UInt32) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: UInt32?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a number.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  public mutating func write(_ name: StaticString, _ value: UInt64) { scalar(name, value) }

  /// Writes a number that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  public mutating func write(_ name: StaticString, _ value: UInt64?) {
    if let value { scalar(name, value) } else { null(name) }
  }
}
