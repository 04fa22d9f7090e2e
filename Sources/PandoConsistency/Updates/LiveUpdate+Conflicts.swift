package import PandoModels
import PandoRecords

extension LiveUpdate {
  /// Updates all given models, so that each identifier has the same content in all of them.
  ///
  /// The last occurrence of an identifier is used. A model with an older occurrence is updated. So
  /// all trees agree, whichever of the models they contain.
  mutating func resolveConflicts() {
    guard hasSeveralVersions, refusal == nil else { return }
    var resolved: [ByteString: [any SimpleModel]] = [:]
    for key in versions.keys { resolve(key, TreeLevel(), &resolved) }
    for (key, given) in resolved {
      if let position = versions.position(of: key) { versions[position: position].given = given }
    }
  }

  /// Returns the given trees as they are after the update.
  ///
  /// - Parameter roots: The roots of the trees, as they were given.
  /// - Returns: `nil` if the trees agree already, or if one tree has different contents of an identifier,
  ///   which is a mistake to report.
  package func agreeing<T: SimpleModel>(_ roots: [T]) -> [T]? {
    guard hasSeveralVersions, conflicts.isEmpty, refusal == nil else { return nil }
    var resolved: [ByteString: [any SimpleModel]] = [:]
    return roots.map { root in
      if let identifier = root.modelIdentifier {
        return versions[ByteString(identifier)]?.model(as: type(of: root)) as? T ?? root
      }
      guard let model = root as? any Model else { return root }
      return replaceChildren(of: model, TreeLevel(), &resolved) as? T ?? root
    }
  }

  /// Determines the content of an identifier.
  ///
  /// The last occurrence of a parent precedes the last occurrence of each of its children. Several
  /// types of one identifier may contain each other. A model whose content is being determined then
  /// stays as given.
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
    // Each type of the identifier is merged with those after it.
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

  /// Returns a model merged with a later one of another type, or the model itself if that is
  /// impossible.
  private static func merged(_ model: any SimpleModel, _ later: any SimpleModel) -> any SimpleModel
  {
    guard let older = model as? any Model, let newer = later as? any Model else { return model }
    let merged = older.merge(newer)
    return type(of: merged) == type(of: older) ? merged : model
  }
}
