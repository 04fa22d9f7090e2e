import PandoFixtures
import PandoModels
import PandoStore
import Testing

extension ModelRun {
  /// Everything that the store shows must be what the reference holds.
  func compare() throws {
    try store.read { snapshot in
      let number = try snapshot.commitNumber.value
      try #require(number == reference.commitNumber, place)
      let identifiers = try snapshot.identifiers()
      try #require(identifiers == reference.nodes.keys.sorted(), place)
      try compareTypes(snapshot)
      let holders = reference.parentsByChild()
      for identifier in identifiers { try compareNode(identifier, holders, snapshot) }
      try compareCollections(snapshot)
      for name in ["p", "q"] {
        let property = try snapshot.property(name)
        try #require(property == reference.properties[name], place)
      }
    }
    let report = try store.verify()
    try #require(report.problems == [], place)
    try #require(report.nodeCount == reference.nodes.count, place)
  }

  private func compareTypes(_ snapshot: borrowing ModelSnapshot) throws {
    for type in TreeMaker.types {
      let expected = reference.nodes.filter { $0.value.records[type] != nil }.keys.sorted()
      let listed = try snapshot.identifiers(ofType: type)
      try #require(listed == expected, place)
      let count = try snapshot.count(ofType: type)
      try #require(count == expected.count, place)
    }
  }

  private func compareNode(
    _ identifier: String, _ holders: [String: Set<String>], _ snapshot: borrowing ModelSnapshot
  ) throws {
    let node = try #require(reference.nodes[identifier])
    let types = try snapshot.typeNames(of: identifier)
    try #require(types == node.records.keys.sorted(), place)
    for type in types {
      for depth in [0, 1, .max] {
        let tree = try snapshot.tree(identifier, as: type, depth: depth)
        let expected = reference.tree(identifier, as: type, depth: depth)
        try #require(tree == expected, "\(place), depth \(depth)")
      }
    }
    let newest = try snapshot.tree(identifier, depth: 0)?.typeName
    try #require(newest == reference.newestType(of: identifier), place)
    if usesModels { try compareModels(identifier, types, snapshot) }

    let parents = try snapshot.parents(of: identifier)
    try #require(parents.sorted() == (holders[identifier] ?? []).sorted(), place)
    let expected = ReferenceStore.ancestors(of: identifier, in: holders)
    let ancestors = try snapshot.ancestors(of: identifier)
    try #require(ancestors.sorted() == expected.sorted(), place)
    let roots = try snapshot.roots(of: identifier)
    let tops = parents.isEmpty ? [identifier] : expected.filter { holders[$0] == nil }
    try #require(roots.sorted() == tops.sorted(), place)
    let collections = try snapshot.collections(holding: identifier)
    try #require(collections == reference.collections(holding: identifier), place)
  }

  private func compareModels(
    _ identifier: String, _ types: [String], _ snapshot: borrowing ModelSnapshot
  ) throws {
    for type in types {
      switch type {
      case "Doc": try compareModel(DocModel.self, identifier, snapshot)
      case "Card": try compareModel(CardModel.self, identifier, snapshot)
      case "Person": try compareModel(PersonModel.self, identifier, snapshot)
      case "Badge": try compareModel(BadgeModel.self, identifier, snapshot)
      default: try compareModel(ImageModel.self, identifier, snapshot)
      }
    }
  }

  private func compareModel<M: Model & Codable & Equatable & TreeMade>(
    _ type: M.Type, _ identifier: String, _ snapshot: borrowing ModelSnapshot
  ) throws {
    // A node that was set bare, to give its type a number, has no fields.
    guard let tree = reference.modelTree(identifier, as: M.modelTypeName), tree["id"] != nil else {
      return
    }
    let model = try snapshot.get(identifier, as: type)
    let expected = try M(tree)
    try #require(model == expected, place)
  }

  private func compareCollections(_ snapshot: borrowing ModelSnapshot) throws {
    let keys = try snapshot.collectionKeys()
    try #require(keys == reference.collections.keys.sorted(), place)
    for (key, elements) in reference.collections {
      let count = try snapshot.collectionCount(key)
      try #require(count == elements.count, place)
      let listed = try snapshot.collectionTrees(key)
      try #require(listed == elements.map { reference.show($0, depth: .max) }, place)
    }
  }

  /// The change set must be the difference of two versions of the reference.
  func compare(
    _ changeSet: ChangeSet?, _ changes: ReferenceChanges?, _ before: ReferenceStore
  ) throws {
    guard let changes else { return try #require(changeSet == nil, place) }
    let changeSet = try #require(changeSet, place)
    try #require(changeSet.commitNumber.value == reference.commitNumber, place)
    try #require(changeSet.inserted.sorted() == changes.identifiers(.inserted), place)
    try #require(changeSet.updated.sorted() == changes.identifiers(.updated), place)
    try #require(changeSet.deleted.sorted() == changes.identifiers(.deleted), place)
    let old = Set(before.nodes.keys)
    let new = Set(reference.nodes.keys)
    try #require(changeSet.inserted.sorted() == new.subtracting(old).sorted(), place)
    try #require(changeSet.deleted.sorted() == old.subtracting(new).sorted(), place)
    let keys = changeSet.collections.map(\.cacheKey)
    try #require(keys == changes.collections.keys.sorted(), place)
    for (key, wasReset) in changes.collections {
      switch changeSet.change(ofCollection: key) {
      case .reset: try #require(wasReset, place)
      case .changes(let list):
        try #require(!wasReset, place)
        try compare(list, key, before)
      case nil: Issue.record("\(place): no change of \(key)")
      }
    }
    let logged = try store.read { try $0.changes(since: CommitNumber(value: before.commitNumber)) }
    try #require(logged.map(\.updated) == [changeSet.updated], place)
    try #require(logged.map(\.collections) == [changeSet.collections], place)
  }

  /// The changes of a list, made to the old list, must give the new one.
  private func compare(
    _ changes: [CollectionChangeInformation], _ key: String, _ before: ReferenceStore
  ) throws {
    // nil: an element whose content the change does not tell.
    var list: [TreeValue?] = before.collections[key] ?? []
    for change in changes {
      switch change {
      case .update(let index): list[index] = nil
      case .delete(let index): list.remove(at: index)
      case .insert(let index): list.insert(nil, at: index)
      case .move(let source, let target): list.insert(list.remove(at: source), at: target)
      }
    }
    let new = reference.collections[key] ?? []
    try #require(list.count == new.count, place)
    for (told, element) in zip(list, new) where told != nil {
      try #require(told == element, place)
    }
  }

  /// A dump of the store must load into a store that shows the same and dumps the same.
  mutating func checkDump() throws {
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let copy = try ModelStore.temporary(configuration: .forTests)
    let source = LineSource(lines)
    try copy.load { source.next() }
    var again: [String] = []
    try copy.dump { again.append($0) }
    try #require(again == lines, place)
    store.close()
    store = copy
    try compare()
  }
}
