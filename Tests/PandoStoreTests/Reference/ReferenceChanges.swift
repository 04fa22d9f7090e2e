/// The changes of one write to the reference.
struct ReferenceChanges {
  enum Fate { case inserted, updated, deleted }

  private(set) var fates: [String: Fate] = [:]
  /// Collections that were touched; true where they were set or removed as a whole.
  private(set) var collections: [String: Bool] = [:]

  var isEmpty: Bool { fates.isEmpty && collections.isEmpty }

  func identifiers(_ fate: Fate) -> [String] {
    fates.filter { $0.value == fate }.map(\.key).sorted()
  }

  mutating func insert(_ identifier: String) {
    fates[identifier] = fates[identifier] == .deleted ? .updated : .inserted
  }

  mutating func update(_ identifier: String) {
    if fates[identifier] != .inserted { fates[identifier] = .updated }
  }

  mutating func delete(_ identifier: String) {
    fates[identifier] = fates[identifier] == .inserted ? nil : .deleted
  }

  mutating func change(collection key: String) { collections[key] = collections[key] ?? false }

  mutating func reset(collection key: String) { collections[key] = true }
}
