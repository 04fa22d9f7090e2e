import FoundationEssentials
import PandoRecords

/// A type of a field that is coded as another one.
package protocol FieldWrapper {
  /// The type that is coded.
  static var wrappedType: Any.Type { get }
}

/// How the bytes of a field become a value: as they are, or as the type of the field reads them.
///
/// In the declaration of an index it follows the fallbacks as FF and the number of the case; see
/// ``FieldFallback``. Most fields have none.
enum FieldReading: UInt8, Sendable {
  /// A number, text or other value as its bytes show it.
  case asStored = 0
  /// A `Decimal`: a float, as JSON gives, is the decimal number of its shortest digits.
  case decimal = 1
  /// A `Duration`: two integers are its seconds.
  case duration = 2
  /// An enum without values: the one key of a map is the name of its case.
  case caseName = 3
  /// A text without case and accents.
  case folded = 4
  /// The words of texts, by the rules of ``WordScanner``.
  case words = 5

  /// The reading of a type, of what it wraps, or of the elements of a list or map.
  init(_ type: Any.Type?) {
    let value = type.map { Self.wrapped(StoredProperties.element(of: $0) ?? $0) }
    if value == Decimal.self {
      self = .decimal
    } else if value == Duration.self {
      self = .duration
    } else {
      self = value is any CaseNamed.Type ? .caseName : .asStored
    }
  }

  private static func wrapped(_ type: Any.Type) -> Any.Type {
    let type = StoredProperties.unwrapped(type)
    return (type as? any FieldWrapper.Type).map { wrapped($0.wrappedType) } ?? type
  }

  /// The value of the next item.
  @inline(never)
  func value(in reader: inout CBORReader) throws(CBORError) -> QueryValue {
    let start = reader
    let value = try FieldPath.value(in: &reader)
    switch (self, value) {
    case (.decimal, .double(let double)) where double.isFinite:
      guard let decimal = Decimal(string: double.description), !decimal.isNaN else { return value }
      return .decimal(decimal)
    case (.duration, .composite):
      reader = start
      return try Self.duration(in: &reader) ?? .composite
    case (.folded, .string(let text)): return .string(TextFolding.whole.folded(text))
    case (.caseName, .composite):
      reader = start
      return try Self.caseName(in: &reader) ?? .composite
    default: return value
    }
  }

  private static func caseName(in reader: inout CBORReader) throws(CBORError) -> QueryValue? {
    let head = try reader.head()
    guard head.major == .map, head.argument == 1, try reader.peek().major == .text else {
      return nil
    }
    let name = try reader.text()
    try reader.skip()
    return .string(name)
  }

  /// The seconds in the coding of `Duration`: the upper and the lower 64 bits of its attoseconds.
  private static func duration(in reader: inout CBORReader) throws(CBORError) -> QueryValue? {
    let head = try reader.head()
    guard head.major == .array, head.argument == 2,
      let high = try integer(in: &reader).flatMap(Int64.init(exactly:)),
      let low = try integer(in: &reader).flatMap(UInt64.init(exactly:))
    else { return nil }
    return .duration(Duration(attoseconds: Int128(high) << 64 | Int128(low)))
  }

  private static func integer(in reader: inout CBORReader) throws(CBORError) -> Int128? {
    let head = try reader.head()
    switch head.major {
    case .unsigned: return Int128(head.argument)
    case .negative: return -1 - Int128(head.argument)
    default: return nil
    }
  }
}

extension QueryValue {
  /// A text, or each one of several, without case and accents; another value as it is.
  var folded: QueryValue {
    switch self {
    case .string(let text): .string(TextFolding.whole.folded(text))
    case .elements(let values): .elements(values.map(\.folded))
    default: self
    }
  }
}
