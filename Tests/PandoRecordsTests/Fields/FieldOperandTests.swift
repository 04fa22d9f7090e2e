import PandoFixtures
import Testing

@testable import PandoRecords

/// Comparisons of a field's bytes with a value, each beside the comparison of the decoded values.
@Suite struct FieldOperandTests {
  enum Stored {
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    case null
    case list(Int)

    func append(to writer: inout CBORWriter) {
      switch self {
      case .bool(let value): writer.append(value)
      case .integer(let value): writer.append(value)
      case .double(let value): writer.append(value)
      case .text(let value): writer.append(value)
      case .null: writer.appendNull()
      case .list(let count):
        writer.append(arrayHead: count)
        for number in 0..<count { writer.append(Int64(number)) }
      }
    }

    var operand: FieldOperand.Value? {
      switch self {
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .double(let value): value.isNaN ? nil : .double(value)
      case .text(let value): .text(Array(value.utf8))
      case .null, .list: nil
      }
    }

    /// The order of two values of the same kind; `nil` for others.
    func order(_ other: Stored) -> FieldOperand.Order? {
      func order<Value: Comparable>(_ left: Value, _ right: Value) -> FieldOperand.Order? {
        left < right ? .less : left == right ? .equal : left > right ? .greater : nil
      }
      return switch (self, other) {
      case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
      case (.integer(let left), .integer(let right)): order(left, right)
      case (.double(let left), .double(let right)): order(left, right)
      case (.text(let left), .text(let right)):
        left.utf8.lexicographicallyPrecedes(right.utf8)
          ? .less : left.utf8.elementsEqual(right.utf8) ? .equal : .greater
      default: nil
      }
    }
  }

  static let values: [Stored] =
    [false, true].map { .bool($0) }
    + [
      0, 1, 23, 24, 255, 256, 65_535, 65_536, 1 << 32 - 1, 1 << 32, .max, -1, -24, -25, -256, .min,
    ].map { .integer($0) }
    + [
      0, -0.0, 0.5, -1.5, 1.1, 65_504, 65_536, 1e300, -1e300, .infinity, -.infinity, .nan,
      .leastNonzeroMagnitude, Double(Float.leastNonzeroMagnitude),
      Double(Float.greatestFiniteMagnitude), 5.960_464_477_539_063e-8,
    ].map { .double($0) }
    + [0, 1, 7, 8, 22, 23, 24, 254, 255, 256, 300].flatMap { count in
      ["a", "é"].map { .text(String(repeating: $0, count: count / $0.utf8.count)) }
    }
    + [.null, .list(0), .list(30)]

  static let names =
    ["", "a", "name", "1234567", "12345678", "a name"]
    + [22, 23, 24, 255, 256].map { String(repeating: "n", count: $0) }

  /// A body with a field among others, of which the ones before it are given.
  static func body(_ name: String, _ value: Stored, behind others: [Stored]) -> [UInt8] {
    var writer = CBORWriter()
    writer.append(mapHead: others.count + 2)
    for (place, other) in others.enumerated() {
      writer.append("other\(place)")
      other.append(to: &writer)
    }
    writer.append(name)
    value.append(to: &writer)
    writer.append("last")
    writer.append(Int64(1))
    return writer.bytes
  }

  static func order(_ operand: FieldOperand, in body: [UInt8]) throws -> FieldOperand.Order {
    try unsafe body.withUnsafeBytes { try unsafe operand.order(in: $0) }
  }

  @Test(arguments: names) func `a field has the order of its decoded value`(name: String) throws {
    for (place, stored) in Self.values.enumerated() {
      let body = Self.body(name, stored, behind: [])
      for other in Self.values {
        guard let value = other.operand else { continue }
        let found = try Self.order(FieldOperand(field: name, value), in: body)
        let isLong = if case .text(let text) = stored { text.utf8.count > 255 } else { false }
        let expected = isLong ? nil : stored.order(other)
        #expect(found == expected ?? .unknown, "\(name), \(place): \(stored), \(other)")
      }
    }
  }

  @Test(arguments: seeds(200))
  func `fields before an operand do not change the result`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let others = (0..<Int.random(in: 0...30, using: &random)).map { _ in
      Self.values.randomElement(using: &random) ?? .null
    }
    let name = Self.names.randomElement(using: &random) ?? ""
    let body = Self.body(name, .integer(7), behind: others)
    #expect(try Self.order(FieldOperand(field: name, .integer(9)), in: body) == .less)
    #expect(try Self.order(FieldOperand(field: "absent", .integer(9)), in: body) == .unknown)
    #expect(try Self.order(FieldOperand(field: "last", .integer(1)), in: body) == .equal)
  }

  @Test(arguments: seeds(20)) func `bytes that are cut or changed stay in bounds`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let others = (0..<4).map { _ in Self.values.randomElement(using: &random) ?? .null }
    let value = Self.values.randomElement(using: &random) ?? .null
    let body = Self.body("name", value, behind: others)
    let operands = Self.values.compactMap(\.operand).map { FieldOperand(field: "name", $0) }
    for count in 0..<body.count {
      // Memory of its own, at whose end a sanitizer detects a read.
      let cut = Array(body.prefix(count))
      var changed = body
      changed[count] = UInt8.random(in: 0...255, using: &random)
      for operand in operands {
        // An error is right as well.
        for bytes in [cut, changed] { _ = try? Self.order(operand, in: bytes) }
      }
    }
    let isFound = (try? Self.order(FieldOperand(field: "last", .integer(1)), in: body)) == .equal
    #expect(isFound)
  }
}
