import PandoModels

extension ReferenceStore {
  /// Stores the nodes among values, and returns the values as a list keeps them.
  private mutating func elements(_ values: [TreeValue]) throws -> [TreeValue] {
    var collector = ReferenceCollector(known: Set(nodes.keys))
    let elements = try values.map { try collector.split($0) }
    try storeLast(collector.items)
    for case .reference(let identifier, _) in elements { nodes[identifier]?.isAskedFor = true }
    return elements
  }

  mutating func setCollection(_ key: String, to values: [TreeValue]) throws {
    let elements = try elements(values)
    if collections[key] == elements { return }
    collections[key] = elements
    changes.reset(collection: key)
  }

  mutating func append(_ values: [TreeValue], toCollection key: String) throws {
    if values.isEmpty, collections[key] == nil { return try setCollection(key, to: []) }
    try insert(values, at: collections[key]?.count ?? 0, inCollection: key)
  }

  mutating func insert(_ values: [TreeValue], at index: Int, inCollection key: String) throws {
    let elements = try elements(values)
    collections[key, default: []].insert(contentsOf: elements, at: index)
    if !elements.isEmpty { changes.change(collection: key) }
  }

  mutating func update(_ value: TreeValue, at index: Int, inCollection key: String) throws {
    let element = try elements([value])[0]
    if collections[key]?[index] == element { return }
    collections[key]?[index] = element
    changes.change(collection: key)
  }

  mutating func moveElement(from source: Int, to target: Int, inCollection key: String) {
    guard source != target, let element = collections[key]?.remove(at: source) else { return }
    collections[key]?.insert(element, at: target)
    changes.change(collection: key)
  }

  mutating func removeElements(in range: Range<Int>, fromCollection key: String) {
    collections[key]?.removeSubrange(range)
    if !range.isEmpty { changes.change(collection: key) }
  }

  mutating func removeCollection(_ key: String) {
    guard collections.removeValue(forKey: key) != nil else { return }
    changes.reset(collection: key)
  }
}
