import PandoSystem

/// A field and a plain value to compare it with, made ready for many bodies: neither the body nor the
/// field is decoded.
package struct FieldOperand: Sendable {
  /// A value that has the same order in a body as decoded.
  package enum Value: Sendable {
    case bool(Bool)
    case integer(Int64)
    /// A number.
    case double(Double)
    /// The UTF-8 of a text.
    case text([UInt8])
  }

  /// How a field stands to the value.
  package enum Order: Sendable {
    case less, equal, greater
    /// The field is absent, of another kind, or in a form that has to be decoded.
    case unknown
  }

  private let key: FieldKey
  private let value: Value

  /// Makes an operand.
  ///
  /// - Parameters:
  ///   - name: The name of a field of the body itself.
  ///   - value: The value; a double is a number.
  package init(field name: String, _ value: Value) {
    key = FieldKey(name)
    self.value = value
  }

  /// How the field of a body stands to the value.
  ///
  /// - Parameter body: A record body; read during the call only.
  /// - Returns: The order, or that it is unknown.
  /// - Throws: ``CBORError`` when the bytes are no record body.
  package func order(in body: UnsafeRawBufferPointer) throws(CBORError) -> Order {
    var reader = unsafe CBORReader(body)
    let head = try reader.head()
    guard head.major == .map, try reader.find(key, among: Int(head.argument)) else {
      return .unknown
    }
    switch value {
    case .bool(let value):
      guard let found = try reader.head().bool else { return .unknown }
      return Order(found ? 1 : 0, value ? 1 : 0)
    case .integer(let value):
      if let found = reader.takeSmallUnsigned() {
        return Order(Int64(truncatingIfNeeded: found), value)
      }
      let head = try reader.head()
      guard let found = Int64(exactly: head.argument) else { return .unknown }
      switch head.major {
      case .unsigned: return Order(found, value)
      case .negative: return Order(-1 - found, value)
      default: return .unknown
      }
    case .double(let value):
      if let found = reader.takeWideDouble() { return Order(found, value) }
      guard let found = try reader.head().double else { return .unknown }
      return Order(found, value)
    case .text(let value):
      guard let found = unsafe reader.takeShortText() else { return .unknown }
      return unsafe Order(found, value)
    }
  }
}

extension FieldOperand.Order {
  fileprivate init<Number: Comparable>(_ found: Number, _ value: Number) {
    // What is no number is neither.
    self = found < value ? .less : found == value ? .equal : found > value ? .greater : .unknown
  }

  /// Compares texts byte by byte.
  fileprivate init(_ found: UnsafeRawBufferPointer, _ value: [UInt8]) {
    let order = unsafe value.withUnsafeBytes { value -> Int in
      guard let left = found.baseAddress, let right = value.baseAddress else {
        return 0
      }
      // Both have as many bytes.
      return unsafe Int(memcmp(left, right, min(found.count, value.count)))
    }
    self.init(order == 0 ? found.count - value.count : order, 0)
  }
}
