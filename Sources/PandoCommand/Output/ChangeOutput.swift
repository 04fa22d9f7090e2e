import FoundationEssentials
import PandoModels

/// Prints change sets: a line for each change, or JSON.
struct ChangeOutput {
  private let changeSets: [ChangeSet]

  init(_ changeSets: [ChangeSet]) {
    self.changeSets = changeSets
  }

  /// Writes all changes in commit order, each commit's sorted by kind and identifier.
  ///
  /// A line has the commit number, the kind of change, and the identifier or collection key, with
  /// tabs between them.
  func write(to output: StandardOutput, _ form: ListForm) throws {
    var list = ListOutput(output, form, columns: ["commit", "date", "kind", "name"])
    for changeSet in changeSets {
      guard form.format.hasColumns || form.format == .line else {
        try list.write(value: ChangeOutput.value(changeSet))
        continue
      }
      let commit = TreeValue(exactly: changeSet.commitNumber.value) ?? .null
      let date = TreeValue.string(changeSet.date.formatted(.iso8601))
      for (kind, name) in ChangeOutput.changes(changeSet) {
        let row: [TreeValue] = [commit, date, .string(kind), .string(name)]
        // Lines of one commit have no date, because scripts count on three cells.
        try list.write(row: form.format == .line ? [row[0], row[2], row[3]] : row)
      }
    }
    try list.end()
  }

  private static func changes(_ changeSet: ChangeSet) -> [(kind: String, name: String)] {
    changeSet.inserted.sorted().map { ("inserted", $0) }
      + changeSet.updated.sorted().map { ("updated", $0) }
      + changeSet.deleted.sorted().map { ("deleted", $0) }
      + changeSet.collections.map { ("collection", $0.cacheKey) }
  }

  /// Returns a change set as JSON, with its records if it has any.
  static func value(_ changeSet: ChangeSet) -> TreeValue {
    var collections: [String: TreeValue] = [:]
    for update in changeSet.collections { collections[update.cacheKey] = value(update.change) }
    var value: TreeValue = [
      "commit": TreeValue(exactly: changeSet.commitNumber.value) ?? .null,
      "history": changeSet.commitNumber.historyValue,
      "date": .string(changeSet.date.formatted(.iso8601)),
      "author": changeSet.author.map { .string($0) } ?? .null,
      "inserted": .texts(changeSet.inserted.sorted()),
      "updated": .texts(changeSet.updated.sorted()),
      "deleted": .texts(changeSet.deleted.sorted()),
      "collections": .object(collections),
    ]
    if !changeSet.records.isEmpty { value["records"] = .array(changeSet.records.map(Self.value)) }
    return value
  }

  private static func value(_ record: (node: TreeNode, commitNumber: CommitNumber)) -> TreeValue {
    [
      "node": .string(record.node.identifier), "type": .string(record.node.typeName),
      "commit": TreeValue(exactly: record.commitNumber.value) ?? .null,
      "fields": record.node.fields,
    ]
  }

  static func value(_ change: CollectionChange) -> TreeValue {
    guard case .changes(let steps) = change else { return "reset" }
    return .array(
      steps.map { step in
        switch step {
        case .update(let index): ["update": .integer(Int64(index))]
        case .delete(let index): ["delete": .integer(Int64(index))]
        case .insert(let index): ["insert": .integer(Int64(index))]
        case .move(let from, let to):
          ["move": [.integer(Int64(from)), .integer(Int64(to))]]
        }
      })
  }
}

extension CommitNumber {
  /// The history, as after the point of a number; `null` if it is unknown.
  var historyValue: TreeValue {
    history == 0 ? .null : .string(String(description.split(separator: ".")[1]))
  }
}
