import PandoModels

extension LiveUpdate {
  /// Makes every given model hold, at every place, what counts for each identifier.
  ///
  /// An identifier that was given several times counts as it came last. What holds an older version of
  /// it is brought up to date, so that trees that take the one and trees that take the other agree.
  mutating func resolveConflicts() {
    guard hasSeveralVersions, refusal == nil else { return }
    var resolved: [ByteString: [any SimpleModel]] = [:]
    for key in versions.keys { resolve(key, TreeLevel(), &resolved) }
    for (key, given) in resolved {
      if let position = versions.position(of: key) { versions[position: position].given = given }
    }
  }

  /// Works out what counts for an identifier.
  ///
  /// The last occurrence of a parent comes before the last occurrence of each child it holds. Several
  /// types of one identifier can still hold each other: whoever is at work already stays as given.
  private func resolve(
    _ key: ByteString, _ level: TreeLevel, _ resolved: inout [ByteString: [any SimpleModel]]
  ) {
    guard resolved[key] == nil, let given = versions[key]?.given else { return }
    resolved[key] = given
    let inner = given.map { model -> any SimpleModel in
      guard let model = model as? any Model else { return model }
      var replaced = model
      level.onStack { replaced = replaceChildren(of: model, level, &resolved) }
      return replaced
    }
    // Several types of one identifier: each takes what came after it.
    resolved[key] = inner.indices.map { index in
      inner[(index + 1)...].reduce(inner[index]) { Self.merged($0, $1) }
    }
  }

  private func replaceChildren(
    of model: any Model, _ level: TreeLevel, _ resolved: inout [ByteString: [any SimpleModel]]
  ) -> any Model {
    model.map { child -> (any Model)? in
      guard let identifier = child.modelIdentifier else {
        return replaceChildren(of: child, level.below(isNode: false), &resolved)
      }
      let key = ByteString(identifier)
      resolve(key, level.below(isNode: true), &resolved)
      let last = resolved[key]?.first { type(of: $0) == type(of: child) }
      return (last as? any Model) ?? child
    } ?? model
  }

  /// What one model makes of a later one of another type; itself if that is impossible.
  private static func merged(_ model: any SimpleModel, _ later: any SimpleModel) -> any SimpleModel
  {
    guard let older = model as? any Model, let newer = later as? any Model else { return model }
    let merged = older.merge(newer)
    return type(of: merged) == type(of: older) ? merged : model
  }
}
