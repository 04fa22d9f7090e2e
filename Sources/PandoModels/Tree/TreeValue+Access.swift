extension TreeValue {
  /// The value of a field; `nil` if there is none.
  ///
  /// It is found in objects, entries with text keys and nodes, also in required ones. Assigning
  /// `nil` removes the field; assigning to a value without fields stops the process.
  ///
  /// - Parameter name: The name of the field.
  public subscript(name: String) -> TreeValue? {
    get {
      switch self {
      case .object(let fields): fields[name]
      case .entries(let entries): entries[.string(name)]
      case .node(let node): node.fields[name]
      case .required(let value): value[name]
      default: nil
      }
    }
    set {
      switch self {
      case .object(var fields):
        self = .null  // so that the dictionary is not copied
        fields[name] = newValue
        self = .object(fields)
      case .entries(var entries):
        self = .null
        entries[.string(name)] = newValue
        self = .entries(entries)
      case .node(var node):
        self = .null
        node.fields[name] = newValue
        self = .node(node)
      case .required(var value):
        self = .null
        value[name] = newValue
        self = .required(value)
      default: preconditionFailure("\(self) has no field \(name)")
      }
    }
  }

  /// The element at a position of an array; `nil` if there is none.
  ///
  /// Assigning `nil` removes the element. Assigning past the end, or to a value that is no array,
  /// stops the process.
  ///
  /// - Parameter index: The position, from zero.
  public subscript(index: Int) -> TreeValue? {
    get {
      guard let values = arrayValue, values.indices.contains(index) else { return nil }
      return values[index]
    }
    set {
      switch self {
      case .array(var values):
        precondition(values.indices.contains(index), "no element \(index) of \(values.count)")
        self = .null  // so that the array is not copied
        if let newValue { values[index] = newValue } else { values.remove(at: index) }
        self = .array(values)
      case .required(var value):
        self = .null
        value[index] = newValue
        self = .required(value)
      default: preconditionFailure("\(self) has no element \(index)")
      }
    }
  }

  /// Whether this is an explicit null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The truth value; `nil` for other values.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The integer; `nil` for other values, and for integers above `Int64.max`.
  public var integerValue: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The number; `nil` for other values, and for integers that a double cannot represent exactly.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(exactly: value)
    case .unsigned(let value): Double(exactly: value)
    default: nil
    }
  }

  /// The text; `nil` for other values.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The bytes; `nil` for other values.
  public var bytesValue: [UInt8]? {
    if case .bytes(let value) = self { value } else { nil }
  }

  /// The elements of an array; `nil` for other values.
  public var arrayValue: [TreeValue]? {
    switch self {
    case .array(let values): values
    case .required(let value): value.arrayValue
    default: nil
    }
  }

  /// The fields of an object; `nil` for other values.
  public var objectValue: [String: TreeValue]? {
    switch self {
    case .object(let fields): fields
    case .required(let value): value.objectValue
    default: nil
    }
  }

  /// The node; `nil` for other values.
  public var nodeValue: TreeNode? {
    switch self {
    case .node(let node): node
    case .required(let value): value.nodeValue
    default: nil
    }
  }
}

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

  /// Makes an integer from one of any width; `nil` below `Int64.min` or above `UInt64.max`.
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
