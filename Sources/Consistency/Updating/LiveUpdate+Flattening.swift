package import ModelCore

extension LiveUpdate {
  /// Flattens trees to identifier → models.
  ///
  /// - Parameters:
  ///   - models: The top models, in order.
  ///   - context: Travels to everyone who is told.
  package init(setting models: [any SimpleModel], context: (any Sendable)? = nil) {
    self.init()
    self.context = context
    self.models = models
    for model in models { add(model) }
  }

  /// An update that deletes nodes.
  ///
  /// - Parameters:
  ///   - identifiers: What is deleted.
  ///   - context: Travels to everyone who is told.
  package init(deleting identifiers: [String], context: (any Sendable)? = nil) {
    self.init()
    self.context = context
    deleted = Set(identifiers.map { ByteString($0) })
  }

  /// Adds a tree, after those that are there.
  package mutating func add(_ root: any SimpleModel) {
    give(root)
    if let model = root as? any Model { model.forEach { add($0) } }
  }

  /// Adds what a store holds of an identifier after the commit.
  package mutating func addStored(_ model: any SimpleModel, _ identifier: String) {
    versions[ByteString(identifier), default: Versions()].stored.append(model)
  }

  private mutating func give(_ model: any SimpleModel) {
    guard let identifier = model.modelIdentifier else { return }
    let key = ByteString(identifier)
    var given = versions[key]?.given ?? []
    if let index = given.firstIndex(where: { type(of: $0) == type(of: model) }) {
      if !given[index].isEqual(to: model) { conflicts.append(identifier) }
      given.remove(at: index)
    }
    given.append(model)
    versions[key, default: Versions()].given = given
  }
}
