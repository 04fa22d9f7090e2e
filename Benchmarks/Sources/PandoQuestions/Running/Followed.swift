import Pando

/// An element that a follower receives.
enum Followed {
  case answer(Compared)
  case items([Item])
  case keys([String])

  /// Whether a follower may leave out the difference.
  ///
  /// - Parameters:
  ///   - other: The other element.
  ///   - isDictionary: Whether they are answers with groups without an order.
  /// - Returns: Whether it may.
  func isSwiftEqual(_ other: Followed, isDictionary: Bool) -> Bool {
    switch (self, other) {
    case (.answer(let one), .answer(let other)):
      one.isSwiftEqual(other, isDictionary: isDictionary)
    case (.items(let ones), .items(let others)): ones == others
    case (.keys(let ones), .keys(let others)): ones == others
    default: false
    }
  }

  func isSame(_ other: Followed) -> Bool {
    switch (self, other) {
    case (.answer(let one), .answer(let other)): one == other
    case (.items(let ones), .items(let others)):
      ones.count == others.count && zip(ones, others).allSatisfy { $0.isSame($1) }
    case (.keys(let ones), .keys(let others)): ones == others
    default: false
    }
  }

  var text: String {
    switch self {
    case .answer(let answer): "\(answer)"
    case .items(let items): "\(items.map { $0.text })"
    case .keys(let keys): "\(keys)"
    }
  }
}

extension Item {
  /// Whether all values are equal, texts by their bytes.
  func isSame(_ other: Item) -> Bool {
    self == other && title.utf8.elementsEqual(other.title.utf8)
      && note.compared == other.note.compared && tags.compared == other.tags.compared
  }

  fileprivate var text: String {
    "\(id) “\(title)” rank \(rank) owner \((owner?.name).compared)"
  }
}
