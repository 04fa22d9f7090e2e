import PandoModels

extension ModelUpdates {
  /// Adds what another update changed; an identifier that is named already keeps its place.
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
