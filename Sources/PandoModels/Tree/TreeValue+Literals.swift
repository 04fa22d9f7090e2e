extension TreeValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Makes a truth value.
  ///
  /// - Parameter value: The truth value.
  public init(booleanLiteral value: Bool) {
    self = .bool(value)
  }

  /// Makes an integer.
  ///
  /// - Parameter value: The integer.
  public init(integerLiteral value: Int64) {
    self = .integer(value)
  }

  /// Makes a floating-point number.
  ///
  /// - Parameter value: The number.
  public init(floatLiteral value: Double) {
    self = .double(value)
  }

  /// Makes a text.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) {
    self = .string(value)
  }

  /// Makes an array.
  ///
  /// - Parameter elements: The elements, in order.
  public init(arrayLiteral elements: TreeValue...) {
    self = .array(elements)
  }

  /// Makes an object.
  ///
  /// *Precondition:* no name occurs twice.
  ///
  /// - Parameter elements: The fields.
  public init(dictionaryLiteral elements: (String, TreeValue)...) {
    self = .object(Dictionary(uniqueKeysWithValues: elements))
  }

  /// Makes an integer from one of any width, or `nil` when it is below `Int64.min` or above
  /// `UInt64.max`.
  ///
  /// - Parameter value: An integer.
  public init?(exactly value: some BinaryInteger) {
    if let value = Int64(exactly: value) {
      self = .integer(value)
    } else if let value = UInt64(exactly: value) {
      self = .unsigned(value)
    } else {
      return nil
    }
  }
}
