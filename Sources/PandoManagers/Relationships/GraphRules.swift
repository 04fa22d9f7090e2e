import PandoModels

/// The relationships that a graph follows, step by step.
///
/// The paths of a shape are prefix trees; a place on a walk is a node in each of them.
struct GraphRules: Sendable {
  /// A place on a walk.
  struct Place: Hashable, Sendable {
    /// The node in the tree of included paths; `nil` if all relationships are followed.
    fileprivate var included: Int?
    /// The node in the tree of excluded paths; `nil` if no path is excluded from here on.
    fileprivate var excluded: Int?
    /// The node in the tree of paths with an origin; `nil` if there is none from here on.
    fileprivate var origin: Int?
  }

  private let included: GraphTree
  private let excluded: GraphTree
  private let ends: GraphTree
  private let isRecursive: Bool
  private let origins: [GraphOrigin]
  /// Whether failed requests are tolerated.
  let toleratesFailures: Bool
  let depthLimit: Int
  /// The place of the roots.
  let start: Place

  /// Makes the rules of a shape.
  ///
  /// - Throws: ``ManagerError`` `unknownRelationship` for a path with an undeclared relationship.
  init<Root: Entity>(_ shape: GraphShape<Root>) throws {
    for path in (shape.included ?? []) + shape.excluded + shape.origins.map(\.path) {
      try Self.validate(path)
    }
    included = GraphTree((shape.included ?? []).map(\.names))
    excluded = GraphTree(shape.excluded.map(\.names))
    ends = GraphTree(shape.origins.map(\.path.names))
    origins = shape.origins.map(\.origin)
    toleratesFailures = shape.toleratesFailures
    isRecursive = shape.isRecursive
    depthLimit = shape.depthLimit
    start = Place(
      included: shape.included == nil ? nil : GraphTree.root,
      excluded: shape.excluded.isEmpty ? nil : GraphTree.root,
      origin: shape.origins.isEmpty ? nil : GraphTree.root)
  }

  /// Follows a relationship.
  ///
  /// - Parameters:
  ///   - name: The name of the relationship.
  ///   - place: The place before.
  /// - Returns: The place after it; `nil` if the graph does not follow it.
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
    if let node = place.origin { next.origin = ends.child(of: node, name) }
    return next
  }

  /// The number of the origin of the entities at a place; the last one declared counts.
  func originNumber(at place: Place) -> Int? { place.origin.flatMap { ends.end(at: $0) } }

  func origin(_ number: Int) -> GraphOrigin { origins[number] }

  /// The number, if its origin is a source of the caller.
  func fetcher(_ number: Int?) -> Int? {
    guard let number, case .fetcher = origins[number] else { return nil }
    return number
  }

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
  /// The shape of a graph names a relationship that its type does not declare.
  public static var unknownRelationship: Self { Self(rawValue: "unknownRelationship") }
}
