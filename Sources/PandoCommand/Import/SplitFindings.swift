import PandoModels

/// What was met while JSON was split into trees.
struct SplitFindings {
  /// Different names kept for data that is left out.
  ///
  /// Names come from the input, and memory must
  /// not grow with it; more than this nobody reads.
  static let maximumNameCount = 100

  /// Values outside every node, by their place without array positions.
  private(set) var leftOut: [String: Int] = [:]
  /// Values left out whose names did not fit.
  private(set) var unnamedLeftOutCount = 0
  /// Nodes met, each occurrence counted.
  private(set) var occurrenceCount = 0
  /// Identifiers that occurred again with other content.
  private(set) var differing: Set<String> = []

  private var differingCountBefore = 0
  private var pending: [JSONPlace] = []
  private var nodes: [String: TreeNode] = [:]

  init() {}

  /// The number of values left out, of all names.
  var leftOutCount: Int { leftOut.values.reduce(unnamedLeftOutCount, +) }

  /// The first value left out in the document that is being split.
  var firstPending: JSONPlace? { pending.first }

  /// Starts with a document; values left out in one that was not settled do not count.
  mutating func begin() {
    pending = []
  }

  /// Counts a value outside every node.
  mutating func leaveOut(_ place: JSONPlace) {
    pending.append(place)
  }

  /// The state to go back to with ``takeBack(to:)``.
  var leftOutMark: Int { pending.count }

  /// Forgets values left out since a mark.
  mutating func takeBack(to mark: Int) {
    pending.removeSubrange(mark...)
  }

  /// Makes names of the values left out in a document that is done.
  mutating func settle() {
    for place in pending {
      let name = place.pattern
      if leftOut[name] != nil || leftOut.count < SplitFindings.maximumNameCount {
        leftOut[name, default: 0] += 1
      } else {
        unnamedLeftOutCount += 1
      }
    }
    pending = []
  }

  /// Counts a node and compares it with what the same identifier held before.
  mutating func meet(_ node: TreeNode) {
    occurrenceCount += 1
    guard let earlier = nodes.updateValue(node, forKey: node.identifier) else { return }
    // Two spellings of one text are one key of a dictionary, but two identifiers.
    guard earlier.identifier.utf8.elementsEqual(node.identifier.utf8) else { return }
    if earlier.typeName != node.typeName || !earlier.fields.hasSameContent(as: node.fields) {
      differing.insert(node.identifier)
    }
  }

  /// Forgets the nodes met, so that later ones are not compared with them.
  mutating func forgetNodes() {
    nodes.removeAll(keepingCapacity: true)
    differingCountBefore += differing.count
    differing.removeAll()
  }

  /// How many identifiers occurred with differing content; one that did so again after
  /// ``forgetNodes()`` counts again.
  var differingCount: Int { differingCountBefore + differing.count }
}

extension TreeValue {
  /// Whether two values hold the same when nodes inside them count by identifier alone: each node
  /// is compared where it is met itself.
  fileprivate func hasSameContent(as other: TreeValue) -> Bool {
    switch (self, other) {
    case (.node(let node), .node(let other)):
      node.identifier == other.identifier && node.typeName == other.typeName
    case (.required(let value), .required(let other)): value.hasSameContent(as: other)
    case (.array(let values), .array(let others)):
      values.count == others.count && zip(values, others).allSatisfy { $0.hasSameContent(as: $1) }
    case (.object(let fields), .object(let others)):
      fields.count == others.count
        && fields.allSatisfy { name, value in
          others[name].map { value.hasSameContent(as: $0) } ?? false
        }
    case (.entries(let entries), .entries(let others)):
      entries.count == others.count
        && entries.allSatisfy { key, value in
          others[key].map { value.hasSameContent(as: $0) } ?? false
        }
    default: self == other
    }
  }
}
