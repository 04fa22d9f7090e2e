/// Why a list could not be read or changed.
enum CountedListError: Error, Hashable {
  /// A row is missing or holds bytes that no list ever wrote.
  case damaged(list: UInt64, block: UInt64, reason: String)

  /// An element is larger than a row can be.
  case elementTooLarge(byteCount: Int)
}

extension CountedListError: CustomStringConvertible {
  var description: String {
    switch self {
    case .damaged(let list, let block, let reason):
      "list \(list), \(Self.name(ofBlock: block)) is damaged: \(reason)"
    case .elementTooLarge(let byteCount):
      "an element of \(byteCount) bytes is larger than "
        + "\(CountedList.Limits.elementByteCountMax) bytes"
    }
  }

  private static func name(ofBlock block: UInt64) -> String {
    if block == CountedList.rootBlock { return "root" }
    let number = block & ~CountedList.leafBit
    return block == number ? "inner row \(number)" : "leaf \(number)"
  }
}
