/// What a delete does at an edge, besides what the slot of the child says.
///
/// ```swift
/// static let deletionRules: [DeletionRule] = [
///   .restrict("author"),  // who has written an issue can't be deleted
///   .owned("comments"),  // comments go with their issue
/// ]
/// ```
///
/// By the slot alone, a parent that requires a deleted child is deleted too, an optional slot becomes nil, and lists
/// and maps lose the child; children of what is deleted stay.
public struct DeletionRule: Hashable, Sendable {
  /// The kind of a rule.
  public enum Kind: String, Hashable, Sendable {
    /// The child can't be deleted while this field of a parent holds it, unless the parent goes too.
    case restrict
    /// The child goes with its parent, unless another parent or a collection holds it.
    case owned
  }

  /// What the rule says.
  public let kind: Kind
  /// The field that holds the child or the children, by the name under which it is coded; with dots it leads
  /// through objects.
  public let field: String

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - kind: What it says.
  ///   - field: The field, by the name under which it is coded.
  public init(_ kind: Kind, _ field: String) {
    self.kind = kind
    self.field = field
  }

  /// Refuses to delete what a field holds.
  ///
  /// A parent that goes too refuses nothing: another slot of it, without a rule, requires the child, or what owns
  /// the parent is deleted. The field itself does not take its parent along.
  ///
  /// - Parameter field: The field, by the name under which it is coded.
  /// - Returns: The rule.
  public static func restrict(_ field: String) -> DeletionRule { DeletionRule(.restrict, field) }

  /// Deletes what a field holds with its parent, unless something else holds it.
  ///
  /// - Parameter field: The field, by the name under which it is coded.
  /// - Returns: The rule.
  public static func owned(_ field: String) -> DeletionRule { DeletionRule(.owned, field) }
}

/// A model type that says what deletes do at its edges.
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
/// A store keeps the rules with the records: they hold in every process, also where nobody knows the type. They
/// are taken over by the first write of the type in a process that has others.
public protocol DeletionRuled {
  /// The rules, at most one for a field.
  static var deletionRules: [DeletionRule] { get }
}
