extension Sequence {
  /// Returns the elements in an order.
  ///
  /// For short lists and rare sorts. It sorts positions, so that all types share the machine code of one sort.
  package func ordered(by isBefore: (Element, Element) -> Bool) -> [Element] {
    let elements = Array(self)
    if elements.count < 2 { return elements }
    let positions = sortedPositions(elements.count) { isBefore(elements[$0], elements[$1]) }
    return positions.map { elements[$0] }
  }
}

extension Sequence where Element: Comparable {
  /// Returns the elements in ascending order, as ``ordered(by:)``.
  package func ordered() -> [Element] { ordered(by: <) }
}

@inline(never)
private func sortedPositions(_ count: Int, by isBefore: (Int, Int) -> Bool) -> [Int] {
  (0..<count).sorted(by: isBefore)
}
