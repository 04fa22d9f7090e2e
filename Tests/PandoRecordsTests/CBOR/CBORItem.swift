@testable import PandoRecords

/// A value in diagnostic notation's order: what the examples hold.
indirect enum CBORItem: Equatable, Sendable {
  case integer(Int128)
  case float(UInt64)
  case bool(Bool)
  case null
  case undefined
  case simple(UInt8)
  case bytes([UInt8])
  case text(String)
  case array([CBORItem])
  /// Keys and values in turn.
  case map([CBORItem])
  case tagged(UInt64, CBORItem)

  static func double(_ value: Double) -> CBORItem { .float(value.bitPattern) }
}

extension CBORItem {
  static func read(_ reader: inout CBORReader) throws -> CBORItem {
    let head = try reader.head()
    switch head.major {
    case .unsigned: return .integer(Int128(head.argument))
    case .negative: return .integer(-1 - Int128(head.argument))
    case .bytes: return .bytes([UInt8](reader.bytes(of: head)))
    case .text: return .text(String(decoding: reader.bytes(of: head), as: UTF8.self))
    case .array: return .array(try (0..<head.argument).map { _ in try read(&reader) })
    case .map:
      return .map(try (0..<2 * head.argument).map { _ in try read(&reader) })
    case .tag: return .tagged(head.argument, try read(&reader))
    case .simple:
      if let double = head.double { return .double(double) }
      if let bool = head.bool { return .bool(bool) }
      switch head.information {
      case 22: return .null
      case 23: return .undefined
      default: return .simple(UInt8(head.argument))
      }
    }
  }

  static func write(_ item: CBORItem, to writer: inout CBORWriter) {
    switch item {
    case .integer(let value): writer.append(value)
    case .float(let bits): writer.append(Double(bitPattern: bits))
    case .bool(let value): writer.append(value)
    case .null: writer.appendNull()
    case .undefined: writer.append(head: .simple, 23)
    case .simple(let value): writer.append(head: .simple, UInt64(value))
    case .bytes(let bytes): writer.append(byteString: bytes)
    case .text(let text): writer.append(text)
    case .array(let items):
      writer.append(arrayHead: items.count)
      for item in items { write(item, to: &writer) }
    case .map(let items):
      writer.append(mapHead: items.count / 2)
      for item in items { write(item, to: &writer) }
    case .tagged(let tag, let item):
      writer.append(tag: tag)
      write(item, to: &writer)
    }
  }
}
