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
  func write(to output: StandardOutput, asJSON isJSON: Bool) throws {
    if isJSON {
      var list = ListOutput(output, asJSON: true)
      for changeSet in changeSets { try list.write(value: ChangeOutput.value(changeSet)) }
      try list.end()
      return
    }
    for changeSet in changeSets {
      for line in ChangeOutput.lines(changeSet) { try output.line(line) }
    }
  }

  private static func lines(_ changeSet: ChangeSet) -> [String] {
    var lines: [String] = []
    func add(_ kind: String, _ name: String) {
      lines.append("\(changeSet.commitNumber.value)\t\(kind)\t\(name.escapingControlCharacters)")
    }
    for identifier in changeSet.inserted.sorted() { add("inserted", identifier) }
    for identifier in changeSet.updated.sorted() { add("updated", identifier) }
    for identifier in changeSet.deleted.sorted() { add("deleted", identifier) }
    for update in changeSet.collections { add("collection", update.cacheKey) }
    return lines
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

  private static func value(_ record: ChangedRecord) -> TreeValue {
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
