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
      "list \(list), block \(block) is damaged: \(reason)"
    case .elementTooLarge(let byteCount):
      "an element of \(byteCount) bytes is larger than "
        + "\(CountedList.Limits.elementByteCountMax) bytes"
    }
  }
}
