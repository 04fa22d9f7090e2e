import PandoModels

/// Says which relationships a graph follows, step by step.
///
/// The paths of a shape are prefix trees; a place in a graph is a node in each of them.
struct GraphRules: Sendable {
  /// Where a walk has come to.
  struct Place: Hashable, Sendable {
    /// The node in the tree of included paths; `nil` where everything is followed.
    fileprivate var included: Int?
    /// The node in the tree of excluded paths; `nil` where nothing is excluded any more.
    fileprivate var excluded: Int?
    /// The node in the tree of paths with a source; `nil` where there is none any more.
    fileprivate var fetched: Int?
  }

  private let included: GraphTree
  private let excluded: GraphTree
  private let fetched: GraphTree
  private let isRecursive: Bool
  private let fetchers: [GraphFetcher]
  let depthLimit: Int
  /// Where walks begin.
  let start: Place

  /// Takes in a shape.
  ///
  /// - Throws: ``ManagerError`` `unknownRelationship` for a path that no declaration leads along.
  init<Root: Entity>(_ shape: GraphShape<Root>) throws {
    for path in (shape.included ?? []) + shape.excluded + shape.fetchers.map(\.path) {
      try Self.validate(path)
    }
    included = GraphTree((shape.included ?? []).map(\.names))
    excluded = GraphTree(shape.excluded.map(\.names))
    fetched = GraphTree(shape.fetchers.map(\.path.names))
    fetchers = shape.fetchers.map(\.fetcher)
    isRecursive = shape.isRecursive
    depthLimit = shape.depthLimit
    start = Place(
      included: shape.included == nil ? nil : GraphTree.root,
      excluded: shape.excluded.isEmpty ? nil : GraphTree.root,
      fetched: shape.fetchers.isEmpty ? nil : GraphTree.root)
  }

  /// Goes along a relationship.
  ///
  /// - Parameters:
  ///   - name: The name of the relationship.
  ///   - place: Where the walk is.
  /// - Returns: Where it comes to; `nil` if it does not go there.
  func follow(_ name: String, from place: Place) -> Place? {
    var next = Place()
    if let node = place.excluded {
      next.excluded = excluded.child(of: node, name)
      if let child = next.excluded, excluded.end(at: child) != nil { return nil }
    }
    if let node = place.included {
      guard let child = included.child(of: node, name) else { return nil }
      next.included = isRecursive && included.end(at: child) != nil ? nil : child
    }
    if let node = place.fetched { next.fetched = fetched.child(of: node, name) }
    return next
  }

  /// The number of the source of the entities at a place; the last one that was given counts.
  func fetcherNumber(at place: Place) -> Int? { place.fetched.flatMap { fetched.end(at: $0) } }

  func fetcher(_ number: Int) -> GraphFetcher { fetchers[number] }

  private static func validate<Root: Entity>(_ path: GraphPath<Root>) throws {
    var type: any Entity.Type = Root.self
    for name in path.names {
      guard let target = target(of: name, in: type) else {
        throw ManagerError(
          .unknownRelationship, "\(path)",
          "\(type.modelTypeName) declares no relationship \"\(name)\"")
      }
      type = target
    }
    guard !path.names.isEmpty else {
      throw ManagerError(.unknownRelationship, Root.modelTypeName, "a path has at least one step")
    }
  }

  private static func target<E: Entity>(of name: String, in type: E.Type) -> (any Entity.Type)? {
    E.relationships.first { $0.name.utf8.elementsEqual(name.utf8) }?.target
  }
}

extension ManagerError.Code {
  /// A path in the shape of a graph names a relationship that its type does not declare.
  public static var unknownRelationship: Self { Self(rawValue: "unknownRelationship") }
}
