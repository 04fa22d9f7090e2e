/// What the store knows of a node beside its records: a value of the `nodes` table.
///
/// ```
/// offset 0      1       2                 2 + 2·n
///        ┌──────┬───────┬─────────────────┬────────────────────┐
///        │flags │ n     │ n type numbers  │ identifier (UTF-8) │   type numbers: 2 bytes each,
///        └──────┴───────┴─────────────────┴────────────────────┘   little endian, ascending
/// flags: bit 0 = asked for (set as a root or listed by a collection at some time)
/// ```
struct NodeRow: Equatable {
  /// The most projections that one node can have.
  ///
  /// The count is one byte; nobody has been seen to need ten.
  static let typeCountMaximum = 255

  var isAskedFor = false
  var types: [UInt32] = []
  var identifier: String

  init(identifier: String) { self.identifier = identifier }

  init(_ bytes: Span<UInt8>, node: UInt64) throws {
    guard bytes.count >= 2, bytes[0] <= 1, bytes.count >= 2 + 2 * Int(bytes[1]) else {
      throw StoreError.damaged("node \(node)", "its row of \(bytes.count) bytes is malformed")
    }
    isAskedFor = bytes[0] == 1
    let count = Int(bytes[1])
    types.reserveCapacity(count)
    for index in 0..<count {
      types.append(UInt32(bytes[2 + 2 * index]) | UInt32(bytes[3 + 2 * index]) << 8)
    }
    let text = bytes.extracting((2 + 2 * count)..<bytes.count)
    guard let identifier = String(validating: text, as: UTF8.self) else {
      throw StoreError.damaged("node \(node)", "its identifier is not UTF-8")
    }
    self.identifier = identifier
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [isAskedFor ? 1 : 0, UInt8(types.count)]
    bytes.reserveCapacity(2 + 2 * types.count + identifier.utf8.count)
    for type in types { ByteFields.append(UInt64(type), width: 2, to: &bytes) }
    bytes.append(contentsOf: identifier.utf8)
    return bytes
  }

  mutating func insert(type: UInt32) {
    let index = types.firstIndex { $0 >= type } ?? types.endIndex
    if index < types.endIndex, types[index] == type { return }
    types.insert(type, at: index)
  }
}

extension String {
  /// Makes text from bytes in a row; `nil` if they are not valid UTF-8.
  init?(validating bytes: Span<UInt8>, as encoding: UTF8.Type) {
    guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: utf8)
  }
}
