import PandoLMDB
import PandoModels

extension WriteContext {
  /// Notes that a node has got its first record of a type.
  func recordCame(_ key: RecordKey) throws {
    if state.note(key, came: true) { return }
    try countRecord(ofType: key.type, by: 1)
    try changeTypeBlock(of: key) { $0.insert(key.node) }
  }

  /// Notes that a record is gone.
  func recordWent(_ key: RecordKey) throws {
    if state.note(key, came: false) { return }
    try countRecord(ofType: key.type, by: -1)
    try changeTypeBlock(of: key) { $0.remove(key.node) }
  }

  private func changeTypeBlock(
    of key: RecordKey, _ change: (inout TypeBlock) -> Void
  ) throws {
    let number = TypeBlock.number(of: key)
    var block =
      try state.typeBlocks[number] ?? reading { try $0.storedTypeBlock(number) } ?? TypeBlock()
    change(&block)
    state.typeBlocks[number] = block
  }

  /// Writes the rows of ``TypeBlock``s that have changed in this flush.
  func writeTypeBlocks() throws {
    for (number, block) in state.typeBlocks.sorted {
      let key = IntegerKey(number)
      let bytes = block.bytes
      if bytes.isEmpty {
        try deleteRow(key.bytes.span, in: tables.nodesByType)
      } else {
        try put(bytes.span, forKey: key.bytes.span, in: tables.nodesByType)
      }
    }
    state.typeBlocks = TypeBlocks()
  }
}

extension WriteContext.State {
  /// Notes that a record came or went, if all that it takes has been read.
  ///
  /// - Returns: `false`, and nothing was done, if it has not.
  fileprivate mutating func note(_ key: RecordKey, came: Bool) -> Bool {
    let type = Int(key.type)
    guard type < recordDifferences.count, recordDifferences[type] != 0,
      typeBlocks.note(key, came: came)
    else { return false }
    recordDifferences[type] += came ? 1 : -1
    return true
  }
}
