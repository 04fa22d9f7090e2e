/// The effect of a delete at an edge, in addition to that of the child's slot.
///
/// ```swift
/// static let deletionRules: [DeletionRule] = [
///   .restrict("author"),  // an author of an issue can't be deleted
///   .owned("comments"),  // comments go with their issue
/// ]
/// ```
///
/// Without a rule, a delete also removes parents that require the child; optional slots become nil,
/// and lists and maps lose the child. Children of deleted nodes stay.
public struct DeletionRule: Hashable, Sendable {
  /// The kind of a rule.
  public enum Kind: String, Hashable, Sendable {
    /// The child can't be deleted while this field references it, unless the parent is deleted.
    case restrict
    /// The child is deleted with its parent, unless another parent or a collection references it.
    case owned
  }

  /// The kind of the rule.
  public let kind: Kind
  /// The coded name of the field that contains the child or the children; dots separate the names
  /// of nested objects.
  public let field: String

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - kind: The kind of the rule.
  ///   - field: The coded name of the field.
  public init(_ kind: Kind, _ field: String) {
    self.kind = kind
    self.field = field
  }

  /// Refuses to delete the children in a field.
  ///
  /// A parent refuses nothing if it is deleted too: its owner is deleted, or another slot of it,
  /// without a rule, requires the child. The field itself does not delete its parent.
  ///
  /// - Parameter field: The coded name of the field.
  /// - Returns: The rule.
  public static func restrict(_ field: String) -> DeletionRule { DeletionRule(.restrict, field) }

  /// Deletes the children in a field with their parent, unless they have other references.
  ///
  /// - Parameter field: The coded name of the field.
  /// - Returns: The rule.
  public static func owned(_ field: String) -> DeletionRule { DeletionRule(.owned, field) }

  /// Refuses to delete the children in a property.
  ///
  /// - Parameters:
  ///   - property: The property with the child or the children.
  ///   - field: Its coded name.
  /// - Returns: The rule.
  public static func restrict<Parent, Slot: ChildSlot>(
    _ property: KeyPath<Parent, Slot>, _ field: String
  ) -> DeletionRule { DeletionRule(.restrict, field) }

  /// Deletes the children in a property with their parent, unless they have other references.
  ///
  /// - Parameters:
  ///   - property: The property with the child or the children.
  ///   - field: Its coded name.
  /// - Returns: The rule.
  public static func owned<Parent, Slot: ChildSlot>(
    _ property: KeyPath<Parent, Slot>, _ field: String
  ) -> DeletionRule { DeletionRule(.owned, field) }
}

/// A model type with rules for deletes at its edges.
///
/// ```swift
/// struct Issue: Model, Codable, DeletionRuled {
///   var id: Int
///   var project: Project
///   var comments: [Comment] = []
///   var modelIdentifier: String? { "issue:\(id)" }
///   static let deletionRules: [DeletionRule] = [.restrict("project"), .owned("comments")]
/// }
/// ```
/// A store keeps the rules with the records, so they apply in all processes, even in those without
/// the type. The first write of the type in a process with different rules replaces them.
public protocol DeletionRuled {
  /// The rules, at most one per field.
  static var deletionRules: [DeletionRule] { get }
}
