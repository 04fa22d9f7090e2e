/// That a record holds a child; a record has one edge for each distinct child.
package struct RecordEdge: Hashable, Sendable {
  /// The child.
  package let child: RecordReference
  /// How the record loses it.
  package let kinds: EdgeKinds

  package init(child: RecordReference, kinds: EdgeKinds) {
    self.child = child
    self.kinds = kinds
  }
}

extension [RecordEdge] {
  /// Sorts by child and joins the edges of one child into one.
  ///
  /// - Complexity: O(*n* log *n*).
  package mutating func normalize() {
    guard count > 1 else { return }
    sort { ($0.child.node, $0.child.type) < ($1.child.node, $1.child.type) }
    var last = 0
    for index in 1..<count {
      if self[index].child == self[last].child {
        self[last] = RecordEdge(
          child: self[last].child, kinds: self[last].kinds.union(self[index].kinds))
      } else {
        last += 1
        self[last] = self[index]
      }
    }
    removeSubrange((last + 1)...)
  }
}
