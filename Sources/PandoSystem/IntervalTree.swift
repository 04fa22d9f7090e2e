/// Finds the values whose closed interval contains a point.
///
/// A treap in the order of the intervals; each node also has the highest upper bound of its subtree.
///
/// - Complexity: O(log *n*) expected for a change, O(log *n* + *k*) for *k* found values among *n*.
package struct IntervalTree<Bound: Comparable, Value: Comparable> {
  /// An interval with both bounds; one without a bound has no end there.
  package struct Interval {
    package let lower: Bound?
    package let upper: Bound?

    package init(_ lower: Bound?, _ upper: Bound?) { (self.lower, self.upper) = (lower, upper) }
  }

  fileprivate struct Node {
    let interval: Interval
    let value: Value
    let priority: UInt64
    /// The upper bound of the whole subtree.
    var reach: Bound?
    var left = -1
    var right = -1
  }

  private var nodes: [Node] = []
  private var free: [Int] = []
  private var root = -1
  private var insertCount: UInt64 = 0

  package init() {}

  package var count: Int { nodes.count - free.count }
  package var isEmpty: Bool { count == 0 }

  /// Adds a value.
  ///
  /// *Precondition:* the tree does not have the value with this interval.
  package mutating func insert(_ value: Value, _ interval: Interval) {
    insertCount &+= 1
    let node = Node(
      interval: interval, value: value, priority: Self.mix(insertCount), reach: interval.upper)
    let place = free.popLast() ?? nodes.count
    if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
    root = insert(place, into: root)
  }

  /// Removes a value that was added with this interval; otherwise nothing happens.
  package mutating func remove(_ value: Value, _ interval: Interval) {
    let count = free.count
    root = remove(value, interval, from: root)
    if free.count == nodes.count, count != free.count { self = IntervalTree() }
  }

  /// Calls a closure with each value whose interval contains a point.
  package func forEachValue(containing point: Bound, _ body: (Value) -> Void) {
    forEachValue(containing: point, in: root, body)
  }

  private func forEachValue(containing point: Bound, in place: Int, _ body: (Value) -> Void) {
    var place = place
    while place >= 0 {
      let node = nodes[place]
      if let reach = node.reach, reach < point { return }
      forEachValue(containing: point, in: node.left, body)
      // The values right of it begin behind the point too.
      if let lower = node.interval.lower, point < lower { return }
      if node.interval.upper.map({ $0 >= point }) ?? true { body(node.value) }
      place = node.right
    }
  }

  // MARK: Balance

  private mutating func insert(_ new: Int, into place: Int) -> Int {
    if place < 0 { return new }
    if isLess(nodes[new].interval, nodes[new].value, than: place) {
      nodes[place].left = insert(new, into: nodes[place].left)
      return settle(place, nodes[place].left)
    }
    nodes[place].right = insert(new, into: nodes[place].right)
    return settle(place, nodes[place].right)
  }

  /// Brings a child with a higher priority above its parent.
  private mutating func settle(_ parent: Int, _ child: Int) -> Int {
    guard nodes[child].priority > nodes[parent].priority else {
      update(parent)
      return parent
    }
    if nodes[parent].left == child {
      nodes[parent].left = nodes[child].right
      nodes[child].right = parent
    } else {
      nodes[parent].right = nodes[child].left
      nodes[child].left = parent
    }
    update(parent)
    update(child)
    return child
  }

  private mutating func remove(_ value: Value, _ interval: Interval, from place: Int) -> Int {
    if place < 0 { return -1 }
    if isLess(interval, value, than: place) {
      nodes[place].left = remove(value, interval, from: nodes[place].left)
    } else if nodes[place].value == value, Self.areEqual(nodes[place].interval, interval) {
      free.append(place)
      return merge(nodes[place].left, nodes[place].right)
    } else {
      nodes[place].right = remove(value, interval, from: nodes[place].right)
    }
    update(place)
    return place
  }

  /// Joins two trees of which one lies before the other.
  private mutating func merge(_ left: Int, _ right: Int) -> Int {
    if left < 0 { return right }
    if right < 0 { return left }
    if nodes[left].priority > nodes[right].priority {
      nodes[left].right = merge(nodes[left].right, right)
      update(left)
      return left
    }
    nodes[right].left = merge(left, nodes[right].left)
    update(right)
    return right
  }

  private mutating func update(_ place: Int) {
    let node = nodes[place]
    var reach = node.interval.upper
    for child in [node.left, node.right] where child >= 0 && reach != nil {
      reach = nodes[child].reach.flatMap { higher in reach.map { max($0, higher) } }
    }
    nodes[place].reach = reach
  }

  private func isLess(_ interval: Interval, _ value: Value, than place: Int) -> Bool {
    let other = nodes[place]
    if interval.lower != other.interval.lower {
      guard let lower = interval.lower, let otherLower = other.interval.lower else {
        return interval.lower == nil
      }
      return lower < otherLower
    }
    if interval.upper != other.interval.upper {
      guard let upper = interval.upper, let otherUpper = other.interval.upper else {
        return interval.upper != nil
      }
      return upper < otherUpper
    }
    return value < other.value
  }

  private static func areEqual(_ left: Interval, _ right: Interval) -> Bool {
    left.lower == right.lower && left.upper == right.upper
  }

  /// Numbers that are spread like random ones (the last step of SplitMix64).
  private static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension IntervalTree.Interval: Sendable where Bound: Sendable {}
extension IntervalTree.Node: Sendable where Bound: Sendable, Value: Sendable {}
extension IntervalTree: Sendable where Bound: Sendable, Value: Sendable {}

extension IntervalTree {
  /// Stops the process if the order, the balance or a reach is wrong.
  ///
  /// - Complexity: O(*n*).
  package func checkInvariants() {
    var seen = 0
    check(root, &seen)
    precondition(seen == count, "a tree of \(count) intervals has \(seen)")
  }

  private func check(_ place: Int, _ seen: inout Int) {
    if place < 0 { return }
    let node = nodes[place]
    check(node.left, &seen)
    seen += 1
    check(node.right, &seen)
    var copy = self
    copy.update(place)
    precondition(copy.nodes[place].reach == node.reach, "an interval has another reach")
    for child in [node.left, node.right] where child >= 0 {
      precondition(nodes[child].priority < node.priority, "a tree of intervals is not balanced")
    }
    precondition(
      node.left < 0 || isLess(nodes[node.left].interval, nodes[node.left].value, than: place),
      "the intervals are not in order")
  }
}
