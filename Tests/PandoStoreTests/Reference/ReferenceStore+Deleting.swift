import PandoModels

extension ReferenceStore {
  /// Deletes a node and whatever can't be without it, by trying all records until nothing changes.
  mutating func delete(_ identifier: String) {
    guard nodes[identifier] != nil else { return }
    var doomed: Set<String> = [identifier]
    while true {
      let lost = nodes.filter { name, node in
        !doomed.contains(name)
          && node.records.values.contains { Self.losing(doomed, in: $0.fields) == nil }
      }
      if lost.isEmpty { break }
      doomed.formUnion(lost.keys)
    }
    for name in doomed {
      nodes[name] = nil
      changes.delete(name)
    }
    for (name, node) in nodes {
      for (type, record) in node.records {
        guard let rest = Self.losing(doomed, in: record.fields), rest != record.fields else {
          continue
        }
        nodes[name]?.records[type] = Record(fields: rest, commitNumber: commitNumber + 1)
        changes.update(name)
      }
    }
    for (key, elements) in collections {
      let rest = elements.compactMap { Self.losing(doomed, in: $0) }
      guard rest != elements else { continue }
      collections[key] = rest
      changes.change(collection: key)
    }
  }

  /// A value without doomed children; `nil` if it can't be without them.
  private static func losing(_ doomed: Set<String>, in value: TreeValue) -> TreeValue? {
    switch value {
    case .reference(let identifier, _):
      return doomed.contains(identifier) ? nil : value
    case .required(let inner):
      return losing(doomed, in: inner).map { .required($0) }
    case .array(let elements):
      return .array(elements.compactMap { losing(doomed, in: $0) })
    case .entries(let entries):
      return .entries(entries.compactMapValues { losing(doomed, in: $0) })
    case .object(var fields):
      for (name, field) in fields {
        if let rest = losing(doomed, in: field) {
          fields[name] = rest
        } else if case .required = field {
          return nil
        } else {
          fields[name] = .null
        }
      }
      return .object(fields)
    default:
      return value
    }
  }

  /// Removes nodes that nobody holds, lists, or asked for, until there are none.
  mutating func prune() {
    while true {
      let parents = parentsByChild()
      let loose = nodes.keys.filter { name in
        nodes[name]?.isAskedFor == false && parents[name] == nil
          && collections(holding: name).isEmpty
      }
      if loose.isEmpty { return }
      for name in loose {
        nodes[name] = nil
        changes.delete(name)
      }
    }
  }

  mutating func removeAll() {
    for name in nodes.keys { changes.delete(name) }
    for key in collections.keys { changes.reset(collection: key) }
    nodes = [:]
    collections = [:]
  }
}
