import PandoLMDB
import PandoModels

extension StoreReader {
  /// Calls a closure with the nodes that have a record of a type, in the order of their numbers; it may
  /// read anything, and returns false to stop.
  func forEachNode(ofType type: UInt32, _ body: (UInt64) throws -> Bool) throws {
    for number in try typeBlockNumbers(ofType: type) {
      guard let block = try typeBlock(number) else { continue }
      for node in block.nodes(ofRow: number) where try !body(node) { return }
    }
  }

  /// The numbers of the rows with nodes of a type, those that a transaction has yet to write among
  /// them.
  private func typeBlockNumbers(ofType type: UInt32) throws -> [UInt64] {
    let prefix = [UInt8(truncatingIfNeeded: type >> 8), UInt8(truncatingIfNeeded: type)]
    var numbers: [UInt64] = []
    try snapshot.scan(tables.nodesByType, prefix: prefix) { key, _ in
      guard let number = ByteFields.bigEndian(key, at: 0), key.count == 8 else {
        throw StoreError.damaged(
          "type number \(type)", "a key of its nodes has \(key.count) bytes instead of 8")
      }
      numbers.append(number)
      return true
    }
    guard let pending else { return numbers }
    let changed = pending.state.typeBlocks.numbers.filter { TypeBlock.type(ofRow: $0) == type }
    return Set(numbers).union(changed).sorted()
  }

  /// The nodes of a row as they are now; `nil` if there is no such row.
  func typeBlock(_ number: UInt64) throws -> TypeBlock? {
    if let changed = pending?.state.typeBlocks[number] { return changed }
    return try storedTypeBlock(number)
  }

  /// The nodes of a row as they were when the flush began.
  func storedTypeBlock(_ number: UInt64) throws -> TypeBlock? {
    let key = IntegerKey(number)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.nodesByType) else {
      return nil
    }
    return try TypeBlock(bytes, type: TypeBlock.type(ofRow: number))
  }

  /// Calls a closure with the bodies of a type's records in the order of their node numbers, checksums
  /// checked.
  func forEachRecord(
    ofType type: UInt32, _ body: (RecordKey, Span<UInt8>) throws -> Bool
  ) throws {
    try forEachNode(ofType: type) { node in
      let key = RecordKey(type: type, node: node)
      guard let found = try self.body(of: key) else {
        throw damagedRecord(key, "it is counted among the nodes of its type but is missing")
      }
      return try body(key, found)
    }
  }
}
