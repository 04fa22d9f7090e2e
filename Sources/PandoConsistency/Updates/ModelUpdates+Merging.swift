import PandoModels

extension ModelUpdates {
  /// Adds the changes of another update.
  ///
  /// An identifier that is listed already keeps its position.
  mutating func formUnion(_ other: ModelUpdates) {
    var named = Set(deletedModelIdentifiers.map { ByteString($0) })
    for identifier in other.deletedModelIdentifiers
    where named.insert(ByteString(identifier)).inserted {
      deletedModelIdentifiers.append(identifier)
    }
    changedModelIdentifiers.removeAll { named.contains(ByteString($0)) }
    for identifier in changedModelIdentifiers { named.insert(ByteString(identifier)) }
    for identifier in other.changedModelIdentifiers
    where named.insert(ByteString(identifier)).inserted {
      changedModelIdentifiers.append(identifier)
    }
  }
}
