import PandoModels

/// The results of an import, for people and for programs.
struct ImportReport {
  /// Counts that grow during the import.
  struct Counts {
    var treeCount = 0
    var lineCount = 0
    var skippedLineCount = 0
    var commitCount = 0
    var insertedCount = 0
    var updatedCount = 0
    var duration = Duration.zero
  }

  /// The number of nodes of a type in the store.
  struct Total {
    let typeName: String
    let count: Int
  }

  /// The maximum number of names of left-out data in the text; `--json` has all.
  private static let shownNameCount = 8

  let source: String
  let counts: Counts
  let findings: SplitFindings
  let totals: [Total]
  let collection: String?

  /// The report as text.
  var lines: [String] {
    var table = TextTable([.left, .right, .left])
    let (seconds, commits) = (counts.duration, Figures.count(counts.commitCount, "commit"))
    table.row(
      "imported", Figures.count(counts.treeCount),
      "\(counts.treeCount == 1 ? "tree" : "trees") from \(source), \(commits), "
        + "\(Figures.duration(seconds)), \(Figures.rate(counts.treeCount, in: seconds))")
    if counts.lineCount > 0 { table.row("read", Figures.count(counts.lineCount), "lines") }
    if counts.skippedLineCount > 0 {
      table.row("skipped", Figures.count(counts.skippedLineCount), "bad lines")
    }
    table.row(
      "nodes", Figures.count(findings.occurrenceCount),
      "met: \(Figures.count(counts.insertedCount)) inserted, "
        + "\(Figures.count(counts.updatedCount)) updated")
    for total in totals {
      table.row(total.typeName, Figures.count(total.count), "in the store now")
    }
    table.row(
      "differing", Figures.count(findings.differingCount),
      "identifiers met with differing content"
        + (findings.differingCount > 0
          ? " (the last one counts)" : ""))
    if let collection {
      table.row("appended", Figures.count(counts.treeCount), "elements to \(collection)")
    }
    table.row("left out", Figures.count(findings.leftOutCount), leftOutText)
    return table.lines
  }

  private var leftOutText: String {
    guard findings.leftOutCount > 0 else { return "values outside every node" }
    let names = findings.leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { name, count in count == 1 ? name : "\(name) (\(Figures.count(count)))" }
    var text = names.prefix(ImportReport.shownNameCount).joined(separator: ", ")
    if names.count > ImportReport.shownNameCount || findings.unnamedLeftOutCount > 0 {
      text += ", …"
    }
    let noun = findings.leftOutCount == 1 ? "value" : "values"
    return "\(noun) outside every node: \(text)"
  }

  /// The report as a value for `--json`.
  var treeValue: TreeValue {
    var types: [String: TreeValue] = [:]
    for total in totals { types[total.typeName] = .integer(Int64(total.count)) }
    return [
      "source": .string(source),
      "trees": .integer(Int64(counts.treeCount)),
      "lines": .integer(Int64(counts.lineCount)),
      "skippedLines": .integer(Int64(counts.skippedLineCount)),
      "commits": .integer(Int64(counts.commitCount)),
      "nodesMet": .integer(Int64(findings.occurrenceCount)),
      "inserted": .integer(Int64(counts.insertedCount)),
      "updated": .integer(Int64(counts.updatedCount)),
      "differing": .integer(Int64(findings.differingCount)),
      "stored": .object(types),
      "collection": collection.map { .string($0) } ?? .null,
      "leftOutCount": .integer(Int64(findings.leftOutCount)),
      "leftOut": .object(findings.leftOut.mapValues { .integer(Int64($0)) }),
      "seconds": .double(counts.duration / .seconds(1)),
    ]
  }
}

/// The findings of a split of JSON into trees.
struct SplitFindings {
  /// The maximum number of different names of left-out data.
  ///
  /// Names come from the input, and memory must not grow with it.
  static let maximumNameCount = 100

  /// The numbers of values outside every node, by position without array indexes.
  private(set) var leftOut: [String: Int] = [:]
  /// The number of left-out values without a stored name.
  private(set) var unnamedLeftOutCount = 0
  /// The number of nodes found, with each occurrence.
  private(set) var occurrenceCount = 0
  /// The identifiers that occurred again with other content.
  private(set) var differing: Set<String> = []

  private var differingCountBefore = 0
  private var pending: [JSONPosition] = []
  private var nodes: [String: TreeNode] = [:]

  init() {}

  /// The number of left-out values, of all names.
  var leftOutCount: Int { leftOut.values.reduce(unnamedLeftOutCount, +) }

  /// The first left-out value of the present document.
  var firstPending: JSONPosition? { pending.first }

  /// Starts a document; the left-out values of an unfinished one are dropped.
  mutating func begin() {
    pending = []
  }

  /// Adds a value outside every node.
  mutating func leaveOut(_ place: JSONPosition) {
    pending.append(place)
  }

  /// The state to restore with ``takeBack(to:)``.
  var leftOutMark: Int { pending.count }

  /// Removes left-out values added after a mark.
  mutating func takeBack(to mark: Int) {
    pending.removeSubrange(mark...)
  }

  /// Counts the left-out values of a finished document by name.
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

  /// Counts a node and compares it with the last one of the same identifier.
  mutating func meet(_ node: TreeNode) {
    occurrenceCount += 1
    guard let earlier = nodes.updateValue(node, forKey: node.identifier) else { return }
    // Two spellings of one text are equal dictionary keys, but different identifiers.
    guard earlier.identifier.utf8.elementsEqual(node.identifier.utf8) else { return }
    if earlier.typeName != node.typeName || !earlier.fields.hasSameContent(as: node.fields) {
      differing.insert(node.identifier)
    }
  }

  /// Drops the nodes so far; later ones are not compared with them.
  mutating func forgetNodes() {
    nodes.removeAll(keepingCapacity: true)
    differingCountBefore += differing.count
    differing.removeAll()
  }

  /// Whether a node occurred with differing content since ``forgetNodes()``.
  var repeatsNodes: Bool { !differing.isEmpty }

  /// The number of identifiers with differing content; one that differs again after
  /// ``forgetNodes()`` counts again.
  var differingCount: Int { differingCountBefore + differing.count }
}

extension TreeValue {
  /// Whether two values are equal if nodes inside count by identifier alone; those nodes are
  /// compared separately.
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
